"""A replay that restores everything, and prints nothing that the record has, compares nothing. Then florc re-executes one
block."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ... import _native
from ...runs.journal import History

LONGEST_S, SHARE = 1.0, 0.02
"""So long, or this share of the recorded run, may be spent on a block for the sake of comparing it."""
WHY = "once more, to be compared: nothing else could be"


def cheapest(history: History, why_run: Callable[[str, str], str | None]) -> str:
    """The key of the fastest block, if nothing else would be compared; the blocks around it run, too. Empty if something is
    compared, or if all blocks take long."""
    in_all = set.intersection(*(set(rank.checkpoints) for rank in history.together))
    paths = [(key, _native.Path(key)) for key in history.checkpoints if key in in_all]
    keys = [key for key, path in paths if not path.between and not history.is_beyond(path.head)]
    keys = [key for key in keys if not history.lapsed(key)]  # these would have to run, one and all
    if not keys or history.is_compared_anyway() or any(why_run(_native.Path(key).name, key) for key in keys):
        return ""
    costs = _costs(keys, history.together[0].block_seconds)
    found = min(keys, key=lambda key: costs.get(key, math.inf))
    return found if costs.get(found, math.inf) <= max(LONGEST_S, SHARE * (history.seconds or 0.0)) else ""


def needs(key: str, wanted: str) -> bool:
    """Whether a block has to run for another one to be reached, or is that one."""
    return key == wanted or bool(wanted) and wanted.startswith(f"{key}/")


def _costs(keys: list[str], seconds: Mapping[str, float]) -> dict[str, float]:
    """What it takes to run each block, and with it what is around it and kept as a whole, but for the other blocks in there."""
    around: dict[str, list[str]] = {key: [outer for outer in keys if key.startswith(f"{outer}/")] for key in keys}
    inside: dict[str, float] = {}
    for key, outers in around.items():
        if len(outers) == 1:
            inside[outers[0]] = inside.get(outers[0], 0.0) + seconds.get(key, 0.0)
    return {
        key: seconds.get(key, math.inf) + sum(max(seconds.get(outer, math.inf) - inside.get(outer, 0.0), 0.0) for outer in outers)
        for key, outers in around.items()
    }
