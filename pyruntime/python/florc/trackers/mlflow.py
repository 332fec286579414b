"""MLflow. Stores in files and in SQLite are in a replay's view; one on a server gets nothing from a replay: a store in the
replay's own folder stands in for it. A finished run takes metrics of earlier steps, so values go to the recorded run itself."""

from __future__ import annotations

import os
import sys
import tempfile
import uuid
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

from . import mlflow_server
from .hooks import argument, missing, not_sent, number, shown, whole
from .point import Sent
from .watch import Watch, put

_NO_STEP = -(1 << 62)
"""Stands for a step that was not given: MLflow makes 0 of that before its client is called."""
_MOST = 1000
"""Metrics that a batch takes."""
_UNSENT = ("log_param", "set_tag", "delete_tag", "log_image", "log_table", "log_inputs", "log_outputs")
_OF_MODELS = ("create_logged_model", "log_model_params", "log_model_artifact", "log_model_artifacts")
_LARGEST = 16 << 20
"""Bytes of the files of a call that are kept until the verdict is known."""
_STORES = ("mlflow.store.tracking.sqlalchemy_store", "mlflow.store.tracking.file_store")


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear what a module of MLflow defines."""
    if module.__name__ == "mlflow.tracking.client":
        _adapt_client(module.MlflowClient, watch)
    elif module.__name__ != "mlflow.tracking.fluent":
        mlflow_server.adapt(module, watch)
    elif watch.replays:
        for name, at in (("log_metric", 2), ("log_metrics", 1)):
            put(module, name, _without_step(watch, at))


def _adapt_client(kind: type, watch: Watch) -> None:
    def create(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if watch.is_added():
            return original(self, *args, **kwargs)
        known = watch.expected("mlflow")
        if known.get("named") and len(args) < 4:  # the store draws a name for a run without one
            kwargs["run_name"] = known["named"]
        with _drawn(known.get("run")):
            run = original(self, *args, **kwargs)
        own = {"experiment": run.info.experiment_id, "named": run.info.run_name}
        watch.began("mlflow", run=run.info.run_id, uri=self.tracking_uri, folder=os.getcwd(), **own)
        return run

    def run_of(self: Any, run: Any) -> dict[str, Any]:
        return {"run": str(run), "uri": self.tracking_uri, "folder": os.getcwd()}

    def metric(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.is_added():
            return original(self, *args, **kwargs)
        run, name = argument(args, kwargs, 0, "run_id"), argument(args, kwargs, 1, "key")
        value, step = argument(args, kwargs, 2, "value"), argument(args, kwargs, 4, "step")
        watch.take("mlflow", run_of(self, run), str(name), number(value), None if step == _NO_STEP else whole(step))
        return None

    def batch(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.is_added():
            return original(self, *args, **kwargs)
        run = argument(args, kwargs, 0, "run_id")
        for each in argument(args, kwargs, 1, "metrics") or ():
            step = None if each.step == _NO_STEP else whole(each.step)
            watch.take("mlflow", run_of(self, run), each.key, number(each.value), step)
        if argument(args, kwargs, 2, "params") or argument(args, kwargs, 3, "tags"):
            watch.unsent("MLflow's parameters and tags")
        return None

    def files(is_of_folder: bool) -> Any:
        def around(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
            if not watch.is_added():
                return original(self, *args, **kwargs)
            path, below = argument(args, kwargs, 1, "local_path", "local_dir"), argument(args, kwargs, 2, "artifact_path") or ""
            found = _read(str(path), "" if is_of_folder else os.path.basename(os.path.normpath(path)))
            if found is None:
                watch.unsent(f"an artifact larger than {_LARGEST >> 20} MiB ({os.path.basename(path)})")
            for name, data in (found or {}).items():
                run = run_of(self, argument(args, kwargs, 0, "run_id"))
                watch.take("mlflow", run, os.path.join(below, name), None, 0, b64encode(data).decode())
            return None

        return around

    def model(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if watch.is_added():
            watch.unsent("models to MLflow")
        return original(self, *args, **kwargs)  # which the view or the store in the replay's folder holds back

    put(kind, "create_run", create)
    if watch.replays:
        put(kind, "log_metric", metric)
        put(kind, "log_batch", batch)
        put(kind, "log_artifact", files(False))
        put(kind, "log_artifacts", files(True))
        for name in _UNSENT:
            put(kind, name, not_sent(watch, f"MlflowClient.{name}"))
        for name in _OF_MODELS:
            put(kind, name, model)


def _read(path: str, name: str) -> dict[str, bytes] | None:
    """A file, or the files of a folder, by their names below `name`; None where they are too large. Raises OSError."""
    if not os.path.isdir(path):
        every = {name: path}
    else:
        inside = [os.path.join(folder, file) for folder, _, files in os.walk(path) for file in files]
        every = {os.path.join(name, os.path.relpath(file, path)): file for file in inside}
    if sum(os.path.getsize(file) for file in every.values()) > _LARGEST:
        return None
    found = {}
    for name, file in every.items():
        with open(file, "rb") as opened:
            found[name] = opened.read()
    return found


def _without_step(watch: Watch, at: int) -> Any:
    def around(original: Any, *args: Any, **kwargs: Any) -> Any:
        if watch.is_added() and argument(args, kwargs, at, "step") is None:
            args, kwargs = args[:at], {**kwargs, "step": _NO_STEP}
        return original(*args, **kwargs)

    return around


@contextmanager
def _drawn(run: str | None) -> Iterator[None]:
    """While a store makes a run: it gets the recorded id. MLflow's stores draw it with `uuid.uuid4`."""
    changed = []
    if run:
        given = [uuid.UUID(hex=run)]

        def uuid4() -> uuid.UUID:
            return given.pop() if given else uuid.uuid4()

        for name in _STORES:
            store = sys.modules.get(name)
            if store is not None and getattr(store, "uuid", None) is uuid:
                store.uuid = SimpleNamespace(**{**vars(uuid), "uuid4": uuid4})  # type: ignore[attr-defined]  # what it imported itself
                changed.append(store)
    try:
        yield
    finally:
        for store in changed:
            store.uuid = uuid  # type: ignore[attr-defined]  # as it was before


def send(run: dict[str, Any], points: Sequence[Sent]) -> int:
    """Add metrics to a run, with the time at which the recorded run was there, in ms. A point that the run has is left out; where
    it has another value at a step, the whole name gets a number (`norm.2`), as MLflow takes nothing back. An artifact takes the
    place of the one of its name. Returns how many points are new. Raises what MLflow raises."""
    from mlflow.entities import Metric
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=run["uri"])
    numbers = [point for point in points if not point.data]
    new = [
        Metric(key, point.value or 0.0, int(point.at * 1000), point.step)
        for key, point in missing(numbers, lambda key: _history(client, run["run"], key))
    ]
    for at in range(0, len(new), _MOST):
        client.log_batch(run["run"], metrics=new[at : at + _MOST])
    return len(new) + _send_artifacts(client, run["run"], [point for point in points if point.data])


def _send_artifacts(client: Any, run: str, points: Sequence[Sent]) -> int:
    new = 0
    for name, data in {point.name: point.data for point in points}.items():  # of several, the last
        folder = os.path.dirname(name)
        with tempfile.TemporaryDirectory() as made:
            if any(found.path == name for found in client.list_artifacts(run, folder)):
                with open(client.download_artifacts(run, name, made), "rb") as file:
                    if file.read() == b64decode(data):
                        continue
            path = os.path.join(made, os.path.basename(name))
            with open(path, "wb") as out:
                out.write(b64decode(data))
            client.log_artifact(run, path, folder)
            new += sum(point.name == name for point in points)
    return new


def _history(client: Any, run: str, name: str) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for metric in client.get_metric_history(run, name):
        found.setdefault(metric.step, []).append(shown(float(metric.value)))
    return found
