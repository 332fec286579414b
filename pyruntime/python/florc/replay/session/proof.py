"""A replay that restores everything, and prints nothing that the record has, compares nothing. Then florc re-executes one
block."""

from __future__ import annotations

import math
from collections.abc import Callable

from ... import _native
from ...runs.journal import History

LONGEST_S, SHARE = 1.0, 0.02
"""So long, or this share of the recorded run, may be spent on a block for the sake of comparing it."""
WHY = "once more, to be compared: nothing else could be"


def cheapest(history: History, why_run: Callable[[str, str], str | None]) -> str:
    """The key of the fastest block, if nothing else would be compared. Empty if something is compared, or if all blocks take
    long."""
    keys = [key for key in history.checkpoints if not _native.Path(key).between]
    if (
        not keys
        or any(not _native.Path(line.path).blocks for line in history.known_lines())
        or any(why_run(_native.Path(key).name, key) for key in keys)
    ):
        return ""
    seconds = history.block_seconds
    found = min(keys, key=lambda key: seconds.get(key, math.inf))
    return found if seconds.get(found, math.inf) <= max(LONGEST_S, SHARE * (history.seconds or 0.0)) else ""
