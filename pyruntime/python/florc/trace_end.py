"""Where the record of a run ends before the run does: what a replay computes from there on is a value, and no proof stands behind it."""

from __future__ import annotations

from typing import Sequence

from .capture import Value
from .history import History
from .runs import CUT


def described(history: History) -> str:
    """`the record was cut off after epoch=4`."""
    last = history.last_path.split("/")[0]
    place, _, index = last.partition("=")
    loop = history.timeline.loops.get(place)
    if loop is not None and loop.ended:  # the last one that is noted may turn out to be none
        last = f"{place}={min(int(index), loop.count - 1)}"
    what = "is damaged" if history.reader.damaged else "was cut off" if history.run.status in CUT else "ends"
    return f"the record {what} {f'after {history.iteration(last)}' if last else 'before its first iteration'}"


def before(history: History, values: Sequence[Value]) -> int:
    """How many of the values, in their order, were printed before: up to the last one of a loop that the record knows."""
    known = [at for at, value in enumerate(values, 1) if value.path.partition("=")[0] in history.timeline.loops]
    return max(known, default=0)
