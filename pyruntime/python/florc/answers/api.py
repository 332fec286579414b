"""florc for Python programs and notebooks: record, replay, and read values as tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..project.script import Unusable
from ..runs import catalog, joint
from ..runs.run import store_path
from . import command, database
from .columns import Table, of_rows
from .rows import Row

_DIFFERS = 1
"""Exit code of `florc replay` where the answer is not to be trusted."""


def logs(*words: str, where: str | None = None, pivot: bool = False) -> Table:
    """The values that a run printed, and those that were asked of it since, without running anything.

    `words`: the run (an id, a name, `latest`, its script; default: the newest of the store) and names of values (default: all).
    `where`: only values for which this holds, in the language of SQLite (`'epoch > 3'`). `pivot`: a row for each iteration, with
    a column for each name. The columns are those of docs/answers.md. Raises florc.Unusable for a run or a name that is not there,
    and florc.StoreError for a damaged store.
    """
    return of_rows(command.logs(list(words), where), pivot)


def query(sql: str) -> Table:
    """The answer to a SELECT over all runs of the store; docs/answers.md has the tables. Raises florc.Unusable."""
    return command.query(sql)


def runs() -> Table:
    """The runs of the store, the oldest first: id, name, script, status, started (seconds since 1970), seconds, checkpoints,
    bytes, ranks. Raises florc.StoreError."""
    found = [joint.seen(run) for run in catalog.all_runs(store_path())]
    return Table(database.RUNS, map(database.of_run, found))


def record(script: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    """Record a script, as `florc record` does, in a process of its own, whose output goes where this one's goes. Returns the id
    of the run.

    `arguments`: those of the script; `options`: those of `florc record` (`"--overhead", "0.05"`). Raises florc.Unusable where
    there is no such script, or nothing was recorded; subprocess.CalledProcessError where the script ends with another exit code
    than 0: the run is recorded all the same.
    """
    if not os.path.exists(script) and not {"-m", "--module"}.intersection(options):
        raise Unusable("F301", f"cannot read {script}: no such file or directory")
    known = {run.id for run in _recorded()}
    done = subprocess.run([sys.executable, "-m", "florc", "record", *options, script, *arguments], check=False)
    found = [run.id for run in _recorded() if run.id not in known]
    if not found:
        raise Unusable("", f"florc recorded nothing of {script}: it ended with exit code {done.returncode}")
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, ["florc", "record", script, *arguments])
    return str(found[-1])


def _recorded() -> list[Any]:
    return catalog.all_runs(store_path()) if os.path.isdir(store_path()) else []


class Answer(Table):
    """Values of a replay. `verdict`: `exact`, `unverified` or `anomalous`; `report`: what florc said of it, line by line."""

    verdict: str
    report: str


def replay(script: str, run: str | None = None, options: tuple[str, ...] = (), pivot: bool = False) -> Answer:
    """Answer the log statements that were added to a script since it was recorded, as `florc replay` does.

    `run`: its newest if None; `options`: those of `florc replay` (`"--iterations", "3:5"`). The columns are those of
    `florc.logs`; the last, `verdict`, is that of each value. Raises florc.Unusable where there is no answer: no such run, or a
    script that cannot be read.
    """
    return _answered("replay", [*options, *([] if run is None else [run]), script], pivot)


def ask(
    script: str,
    at: Mapping[int | str, str] | None = None,
    inside: Mapping[int | str, str] | None = None,
    after_loop: Mapping[str, str] | None = None,
    watch: str | None = None,
    run: str | None = None,
    options: tuple[str, ...] = (),
    pivot: bool = False,
) -> Answer:
    """Ask without editing, as `florc ask` does: `florc.ask("train.py", at={47: "norm.item()"})`.

    `at`, `inside`: by a line, or "engine.py:120", an expression; `after_loop`: by the variable of a loop; `watch`: an expression
    at each step of an optimizer. The rest is as for `florc.replay`. Raises florc.Unusable for what cannot be asked.
    """
    words = [] if watch is None else [f"--watch={watch}"]
    for option, asked in (("--at", at), ("--inside", inside), ("--after-loop", after_loop)):
        for place, expression in (asked or {}).items():
            words += [option, str(place), f" {expression}"]  # `-loss` is no option
    return _answered("ask", [*words, *options, *([] if run is None else [run]), script], pivot)


class Verified(NamedTuple):
    """What `verify` found. `verdict`: `exact`, `unverified` or `anomalous`; `report`: what florc said, line by line."""

    verdict: str
    report: str


def verify(run: str | None = None, options: tuple[str, ...] = ()) -> Verified:
    """Run sampled iterations of a run again, unchanged, as `florc verify` does. `run`: the newest if None. Raises
    florc.Unusable."""
    done = _run("verify", [*options, *([] if run is None else [run])])
    found = json.loads(done.stdout.splitlines()[-1])
    return Verified(found["verdict"], done.stderr)


def show(run: str | None = None) -> dict[str, Any]:
    """One run, as `florc show --json` prints it (docs/answers.md). `run`: the newest if None. Raises florc.Unusable."""
    return dict(json.loads(_run("show", [] if run is None else [run]).stdout))


def diff(*between: str, values: tuple[str, ...] = ()) -> dict[str, Any]:
    """Where two runs part, as `florc diff --json` prints it (docs/answers.md). `between`: the runs, the newest two of a script if
    none is named; `values`: only these. Raises florc.Unusable."""
    return dict(json.loads(_run("diff", [*(f"--value={name}" for name in values), *between]).stdout))


def _run(command: str, words: list[str]) -> subprocess.CompletedProcess[str]:
    command_line = [sys.executable, "-m", "florc", command, "--json", *words]
    done = subprocess.run(command_line, check=False, capture_output=True, text=True)
    if done.returncode not in (0, _DIFFERS) or not done.stdout:
        raise Unusable("", done.stderr.strip() or f"florc {command} ended with exit code {done.returncode}")
    return done


def _answered(command: str, words: list[str], pivot: bool) -> Answer:
    done = _run(command, words)
    *values, end = [json.loads(line) for line in done.stdout.splitlines()]
    found = of_rows([row for entry in values for row in _rows(end["run"], entry)], pivot)
    answer = Answer(found.names, found.rows())
    answer.verdict, answer.report = end["verdict"], done.stderr
    return answer


def _rows(run: str, entry: dict[str, Any]) -> list[Row]:
    """Those of an entry of `--json`."""
    front = (run, entry.get("rank"), entry["file"], entry["line"], entry.get("context", {}), entry.get("occurrence", 0))
    end = (entry["verdict"], entry.get("cell"), entry.get("child"))
    return [Row(*front, name, value, *end) for name, value in entry.get("values", {}).items()]
