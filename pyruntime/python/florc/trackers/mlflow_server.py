"""Servers of MLflow, which get nothing from a replay: a SQLite store in the replay's own folder stands in for one, with the
experiments that the recorded run met there, and without their runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

from .watch import Watch, put

_OF_FILES = ("", "file", "sqlite")


def adapt(module: ModuleType, watch: Watch) -> None:
    """While recording, hear of experiments; on replay, put the stores that stand in where a module chooses one."""
    if module.__name__ == "mlflow.tracking._tracking_service.client":
        if watch.replays:
            put(module.TrackingServiceClient, "_log_url", _log_url(module))
        else:
            _hear_experiments(module.TrackingServiceClient, watch)
    elif not watch.replays:
        return
    elif module.__name__ == "mlflow.tracking._model_registry.utils":
        put(module, "_get_store_registry", _registry(module, watch))
    else:
        _adapt_stores(module, watch)


def _hear_experiments(kind: type, watch: Watch) -> None:
    """Their numbers and names."""

    def found(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        experiment = original(self, *args, **kwargs)
        if experiment is not None:
            watch.began("mlflow", experiment=experiment.experiment_id, called=experiment.name)
        return experiment

    def made(original: Any, self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        number = original(self, name, *args, **kwargs)
        watch.began("mlflow", experiment=number, called=name)
        return number

    for name in ("get_experiment", "get_experiment_by_name"):
        put(kind, name, found)
    put(kind, "create_experiment", made)


def _adapt_stores(module: ModuleType, watch: Watch) -> None:
    schemes = getattr(getattr(module, "_tracking_store_registry", None), "_registry", None)
    if not isinstance(schemes, dict):
        return

    def stand_in(store_uri: str | None = None, artifact_uri: str | None = None, **_: Any) -> Any:
        folder = watch.folder("mlflow")
        artifacts = artifact_uri or os.path.join(folder, "artifacts")
        store = module._get_sqlalchemy_store(f"sqlite:///{folder}/mlflow.db", artifacts)
        store.get_host_creds = partial(module.get_default_host_creds, store_uri)  # for the address that MLflow prints
        _add_experiments(store, watch, artifacts)
        return store

    for scheme in list(schemes):
        if scheme not in _OF_FILES:
            schemes[scheme] = stand_in


def _add_experiments(store: Any, watch: Watch, artifacts: str) -> None:
    from mlflow.store.tracking.dbmodels.models import SqlExperiment

    noted = {str(found["experiment"]): found.get("called") for found in watch.noted("mlflow", "experiment")}
    noted.update({str(found["experiment"]): found["called"] for found in watch.noted("mlflow", "called")})
    table = SqlExperiment.__table__
    with store.engine.begin() as connection:
        there = connection.execute(table.select()).all()
        numbers, names = {str(found.experiment_id) for found in there}, {found.name for found in there}
        for number, called in noted.items():
            if number not in numbers and number.isdigit() and called not in names:
                own = {"experiment_id": int(number), "name": called or number, "artifact_location": f"{artifacts}/{number}"}
                connection.execute(table.insert().values(**own, lifecycle_stage="active"))


def _log_url(module: ModuleType) -> Any:
    """MLflow prints where a run is, if its store is a server."""

    def around(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(self.store, "get_host_creds"):
            return original(self, *args, **kwargs)
        with _as_server(module):
            return original(self, *args, **kwargs)

    return around


@contextmanager
def _as_server(module: ModuleType) -> Iterator[None]:
    kept = module.RestStore
    module.RestStore = object  # type: ignore[attr-defined]  # what it imported itself
    try:
        yield
    finally:
        module.RestStore = kept  # type: ignore[attr-defined]  # as it was before


def _registry(module: ModuleType, watch: Watch) -> Any:
    """The registry of models, which is made when it is asked for first."""

    def stand_in(*_: Any, **__: Any) -> Any:
        return module._get_sqlalchemy_store(f"sqlite:///{watch.folder('mlflow')}/mlflow.db")

    def around(original: Any) -> Any:
        found = original()
        for scheme in list(found._registry):
            if scheme not in _OF_FILES:
                found._registry[scheme] = stand_in
        return found

    return around
