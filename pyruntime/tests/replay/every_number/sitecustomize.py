"""On `sys.path` of a replay: once its answer is found exact, every number of every line that the script printed is changed, one
after the other, and the lines are compared with the record again. None of them may pass for exact.

What a library prints in the form of a time is left out of the comparison (`florc.runs.masks`), and is left out here.
"""

from __future__ import annotations

import os
import random
import re
import sys

MOST = 200
"""So many numbers of one replay are changed, at random."""
NUMBER = re.compile(r"[0-9]+")


def _other(number: str, seed: random.Random) -> str:
    at = seed.randrange(len(number))
    return number[:at] + str((int(number[at]) + seed.randrange(1, 10)) % 10) + number[at + 1 :]


def _sweep(check, replay, seed: random.Random) -> str:
    """The first line that could differ and be called exact; empty where there is none."""
    from florc.replay.report import Report
    from florc.runs import masks

    lines = list(replay.lines)
    places = [(at, found) for at, line in enumerate(lines) for found in NUMBER.finditer(line.text)]
    try:
        for at, found in seed.sample(places, min(MOST, len(places))):
            old = lines[at].text
            new = old[: found.start()] + _other(found.group(), seed) + old[found.end() :]
            replay.lines[:] = [*lines[:at], lines[at]._replace(text=new), *lines[at + 1 :]]
            result = check(replay)
            is_time = result.masked and masks.without_times(new) == masks.without_times(old)
            if Report.of(replay.history, replay.versions, result).verdict == "exact" and not is_time:
                return f"{old!r} could be {new!r}, and be called exact"
    finally:
        replay.lines[:] = lines
    return ""


def _install() -> None:
    from florc.replay import process
    from florc.replay.report import Report

    check = process.check

    def checked(replay, failure=None):
        result = check(replay, failure)
        if Report.of(replay.history, replay.versions, result).verdict == "exact":
            found = _sweep(check, replay, random.Random(result.compared))
            if found:
                os.write(2, f"florc: sweep: {found}\n".encode())
        return result

    process.check = checked


if "replay" in sys.orig_argv and "_FLORC_STARTED" in os.environ:
    _install()
