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
    in_all = set.intersection(*(set(rank.checkpoints) for rank in history.together))
    paths = [(key, _native.Path(key)) for key in history.checkpoints if key in in_all]
    keys = [key for key, path in paths if not path.between and not history.is_beyond(path.head)]
    keys = [key for key in keys if not history.lapsed(key)]  # these would have to run, one and all
    if not keys or history.is_compared_anyway() or any(why_run(_native.Path(key).name, key) for key in keys):
        return ""
    seconds = history.together[0].block_seconds
    found = min(keys, key=lambda key: seconds.get(key, math.inf))
    return found if seconds.get(found, math.inf) <= max(LONGEST_S, SHARE * (history.seconds or 0.0)) else ""
