"""Which worker of a parallel replay answers for which iterations."""

from __future__ import annotations

from collections.abc import Sequence


def partition(work: Sequence[float], reach: Sequence[float], workers: int) -> list[tuple[int, int]]:
    """At most `workers` segments `(start, stop)` that cover all iterations in order.

    `work[i]` is the time in seconds that iteration i takes in a work segment. `reach[i]` is the time until its start is reached
    (paper, Section 5.4: the initialization of a worker). The longest segment takes as little time as possible. Within a limit,
    each worker takes as many iterations as it can; bisection finds the limit.
    """
    if not work:
        return []
    low, high = 0.0, sum(work) + max(reach)
    best = [(0, len(work))]
    for _ in range(60):
        limit = (low + high) / 2
        found = _within(work, reach, limit)
        if found and len(found) <= workers:
            best, high = found, limit
        else:
            low = limit
    return best


def _within(work: Sequence[float], reach: Sequence[float], limit: float) -> list[tuple[int, int]]:
    """The fewest segments that take no longer than `limit`; nothing when one iteration alone takes longer."""
    found, start, spent = [], 0, reach[0]
    for i, seconds in enumerate(work):
        if i > start and spent + seconds > limit:
            found.append((start, i))
            start, spent = i, reach[i]
        if spent + seconds > limit:
            return []
        spent += seconds
    return [*found, (start, len(work))]


def makespan(work: Sequence[float], reach: Sequence[float], segments: Sequence[tuple[int, int]]) -> float:
    """How long the slowest of these workers takes, in seconds."""
    return max((reach[start] + sum(work[start:stop]) for start, stop in segments), default=0.0)
