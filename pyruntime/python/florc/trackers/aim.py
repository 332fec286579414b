"""Aim. Its store is RocksDB, written by native code, so a replay's view does not hold it back: on replay a repository in the
replay's own folder stands in for each, for those of servers, too, and a run begins there with the recorded hash. A run takes
values of any step after its end, so they go to the recorded run itself."""

from __future__ import annotations

import glob
import json
import os
import shutil
import zlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from .hooks import argument, flat, missing, not_sent, number, shown, whole
from .point import Sent
from .watch import Watch, put

_UNSENT = {
    "__setitem__": "run[…] = …",
    "set": "Run.set",
    "log_artifact": "Run.log_artifact",
    "log_artifacts": "Run.log_artifacts",
    "_log_message": "Run.log_info",
}
"""Methods of `BasicRun` beside `track`, as they are told of."""


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear what a module of Aim defines."""
    if module.__name__ == "aim.sdk.base_run":
        put(module.BaseRun, "__init__", _begin(module, watch))
    elif module.__name__ == "aim.sdk.repo":
        put(module.Repo, "__init__", _open(module, watch))
    elif watch.replays:
        put(module.BasicRun, "track", _track(watch))
        for name, said in _UNSENT.items():
            put(module.BasicRun, name, not_sent(watch, f"Aim's {said}"))
        for name in ("add_tag", "remove_tag"):
            put(module.StructuredRunMixin, name, not_sent(watch, f"Aim's Run.{name}"))


def _open(module: ModuleType, watch: Watch) -> Any:
    """A repository that is made or brought up to date configures `logging` anew, so a replay's is made where the record's was."""

    def around(original: Any, self: Any, path: str, *args: Any, **kwargs: Any) -> None:
        if not watch.replays:
            status = module.Repo.check_repo_status(path)
            original(self, path, *args, **kwargs)
            is_made = bool(kwargs.get("init")) or status != module.RepoStatus.UPDATED
            watch.began("aim", opened=path, made=is_made)
            return
        known = watch.expected("aim", "opened")
        stand_in = watch.folder(os.path.join("aim", f"{zlib.crc32(path.encode()):08x}"))
        is_new = not os.path.exists(os.path.join(stand_in, module.get_aim_repo_name()))
        is_made = is_new and (bool(known.get("made", kwargs.get("init"))) or not _copied(module, path, stand_in))
        original(self, stand_in, init=is_made)

    return around


def _copied(module: ModuleType, path: str, stand_in: str) -> bool:
    """Make a repository of the version and the table of runs of another, without values. Returns False where there is none."""
    own = os.path.join(path, module.get_aim_repo_name())
    if not os.path.exists(os.path.join(own, "VERSION")):
        return False
    made = os.path.join(stand_in, module.get_aim_repo_name())
    os.makedirs(os.path.join(made, "locks"))
    for file in [os.path.join(own, "VERSION"), *glob.glob(os.path.join(glob.escape(own), "run_metadata.sqlite*"))]:
        shutil.copyfile(file, os.path.join(made, os.path.basename(file)))
    module.RocksContainer(os.path.join(made, "meta", "index"), read_only=False)
    return True


def _begin(module: ModuleType, watch: Watch) -> Any:
    def around(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs = {**dict(zip(("run_hash", "repo", "read_only", "force_resume"), args)), **kwargs}
        is_of_script = not kwargs.get("read_only") and not watch.is_added()
        if watch.replays and is_of_script:
            _begin_again(module, watch, original, self, kwargs)
        else:
            original(self, **kwargs)
        if is_of_script:
            path = self.repo.root_path
            where = {"uri": f"aim://{path}"} if self.repo.is_remote_repo else {"folder": os.path.abspath(path)}
            watch.began("aim", run=self.hash, **where)

    return around


def _begin_again(module: ModuleType, watch: Watch, original: Any, run: Any, given: dict[str, Any]) -> None:
    """With the recorded hash, also for a run that the script goes on with: the repository that stands in does not have it."""
    drawn = given.get("run_hash") or watch.expected("aim").get("run")
    own = module.generate_run_hash
    if drawn:
        module.generate_run_hash = lambda *_, **__: drawn  # type: ignore[attr-defined]  # what it imported itself
    try:
        original(run, **{**given, "run_hash": None})
    finally:
        module.generate_run_hash = own  # type: ignore[attr-defined]  # as it was before


def _track(watch: Watch) -> Any:
    def around(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.is_added():
            return original(self, *args, **kwargs)
        value, name = argument(args, kwargs, 0, "value"), argument(args, kwargs, 1, "name")
        step, context = whole(argument(args, kwargs, 2, "step")), kwargs.get("context")
        data = json.dumps(context, sort_keys=True, default=str) if context else ""
        for own, given in flat(value) if isinstance(value, dict) else [(str(name), value)]:
            found = number(given)
            if found is None:
                watch.unsent(f"Aim's track of {own}, which is no number")
            else:
                watch.take("aim", {"run": self.hash}, own, found, step, data)
        return None

    return around


def send(run: dict[str, Any], points: Sequence[Sent]) -> int:
    """Track values in a run, each in its context (`Sent.data`), with the time at which the recorded run was there. A value that
    the run has at a step is left out; another one there gets a number (`norm.2`). Nothing else of the run changes: to open it as
    `aim.Run` does would give it another end. Returns how many it got. Raises ValueError, and what Aim raises."""
    from aim.sdk.base_run import BaseRun
    from aim.sdk.repo import Repo
    from aim.sdk.tracker import RunTracker
    from aim.storage.context import Context

    recorded: Any = type("Recorded", (BaseRun,), {})  # without what `aim.Run` notes of its beginning and end
    repo = Repo.from_path(run.get("uri") or run["folder"])
    if not repo.run_exists(run["run"]):
        raise ValueError(f"Aim has no run {run['run']} in {repo.path}")
    new = []
    for data in dict.fromkeys(point.data for point in points):
        context = json.loads(data) if data else {}
        known = _known(repo, run["run"], Context(context).idx)
        new += [(key, point, context) for key, point in missing([point for point in points if point.data == data], known)]
    if new:
        opened = recorded(run["run"], repo=repo)
        try:
            track = RunTracker(opened)._track
            for key, point, context in sorted(new, key=lambda found: found[1].step):
                track(point.value, point.at, key, point.step, context=context)
        finally:
            opened._lock.release()
    return len(new)


def _known(repo: Any, run: str, context: int) -> Callable[[str], dict[int, list[str]]]:
    """What a run has of a name in a context, by step. It is opened for reading, which changes no file."""
    about = repo.request_tree("meta", run, read_only=True).subtree("meta").subtree("chunks").subtree(run)
    series = repo.request_tree("seqs", run, read_only=True).subtree("seqs").subtree(("v2", "chunks", run))

    def found(name: str) -> dict[int, list[str]]:
        try:
            about["traces", context, name, "version"]
        except KeyError:
            return {}
        tree = series.subtree((context, name))
        steps, values = dict(tree.array("step", dtype="int64").items()), dict(tree.array("val").items())
        return {int(step): [shown(float(values[key]))] for key, step in steps.items()}

    return found
