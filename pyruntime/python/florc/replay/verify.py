"""`florc verify`: re-execute sampled iterations of a recorded run, unchanged, and compare them with the record."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from ..plan.window import Samples
from ..project import script as launch
from ..project.script import Unusable
from ..runs.run import Run
from ..runs.versions import Versions
from ..support.console import answer, count, duration, say
from . import report
from .process import Attempt, ReplayProcess
from .report import ANOMALOUS, Report
from .select import request as selection
from .session.opening import opened, tell_where

if TYPE_CHECKING:
    from ..support.arguments import Verify as Arguments

_MOST = 10


def verify(run: Run, path: str | None, arguments: Arguments) -> launch.Prepared:
    """The samples, ready to run. The process ends with exit code 1 if anything differs from the record."""
    if run.ranks > 1:
        raise Unusable("F106", f"{run.id} has {run.ranks} ranks, and florc verify runs one process: replay it instead")
    tell_where(run, path)
    history = opened(run)
    script = _recorded_script(run)
    samples = selection.sampled(history, arguments["samples"])
    versions = Versions(history, script, as_recorded=True)

    def tell(found: Report, seconds: float, failure: BaseException | None, folder: str) -> int:
        return _tell(found, samples, seconds, failure, arguments["json"], folder)

    attempt = Attempt(run, script, history, versions, set(), arguments["json"], samples, as_recorded=True)
    return ReplayProcess(attempt, tell).prepared()


def _recorded_script(run: Run) -> launch.Script:
    module, path = run.info.get("module"), str(run.info["script"])
    if module:
        sys.path.insert(0, run.info["cwd"])
    return launch.Script(path, run.source(path) or "", run.info["argv"], module)


def _tell(found: Report, samples: Samples, seconds: float, failure: BaseException | None, as_json: bool, folder: str) -> int:
    outcome, run = found.result, found.history.run
    differs = list(outcome.anomalies)
    if outcome.ended:
        differs.append(f"{outcome.ended}: {failure}; its output is in {os.path.join(folder, 'output')}")
    verdict = "differs" if differs else "exact" if outcome.compared else "unverified"
    if as_json:
        answer(
            json.dumps(
                {
                    "run": run.id,
                    "verdict": verdict,
                    "loop": samples.place,
                    "iterations": samples.indices,
                    "blocks": outcome.verified,
                    "lines": outcome.compared - outcome.verified,
                    "differences": differs,
                    "time_of_day": outcome.timed,
                    "seconds": seconds,
                }
            )
            + "\n"
        )
    shown = ", ".join(map(str, samples.indices))
    many = len(samples.indices) != 1
    say(f"iteration{'s' * many} {shown} of {samples.place} ran again in {duration(seconds)}, of {run.id}")
    report.tell_timed(outcome.timed)
    if differs:
        say(f"DIFFERS in {count(len(differs), 'place')}, first in {differs[0]}", always=True, code="F501")
        for difference in differs[1:_MOST]:
            say(f"  {difference}", always=True)
        report.tell_circumstances(found.history)
    elif outcome.compared:
        say(found.exact())
    else:
        say("unverified: the record holds nothing that florc could compare", code="F510")
    return ANOMALOUS if differs else 0
