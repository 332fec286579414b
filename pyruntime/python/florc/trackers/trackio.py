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
_REMOTE = ("TRACKIO_SPACE_ID", "TRACKIO_SERVER_URL")
_OF_SPACES = ("space_id", "server_url", "dataset_id", "bucket_id")
_PLACES = ("project", "name", "group", "space_id", "server_url", "dataset_id", "bucket_id")
"""The first parameters of `trackio.init`."""


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear `trackio.init`, and what runs are given."""

    def init(original: Any, *args: Any, **kwargs: Any) -> Any:
        if watch.is_added() and watch.replays:
            watch.unsent("trackio.init")
            return original(*args, **kwargs)
        if not watch.replays:
            return _noted(watch, original(*args, **kwargs))
        known = watch.expected("trackio")
        kwargs = {**dict(zip(_PLACES, args)), **kwargs}
        args = args[len(_PLACES) :]
        kwargs = {name: value for name, value in kwargs.items() if name not in _OF_SPACES}
        if kwargs.get("name") is None and known:
            kwargs["name"] = known["run"]
        with _without_servers():
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
def _without_servers() -> Iterator[None]:
    kept = {name: os.environ.pop(name) for name in _REMOTE if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def send(run: dict[str, Any], points: Sequence[Sent]) -> int:
    """Add values to a run in its database, with the time at which the recorded run was there. A value that the run has at a step
    is left out; another one there gets a number (`norm.2`). Returns how many it got. Raises ValueError, and what Trackio
    raises."""
    from trackio.sqlite_storage import SQLiteStorage

    project, name = run["project"], run["run"]
    records = [record for record in SQLiteStorage.get_run_records(project) if record["name"] == name]
    if not records:
        raise ValueError(f"Trackio has no run {name} in the project {project}")
    run_id = records[-1].get("id")
    known: dict[str, dict[int, list[str]]] = {}
    for entry in SQLiteStorage.get_logs(project, name, run_id=run_id):
        for key, value in entry.items():
            known.setdefault(key, {}).setdefault(entry["step"], []).append(repr(value))
    new = missing(points, lambda key: known.get(key, {}))
    new.sort(key=lambda found: found[1].step)
    times = [datetime.fromtimestamp(point.at, timezone.utc).isoformat() for _, point in new]
    values, steps = [{key: point.value} for key, point in new], [point.step for _, point in new]
    SQLiteStorage.bulk_log(project, name, values, steps=steps, timestamps=times, run_id=run_id)
    return len(new)
