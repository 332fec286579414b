"""Weights & Biases. Its own process writes and sends what a run logs, so a replay's view does not hold it back: on replay a run
begins offline, in the replay's own folder, with the recorded id. A run takes no earlier steps, so values go to a run beside the
recorded one, `ID-hindsight`, which is offline, too: `wandb sync` sends it."""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .hooks import not_sent, number, take_all
from .known import EXACT, UNVERIFIED
from .point import Sent
from .watch import Watch, put

_PLACES = ("entity", "project", "dir", "id", "name")
"""The first parameters of `wandb.init`."""
_OF_RESUMING = ("resume", "resume_from", "fork_from")
_UNSENT = (
    "log_artifact",
    "upsert_artifact",
    "finish_artifact",
    "link_artifact",
    "log_model",
    "link_model",
    "log_code",
    "save",
    "alert",
    "define_metric",
)
_OF_CONFIG = ("__setitem__", "__setattr__", "update", "setdefault")
_SUMMARY = "summary"
"""Stands in a point for its step: the value is one of the whole run."""


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear what a module of wandb defines."""
    if module.__name__.endswith("wandb_init"):
        put(module, "init", _init(watch))
    elif not watch.replays:
        return
    elif module.__name__.endswith("wandb_login"):
        put(module, "login", lambda original, *args, **kwargs: True)
    elif module.__name__.endswith("wandb_summary"):
        put(module.Summary, "_update", _summary(watch))
    elif module.__name__.endswith("wandb_config"):
        for name in _OF_CONFIG:
            put(module.Config, name, not_sent(watch, "wandb's config"))
    else:
        put(module.Run, "log", _log(watch))
        for name in _UNSENT:
            put(module.Run, name, not_sent(watch, f"wandb's {name}"))


def _init(watch: Watch) -> Any:
    def around(original: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.replays:
            run = original(*args, **kwargs)
        else:
            kwargs = {**dict(zip(_PLACES, args)), **kwargs}
            args = args[len(_PLACES) :]
            known = {} if watch.is_added() else watch.expected("wandb")
            is_off = (kwargs.get("mode") or os.environ.get("WANDB_MODE")) == "disabled"
            kwargs = {name: value for name, value in kwargs.items() if name not in _OF_RESUMING}
            kwargs.update(dir=watch.folder("wandb"), mode="disabled" if is_off else "offline")
            kwargs.update({"id": known["run"], "name": known["name"]} if known else {})
            with _offline(kwargs["mode"]):
                run = original(*args, **kwargs)
        if not watch.is_added() and not getattr(run, "disabled", False):
            watch.began(
                "wandb", run=run.id, project=run.project, entity=run.entity, name=run.name, folder=os.path.abspath(run.sync_dir)
            )
        return run

    return around


@contextmanager
def _offline(mode: str) -> Iterator[None]:
    """While wandb's own process starts: it reads the mode from its environment, too, and sends figures about itself."""
    kept = os.environ.get("WANDB_MODE")
    os.environ["WANDB_MODE"] = mode
    try:
        yield
    finally:
        os.environ.pop("WANDB_MODE")
        if kept is not None:
            os.environ["WANDB_MODE"] = kept


def _log(watch: Watch) -> Any:
    def around(original: Any, self: Any, data: Any, step: Any = None, *args: Any, **kwargs: Any) -> None:
        if not watch.is_added():
            original(self, data, step, *args, **kwargs)
            return
        take_all(watch, "wandb", {"run": self.id}, data, step, "wandb.log")

    return around


def _summary(watch: Watch) -> Any:
    def around(original: Any, self: Any, record: Any) -> None:
        if not watch.is_added():
            original(self, record)
            return
        run = getattr(getattr(self, "_update_callback", None), "__self__", None)
        if run is None:  # of a run that is switched off
            return
        for item in record.update:
            name = ".".join(item.key)
            found = number(item.value)
            if found is None:
                watch.unsent(f"wandb's summary of {name}, which is no number")
            else:
                watch.take("wandb", {"run": run.id}, name, found, 0, _SUMMARY)
        if record.remove:
            watch.unsent("the removal from wandb's summary")

    return around


def send(run: dict[str, Any], points: Sequence[Sent]) -> int:
    """Write values, those of earlier replays with them, into the offline run beside a run. `run` has its entry in the journal,
    and `kept`, a file of florc's with the values that it holds. The folder of an earlier one is replaced; one that was synced
    stays, and a new run beside it (`ID-hindsight-2`) holds all. Returns how many are new. Raises OSError, and what wandb
    raises."""
    import wandb

    held: list[Sent] = []
    if os.path.exists(run["kept"]):
        with open(run["kept"], encoding="utf-8") as file:
            held = [Sent(*point) for point in json.load(file)]
    asked = {(point.name, point.step, point.data) for point in points}
    before = {(*point[:3], point.data) for point in held}
    new = sum((*point[:3], point.data) not in before for point in points)
    if not new:
        return 0
    whole = sorted(
        [*(point for point in held if (point.name, point.step, point.data) not in asked), *points], key=lambda point: point.step
    )
    root = os.path.dirname(os.path.dirname(run["folder"]))
    name = _free(os.path.join(root, "wandb"), f"{run['run']}-hindsight")
    links = {path: os.readlink(path) for path in glob.glob(os.path.join(glob.escape(root), "wandb", "*")) if os.path.islink(path)}
    beside = wandb.init(
        project=run["project"],
        entity=run["entity"] or None,
        id=name,
        name=f"{run['name'] or run['run']} hindsight",
        job_type="hindsight",
        dir=root,
        mode="offline",
        config={"hindsight_of": run["run"]},
        settings=wandb.Settings(console="off", x_disable_stats=True, x_disable_meta=True, disable_git=True, disable_code=True),
    )
    for prefix in (EXACT, UNVERIFIED):
        beside.define_metric(f"{prefix}step", hidden=True)
        beside.define_metric(f"{prefix}*", step_metric=f"{prefix}step")
    for point in whole:
        if point.data == _SUMMARY:
            continue
        prefix = UNVERIFIED if point.name.startswith(UNVERIFIED) else EXACT
        beside.log({point.name: point.value, f"{prefix}step": point.step, "_timestamp": point.at})
    for point in whole:
        if point.data == _SUMMARY:
            beside.summary[point.name] = point.value
    beside.finish()
    for path, leads_to in links.items():  # `latest-run` stays the user's own
        if os.path.islink(path) and os.readlink(path) != leads_to:
            os.remove(path)
            os.symlink(leads_to, path)
    os.makedirs(os.path.dirname(run["kept"]), mode=0o700, exist_ok=True)
    with open(f"{run['kept']}.part", "w", encoding="utf-8") as out:
        json.dump(whole, out)
    os.replace(f"{run['kept']}.part", run["kept"])
    return new


def _free(folder: str, name: str) -> str:
    """The name for the run: earlier folders of it are removed, but those that were synced."""
    count = 1
    while True:
        full = name if count == 1 else f"{name}-{count}"
        found = glob.glob(os.path.join(glob.escape(folder), f"offline-run-*-{glob.escape(full)}"))
        if not any(glob.glob(os.path.join(glob.escape(path), "*.synced")) for path in found):
            for path in found:
                shutil.rmtree(path, ignore_errors=True)
            return full
        count += 1
