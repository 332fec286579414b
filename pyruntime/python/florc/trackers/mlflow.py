"""MLflow. Stores in files and in SQLite are in a replay's view; one on a server gets nothing from a replay: a store in the
replay's own folder stands in for it. A finished run takes metrics of earlier steps, so values go to the recorded run itself."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

from .hooks import argument, missing, not_sent, number, shown, whole
from .point import Sent
from .watch import Watch, put

_NO_STEP = -(1 << 62)
"""Stands for a step that was not given: MLflow makes 0 of that before its client is called."""
_OF_FILES = ("", "file", "sqlite")
_MOST = 1000
"""Metrics that a batch takes."""
_UNSENT = (
    "log_param",
    "set_tag",
    "log_artifact",
    "log_artifacts",
    "log_dict",
    "log_figure",
    "log_image",
    "log_table",
    "log_text",
    "log_inputs",
)
_STORES = ("mlflow.store.tracking.sqlalchemy_store", "mlflow.store.tracking.file_store")


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear what a module of MLflow defines."""
    if module.__name__ == "mlflow.tracking.client":
        _adapt_client(module.MlflowClient, watch)
    elif not watch.replays:
        return
    elif module.__name__ == "mlflow.tracking.fluent":
        for name, at in (("log_metric", 2), ("log_metrics", 1)):
            put(module, name, _without_step(watch, at))
    else:
        _adapt_stores(module, watch)


def _adapt_client(kind: type, watch: Watch) -> None:
    def create(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if watch.is_added():
            return original(self, *args, **kwargs)
        known = watch.expected("mlflow")
        with _drawn(known.get("run")):
            run = original(self, *args, **kwargs)
        watch.began("mlflow", run=run.info.run_id, uri=self.tracking_uri, folder=os.getcwd())
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

    put(kind, "create_run", create)
    if watch.replays:
        put(kind, "log_metric", metric)
        put(kind, "log_batch", batch)
        for name in _UNSENT:
            put(kind, name, not_sent(watch, f"MlflowClient.{name}"))


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


def _adapt_stores(module: ModuleType, watch: Watch) -> None:
    """Servers and databases are for the recorded run alone."""
    schemes = getattr(getattr(module, "_tracking_store_registry", None), "_registry", None)
    if not isinstance(schemes, dict):
        return

    def stand_in(store_uri: str | None = None, artifact_uri: str | None = None, **_: Any) -> Any:
        folder = watch.folder("mlflow")
        return module._get_sqlalchemy_store(f"sqlite:///{folder}/mlflow.db", artifact_uri or os.path.join(folder, "artifacts"))

    for scheme in list(schemes):
        if scheme not in _OF_FILES:
            schemes[scheme] = stand_in


def send(run: dict[str, Any], points: Sequence[Sent]) -> int:
    """Add metrics to a run, with the time at which the recorded run was there, in ms. A point that the run has is left out; where
    it has another value at a step, the whole name gets a number (`norm.2`), as MLflow takes nothing back. Returns how many it
    got. Raises what MLflow raises."""
    from mlflow.entities import Metric
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=run["uri"])
    new = [
        Metric(key, point.value or 0.0, int(point.at * 1000), point.step)
        for key, point in missing(points, lambda key: _history(client, run["run"], key))
    ]
    for at in range(0, len(new), _MOST):
        client.log_batch(run["run"], metrics=new[at : at + _MOST])
    return len(new)


def _history(client: Any, run: str, name: str) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for metric in client.get_metric_history(run, name):
        found.setdefault(metric.step, []).append(shown(float(metric.value)))
    return found
