"""SQLite has no NaN: it is NULL there. Where an answer is empty because of that, it says NaN all the same.

The question is put a second time, with a number in the place of each NaN. What is empty in the first answer, and a number in the
second, came from NaN alone."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

STAND_IN = -sys.float_info.max
"""In the place of NaN: but for -inf it comes first in every order, as NULL does."""
_Row = tuple[Any, ...]


def filled(found: Sequence[_Row], again: Sequence[_Row]) -> list[_Row]:
    """The rows of an answer with NaN where it belongs. `again`: the rows with numbers in the place of NaN; conditions may have
    let others through there, and the order may be another one."""
    if len(found) == len(again) and all(map(_may_be, found, again)):
        return [*map(_filled, found, again)]
    left = Counter(again)
    is_same = [bool(left[row]) and not left.subtract([row]) for row in found]
    by_others: dict[tuple[int, ...], dict[_Row, list[_Row]]] = {}
    answer: list[_Row] = []
    for row, same in zip(found, is_same):
        known = tuple(at for at, cell in enumerate(row) if cell is not None)
        if not same and known not in by_others:
            by_others[known] = {}
            for other in left.elements():
                by_others[known].setdefault(tuple(other[at] for at in known), []).append(other)
        there = [] if same else by_others[known].get(tuple(row[at] for at in known))
        answer.append(_filled(row, there.pop(0)) if there else row)
    return answer


def _may_be(row: _Row, other: _Row) -> bool:
    """Whether they are the same but for what is empty in the first."""
    return all(cell is None or cell == now for cell, now in zip(row, other))


def _filled(row: _Row, other: _Row) -> _Row:
    return tuple(float("nan") if cell is None and isinstance(now, (int, float)) else cell for cell, now in zip(row, other))
