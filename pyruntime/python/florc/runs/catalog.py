"""The runs of a store: list them, find one, remove one."""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import Any

from .. import _native
from ..project.script import Unusable
from ..support.console import count, duration, plain, size
from . import described
from .run import SEALED, Run, of_another_run


def all_runs(store: str) -> list[Run]:
    """Every run of a store, oldest first. A folder without a readable `run.json` is passed over."""
    runs = [_described(store, run_id, info) for run_id, _, info, _ in _listed(store) if info is not None]
    return sorted(runs, key=lambda run: (run.info["started"], run.id))


def damaged(store: str) -> list[tuple[str, str]]:
    """The `run.json` files that are passed over, and why."""
    return [(path, why) for _, path, info, why in _listed(store) if info is None]


def undescribed(store: str, wanted: str) -> Run | None:
    """The run whose folder has this name and no readable `run.json` (the disk was full when it began), to be removed."""
    for run_id, path, info, _ in _listed(store):
        if info is None and run_id == os.path.basename(wanted.rstrip("/")) and not os.path.islink(os.path.dirname(path)):
            return Run(store, run_id, {"status": "running"})
    return None


def _listed(store: str) -> list[tuple[str, str, dict[str, Any] | None, str]]:
    """For each folder of a run: its name, its `run.json`, what that holds, or why it cannot be read."""
    found = []
    with contextlib.suppress(OSError):
        for run_id in sorted(os.listdir(os.path.join(store, "runs"))):
            folder = os.path.join(store, "runs", run_id)
            if run_id.startswith(".") or not os.path.isdir(folder):  # a run that is being removed begins with a dot
                continue
            path = os.path.join(folder, "run.json")
            info, why = (None, "its folder is a link") if os.path.islink(folder) else described.read(path)
            found.append((run_id, path, info, why))
    return found


def of_rank(run: Run, rank: int) -> Run:
    """What one of several ranks recorded of a run. Raises Unusable where that cannot be read."""
    if rank == run.rank:
        return run
    path = Run(run.store, run.id, {}, rank=rank).own("run.json")
    info, why = described.read(path)
    if info is None:
        raise Unusable("F205", f"{path} is damaged: {why}; without it, the {run.ranks} ranks cannot be replayed")
    found = _described(run.store, run.id, info, rank)
    return found if run.moved is None else Run(found.store, found.id, found.info, run.moved, rank)


def _described(store: str, run_id: str, info: dict[str, Any], rank: int = 0) -> Run:
    """A run as the first record of its journal describes it; where there is none of it, as `run.json` does."""
    run = Run(store, run_id, info, rank=rank)
    with contextlib.suppress(_native.StoreError, ValueError):  # said when the run is opened
        reader = _native.RunReader(store, run_id, rank)
        first = reader.first() if reader.version >= SEALED else None
        if first is not None:
            head = json.loads(first[1])
            run.unclear = of_another_run(run, first[0], head)
            if not run.unclear:
                run.info, run.disagreeing = described.agreed(info, head)
    return run


SHORTEST = 4
"""Characters of an id that name a run, as git has it: the 2 of `--last 2 train.py` is none."""


def find(store: str, wanted: str | None, script: str | None) -> Run:
    """The run that `wanted` names (None: the newest of the script). Raises Unusable with what there is."""
    every = runs = [run.located(script) for run in all_runs(store)]
    lost = "".join(f"\n  {path} is damaged: {why}" for path, why in damaged(store))
    if not runs:
        raise Unusable("F201", f"there are no recorded runs in {store}; record one first: florc record {_shown(script)}{lost}")
    if script is not None:
        of_script = [run for run in runs if is_of(run, script)]
        if not of_script and wanted is None:
            raise Unusable(
                "F201",
                f"no recorded run of {_shown(script)} in {store} {others(runs)}; if it is one of these under "
                f"another name: florc replay {runs[-1].id} {_shown(script)}{lost}",
            )
        runs = of_script or runs
    if wanted is None or wanted == "latest":
        return runs[-1]
    if wanted.startswith("latest~") and wanted[7:].isdigit() and int(wanted[7:]) < len(runs):
        return runs[-1 - int(wanted[7:])]
    by_id = os.path.basename(wanted.rstrip("/"))
    matches = _matching(runs, wanted)
    if not matches:
        raise Unusable("F201", _not_there(store, wanted, script, _matching(every, wanted), len(runs)) + lost)
    exact = [run for run in matches if run.id == by_id]
    if len(matches) > 1 and not exact and not all(run.info.get("name") == wanted for run in matches):
        raise Unusable("F202", f"{wanted} may be {', '.join(run.id for run in matches)}; give more of the id")
    return (exact or matches)[-1]


def is_script(word: str) -> bool:
    """Whether a word of a command line names a script, not a run."""
    return word.endswith((".py", ".ipynb")) or os.path.isfile(word)


def is_place(word: str) -> bool:
    """Whether a word can be nothing but a run, whether there is one or not: `latest~9`."""
    return word.startswith("latest~") and word[7:].isdigit()


def named(store: str, word: str | None) -> Run:
    """The run that a word names: an id, a name, `latest`, its script; None: the newest. Raises Unusable with what there is."""
    return find(store, None, word) if word is not None and is_script(word) else find(store, word, None)


def _matching(runs: list[Run], wanted: str) -> list[Run]:
    by_id = os.path.basename(wanted.rstrip("/"))
    return [run for run in runs if len(by_id) >= SHORTEST and run.id.startswith(by_id) or run.info.get("name") == wanted]


def _not_there(store: str, wanted: str, script: str | None, elsewhere: list[Run], runs: int) -> str:
    if not elsewhere:
        known = f": there {'is' if runs == 1 else 'are'} {count(runs, 'run')}" if is_place(wanted) else ""
        return f"no run {wanted} in {store}{known}; `florc runs` lists them"
    run = elsewhere[-1]
    there = os.path.relpath(run.info["script"])
    return f"{run.id} is a run of {there}, not of {_shown(script)}: florc replay {wanted} {there}"


def others(runs: list[Run]) -> str:
    """Which scripts a store holds runs of, in brackets."""
    return f"(there are runs of {', '.join(sorted({os.path.relpath(run.info['script']) for run in runs}))})"


def is_of(run: Run, script: str) -> bool:
    """Whether a run is one of this script."""
    recorded: str = run.info["script"]
    return os.path.realpath(recorded) == os.path.realpath(script)


def _shown(script: str | None) -> str:
    return os.path.relpath(script) if script else "train.py"


def line(run: Run) -> str:
    """A run in one line, for `florc runs`; nothing in it moves the cursor."""
    report = run.info.get("report", {})
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.info["started"]))
    script = os.path.basename(run.info["script"])
    arguments = " ".join(run.info["argv"][1:]) + (f"  ({run.ranks} ranks)" if run.ranks > 1 else "")
    seconds = duration(report["seconds"]) if "seconds" in report else ""
    kept = ""
    if {"checkpoints", "bytes"} <= set(report):
        kept = f"{count(report['checkpoints'], 'checkpoint')}, {size(report['bytes'])}"
    return plain(f"{run.id:24}  {started}  {run.status:11}  {seconds:>12}  {kept:28}  {script} {arguments}".rstrip(), "")
