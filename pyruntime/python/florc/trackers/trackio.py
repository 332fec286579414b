"""Trackio. What a script logs on its machine is in a database below `TRACKIO_DIR`, which is in a replay's view; a Space or a
server gets nothing from a replay. A run takes values of any step, so they go to the recorded run itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from types import ModuleType
from typing import Any

from .hooks import missing, not_sent, take_all
from .point import Sent
from .watch import Watch, put, writes

_WRITERS = ("_write_logs_to_sqlite", "_write_system_logs_to_sqlite", "_write_alerts_to_sqlite", "_write_records_to_local_inbox")
"""Methods of `trackio.Run`, for the most part called in a thread, which writes when it comes to it: in a block, or after it."""
_SPACES, _SERVERS = ("TRACKIO_SPACE_ID",), ("TRACKIO_SERVER_URL",)
_OF_SPACES = ("space_id", "dataset_id", "bucket_id")
_PLACES = ("project", "name", "group", "space_id", "server_url", "dataset_id", "bucket_id")
"""The first parameters of `trackio.init`."""


_ALL = 1 << 40
"""More points than a run has: a server thins out what it answers."""


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear `trackio.init`, and what runs are given."""
    if module.__name__ == "trackio.remote_client":
        if watch.replays:
            _adapt_client(module.RemoteClient)
        return

    def init(original: Any, *args: Any, **kwargs: Any) -> Any:
        if watch.is_added() and watch.replays:
            watch.unsent("trackio.init")
            return original(*args, **kwargs)
        if not watch.replays:
            return _noted(watch, original(*args, **kwargs))
        known = watch.expected("trackio")
        kwargs = {**dict(zip(_PLACES, args)), **kwargs}
        args = args[len(_PLACES) :]
        if kwargs.get("name") is None and known:
            kwargs["name"] = known["run"]
        with _without_spaces(kwargs):
            run = original(kwargs.pop("project"), *args, **kwargs)
        return _noted(watch, run)

    def log(original: Any, self: Any, metrics: Any, step: Any = None, **kwargs: Any) -> None:
        if not watch.is_added():
            original(self, metrics, step, **kwargs)
            return
        take_all(watch, "trackio", _found(self), metrics, step, "trackio.log")

    put(module, "init", init)
    if watch.replays:
        put(module.Run, "log", log)
        for name in _WRITERS:
            writes(module.Run, name)
        for name in ("log_system", "log_artifact", "alert"):
            put(module.Run, name, not_sent(watch, f"trackio.{name}"))


def _noted(watch: Watch, run: Any) -> Any:
    watch.began("trackio", **_found(run))
    return run


def _found(run: Any) -> dict[str, Any]:
    from trackio.utils import TRACKIO_DIR

    remote = getattr(run, "_space_id", None) or getattr(run, "_server_base_url", None)
    return {"run": run.name, "project": run.project, "store": os.path.abspath(TRACKIO_DIR), "remote": remote}


@contextmanager
def _without_spaces(given: dict[str, Any]) -> Iterator[None]:
    """While a run begins: one of a Space is one of this machine. One of a server stays what it is: its client sends nothing."""
    kept = {name: os.environ.pop(name) for name in _SPACES if name in os.environ}
    is_of_space = bool(kept) or any(given.pop(name, None) for name in _OF_SPACES)
    if is_of_space:
        given.pop("server_url", None)
        kept.update({name: os.environ.pop(name) for name in _SERVERS if name in os.environ})
    is_tokenless = "TRACKIO_WRITE_TOKEN" not in os.environ
    os.environ.setdefault("TRACKIO_WRITE_TOKEN", "-")
    try:
        yield
    finally:
        os.environ.update(kept)
        if is_tokenless:
            os.environ.pop("TRACKIO_WRITE_TOKEN", None)


def _adapt_client(kind: type) -> None:
    """The client of servers connects to none, and is answered as by one that has no runs."""

    def answer(_: Any, __: Any, *args: Any, api_name: str = "", **kwargs: Any) -> Any:
        return [] if api_name.startswith("/get_") else None

    put(kind, "__init__", lambda *_, **__: None)
    put(kind, "predict", answer)


def send(run: dict[str, Any], points: Sequence[Sent]) -> int:
    """Add values to a run, in the database of this machine or on the server that it was sent to. A value that the run has at a
    step is left out; another one there gets a number (`norm.2`). Returns how many it got. Raises ValueError, and what Trackio
    raises."""
    remote = str(run.get("remote") or "")
    store: Any = _OnServer(remote) if remote.startswith(("http://", "https://")) else _Here()
    project, name = run["project"], run["run"]
    records = [record for record in store.records(project) if record["name"] == name]
    if not records:
        raise ValueError(f"Trackio has no run {name} in the project {project}")
    run_id = records[-1].get("id")
    known: dict[str, dict[int, list[str]]] = {}
    for entry in store.logs(project, name, run_id):
        for key, value in entry.items():
            known.setdefault(key, {}).setdefault(entry["step"], []).append(repr(value))
    new = missing(points, lambda key: known.get(key, {}))
    new.sort(key=lambda found: found[1].step)
    if new:
        store.add(project, name, run_id, new)
    return len(new)


class _Here:
    """The database of this machine. Values get the time at which the recorded run was there."""

    def __init__(self) -> None:
        from trackio.sqlite_storage import SQLiteStorage

        self._storage = SQLiteStorage

    def records(self, project: str) -> list[dict[str, Any]]:
        return list(self._storage.get_run_records(project))

    def logs(self, project: str, run: str, run_id: str | None) -> list[dict[str, Any]]:
        return list(self._storage.get_logs(project, run, run_id=run_id))

    def add(self, project: str, run: str, run_id: str | None, new: list[tuple[str, Sent]]) -> None:
        times = [datetime.fromtimestamp(point.at, timezone.utc).isoformat() for _, point in new]
        values, steps = [{key: point.value} for key, point in new], [point.step for _, point in new]
        self._storage.bulk_log(project, run, values, steps=steps, timestamps=times, run_id=run_id)


class _OnServer:
    """A server that the user runs. Values get the time at which they arrive there. The token that it asks for is that of the
    command's environment."""

    def __init__(self, url: str):
        from trackio.remote_client import RemoteClient
        from trackio.utils import parse_trackio_server_url

        given = os.environ.get("TRACKIO_SERVER_URL")
        token = parse_trackio_server_url(given)[1] if given else None
        self._client = RemoteClient(url, write_token=token or os.environ.get("TRACKIO_WRITE_TOKEN"))

    def records(self, project: str) -> list[dict[str, Any]]:
        return list(self._client.predict(project, api_name="/get_runs_for_project"))

    def logs(self, project: str, run: str, run_id: str | None) -> list[dict[str, Any]]:
        asked = [{"run": run, "run_id": run_id}]
        found = self._client.predict(api_name="/get_logs_batch", project=project, runs=asked, max_points=_ALL)
        return list(found[0]["logs"])

    def add(self, project: str, run: str, run_id: str | None, new: list[tuple[str, Sent]]) -> None:
        of = {"project": project, "run": run, "run_id": run_id}
        logs = [{**of, "metrics": {key: point.value}, "step": point.step} for key, point in new]
        self._client.predict(api_name="/bulk_log", logs=logs, hf_token=None)
