"""One line that says where a replay is: on a terminal, and in a file where another process of florc shows it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple

from ... import _native
from ...plan.window import END, Window
from ...project.script import Unusable
from ...runs.journal import History
from ...runs.versions import Versions
from ...support import console
from ...support.console import duration
from ..select.costs import Costs

_EVERY_S = 0.1
"""How often the line changes at most."""
_FIRST_S = 0.5
"""A replay that takes less shows none."""

Show = Callable[[str], None]


class Counts(NamedTuple):
    """Blocks so far."""

    restored: int
    ran: int


class Progress:
    """What a replay does at its iterations, in words: `epoch=3 (to 11), 3 restored, 1 run again, 41.0 s, 50.2 s left`. What is
    left is estimated from the times of the recorded run, as `--dry-run` does, and corrected by how far off that was until now."""

    def __init__(self, show: Show, history: History, costs: Costs | None, window: Window | None, is_short: bool):
        """`is_short`: several share a line."""
        self._is_short = is_short
        self._show, self._history, self._costs = show, history, costs
        self._begun = self._shown = time.perf_counter()
        self._shown += _FIRST_S - _EVERY_S
        part = window if window is not None and costs is not None and window.place == costs.loop.place else None
        self._first = 0 if part is None else part.start
        self._last = None if part is None else part.stop
        self._arrived: tuple[int, float] | None = None
        """The iteration of the main loop at which the estimate began to count, and when that was."""

    def at(self, path: str, counts: Counts) -> None:
        """The replay is at a place of the loop nest."""
        now = time.perf_counter()
        if self._costs is not None and self._arrived is None:
            index = self._index(path)
            if index is not None and index >= self._first:
                self._arrived = index, now
        if now - self._shown < _EVERY_S or self._is_beyond(path):
            return
        self._shown = now
        where, left = self._history.iteration(path) + self._of(), self._left(path, now)
        restored = f"{counts.restored} restored" if counts.restored else ""
        ran = f"{counts.ran} run again" if counts.ran else ""
        parts = [where, left] if self._is_short else [where, restored, ran, duration(now - self._begun), left]
        self._show(", ".join(part for part in parts if part))

    def _of(self) -> str:
        if self._costs is None:
            return ""
        loop = self._costs.loop
        return f" (to {loop.number_of(min(self._last or loop.count, loop.count) - 1)})"

    def _is_beyond(self, path: str) -> bool:
        """Whether it is past the last iteration: a loop is told of one more, in which its iterator ends."""
        index = self._index(path)
        return index is not None and self._costs is not None and index >= min(self._last or END, self._costs.loop.count)

    def _index(self, path: str) -> int | None:
        if self._costs is None:
            return None
        below = _native.Path(self._costs.loop.place).below(_native.Path(path))
        return None if below is None else below.index

    def _left(self, path: str, now: float) -> str:
        index = self._index(path)
        if self._costs is None or index is None or self._arrived is None:
            return ""
        first, since = self._arrived
        work = self._costs.work
        stop = min(len(work), self._last or len(work))
        known, left = sum(work[first:index]), sum(work[index:stop]) + (self._costs.after if stop == len(work) else 0.0)
        off_by = (now - since) / known if known else 1.0
        return f"{duration(left * off_by)} left" if left > 0 else ""


def of_replay(
    history: History, versions: Versions, forced: set[str], window: Window | None, file: str | None, is_task: bool
) -> Progress | None:
    """The progress of a replay, where somebody sees it. `file`: where another process of florc looks for the line, which is then
    not shown here; `is_task`: whether this process replays a part for another one."""
    if file is None and (is_task or not console.has_lines()):
        return None
    try:
        costs = Costs(history, versions, forced)
    except Unusable:  # it has no main loop
        costs = None
    show = console.show_line if file is None else _Written(file).put
    return Progress(show, history, costs, window, is_short=file is not None)


class _Written:
    """A line in a file, which is there whole or as it was before."""

    def __init__(self, path: str):
        self._path = path

    def put(self, text: str) -> None:
        try:
            with open(f"{self._path}.new", "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            os.replace(f"{self._path}.new", self._path)
        except OSError:  # a full disk: nobody needs to see where the replay is
            return
