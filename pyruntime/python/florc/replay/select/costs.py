"""How long a replay will take, estimated from the times of the recorded run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ... import _native
from ...plan.places import BOUNDARY
from ...runs.journal import History
from ...runs.versions import Versions

RESTORE_S = 2e-3
"""Seconds that restoring a block takes besides reading its bytes."""
BYTES_PER_S = 1e9


class Costs:
    """Seconds of each iteration of the main loop. Raises Unusable for a run without one."""

    def __init__(self, history: History, versions: Versions, forced: Iterable[str] = ()):
        self._history, self._versions, self._forced = history, versions, set(forced)
        self.loop = history.timeline.main_loop(history.seconds)
        self.recorded = history.timeline.seconds(self.loop.place, history.seconds)
        """Seconds of each iteration as it was recorded."""
        saved, on_the_way = self._saved(self._runs), self._saved(self._runs_before)
        self.work = _less(self.recorded, saved)
        """Seconds of each iteration in a work segment."""
        self.reach = self._reached(_less(self.recorded, on_the_way))
        """Seconds until the start of each iteration is reached (paper, Section 5.4: the initialization of a worker)."""
        self.before = min(self.loop.begun.values(), default=0.0)
        """Seconds until the loop begins."""
        loop_s = sum(self.recorded)
        self.after = max(0.0, (history.seconds or 0.0) - self.before - loop_s) - self._saved_outside()

    def serial(self) -> float:
        """Seconds of a replay in one process."""
        asked = self._versions.first_asked(self.loop.place)
        first = max((index for index in self._starts() if index <= asked), default=0)
        return self.before + self.reach[first] + sum(self.work[first:]) + max(0.0, self.after)

    def segment(self, start: int, stop: int) -> float:
        """Seconds of the worker that answers for these iterations."""
        stop = min(stop, len(self.work))
        is_last = stop == len(self.work)
        return self.before + self.reach[start] + sum(self.work[start:stop]) + (max(0.0, self.after) if is_last else 0.0)

    def is_restored_whole(self) -> bool:
        """Whether no added statement is in the loop, so that a replay restores it as one block or jumps over it."""
        key = str(_native.Path(self.loop.place).parent)
        if key in self._history.checkpoints and not self._runs(key):
            return True
        starts = self._starts()
        return bool(starts) and self._versions.first_asked(self.loop.place) >= max(starts)

    def _starts(self) -> set[int]:
        """The iterations that a replay can begin with."""
        held = self._history.boundaries.get(self.loop.place, set())
        block = self.loop.base
        is_possible = held and not self._is_forced(block + BOUNDARY) and not self._versions.why_not_jumped(block)
        return {index for index in held if 0 < index < len(self.recorded)} if is_possible else set()

    def _reached(self, on_the_way: list[float]) -> list[float]:
        reach, starts = [0.0], self._starts()
        for index, seconds in enumerate(on_the_way[:-1], 1):
            reach.append(RESTORE_S if index in starts else reach[-1] + seconds)
        return reach

    def _runs(self, key: str) -> bool:
        block = _native.Path(key).name
        return self._is_forced(block) or self._versions.why_run(block, key) is not None

    def _runs_before(self, key: str) -> bool:
        block = _native.Path(key).name
        return self._is_forced(block) or self._versions.why_run_before(block, key) is not None

    def _is_forced(self, block: str) -> bool:
        return block in self._forced or "all" in self._forced

    def _saved(self, runs: Callable[[str], bool]) -> list[float]:
        """Seconds of each iteration that restoring blocks saves."""
        saved = [0.0] * len(self.recorded)
        loop = _native.Path(self.loop.place)
        taken: set[_native.Path] = set()
        for key in sorted(self._history.checkpoints, key=len):
            at = _native.Path(key)
            iteration = loop.below(at)
            if iteration is None or iteration.index is None or at.between or runs(key):
                continue
            if not taken.isdisjoint(at.lineage):
                continue
            taken.add(at)
            if iteration.index < len(saved):
                saved[iteration.index] += self._gain(key)
        return saved

    def _gain(self, key: str) -> float:
        seconds = self._history.block_seconds.get(key, 0.0)
        return seconds - RESTORE_S - self._history.checkpoints[key].nbytes / BYTES_PER_S

    def _saved_outside(self) -> float:
        return sum(
            self._gain(key)
            for key in self._history.checkpoints
            if not (at := _native.Path(key)).iterations and not self._runs(key) and self.loop.place not in at
        )


def _less(whole: list[float], saved: list[float]) -> list[float]:
    return [max(total - skipped, RESTORE_S) for total, skipped in zip(whole, saved)]
