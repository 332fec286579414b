"""The cut of a run into segments, against every cut there is."""

from __future__ import annotations

import itertools
import random

from florc.replay.select import segments


def best_cut(work: list, reach: list, workers: int) -> float:
    """How long the slowest worker takes in the best of all cuts."""
    count = len(work)
    found = float("inf")
    for parts in range(1, min(workers, count) + 1):
        for inner in itertools.combinations(range(1, count), parts - 1):
            ends = [0, *inner, count]
            found = min(found, segments.makespan(work, reach, list(zip(ends, ends[1:]))))
    return found


def test_no_cut_is_better() -> None:
    draw = random.Random(3)
    for _ in range(300):
        work = [draw.choice([0.02, draw.random(), 10 * draw.random()]) for _ in range(draw.randint(1, 8))]
        # restoring an iteration never takes longer than running it
        steps = [seconds * draw.choice([0.0, 0.1, draw.random(), 1.0]) for seconds in work]
        reach = [0.0, *itertools.accumulate(steps)][: len(work)]
        workers = draw.randint(1, 9)
        cut = segments.partition(work, reach, workers)
        assert len(cut) <= workers
        assert [i for start, stop in cut for i in range(start, stop)] == list(range(len(work)))
        assert all(start < stop for start, stop in cut)
        assert segments.makespan(work, reach, cut) <= best_cut(work, reach, workers) * (1 + 1e-9)


def test_nothing_to_share_out() -> None:
    assert segments.partition([], [], 4) == []
    assert segments.partition([1.0], [0.0], 4) == [(0, 1)]
    assert segments.partition([0.0, 0.0], [0.0, 0.0], 2)[-1][1] == 2
