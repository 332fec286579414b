"""Experiment trackers in a replay: a run that the script begins is the recorded one. What added statements send is kept, and sent
when the verdict is known."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from ... import _native
from ...runs.journal import History
from ...support.private import private_folder
from ...trackers.point import Point
from ...trackers.watch import SwitchedOff, Watch


class Tracked(Watch):
    """What a replay does with the calls of trackers. `folder`: the replay's own; `place_of`: file and line of an added
    statement."""

    replays = True

    def __init__(self, history: History, folder: str, place_of: Callable[[str], tuple[str, int]]):
        self.points: list[Point] = []
        self.not_sent: dict[str, str] = {}
        """What added statements called that is not sent -> the statement."""
        self._place_of, self._folder = place_of, folder
        self._noted = history.tracked
        self._left: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        """By tracker, by what is known of its run, and by the place in the loop nest: a replay begins some of them only."""
        self._running: dict[int, list[tuple[str, bool]]] = {}
        """By the number of a thread: the added statements that run there, the innermost last, and whether they are answered."""
        for tracker, found in history.tracked:
            for of in found:
                self._left.setdefault((tracker, of, found.get("path", "")), []).append(found)

    def install(self) -> None:
        """From now on, for what is imported already, too."""
        super().install()
        sys.meta_path.insert(0, SwitchedOff())

    def begin(self, statement: str, is_answered: bool) -> None:
        """An added statement begins in this thread."""
        self._running.setdefault(threading.get_ident(), []).append((statement, is_answered))

    def end(self) -> None:
        """It is over."""
        thread = threading.get_ident()
        running = self._running.get(thread)
        if running:
            running.pop()
        if not running:
            self._running.pop(thread, None)

    def began(self, tracker: str, **found: Any) -> None:
        """The record has it."""

    def expected(self, tracker: str, of: str = "run") -> dict[str, Any]:
        """The next of the runs that were recorded here, which the script begins again."""
        left = self._left.get((tracker, of, _native.loop_path()))
        return left.pop(0) if left else {}

    def noted(self, tracker: str, of: str) -> list[dict[str, Any]]:
        """All that the recorded run noted of a tracker with the entry `of`."""
        return [found for name, found in self._noted if name == tracker and of in found]

    def folder(self, name: str) -> str:
        """A folder that goes with the view of files."""
        path = os.path.join(self._folder, "trackers", name)
        private_folder(path)
        return path

    def is_added(self) -> bool:
        """Whether an added statement runs in this thread."""
        return threading.get_ident() in self._running

    def statement(self) -> Any:
        """As `begin` was given it."""
        return self._running[threading.get_ident()][-1]

    def send_for(self, statement: Any, call: Callable[[], None]) -> None:
        """Call something that sends what an added statement gave that ran before."""
        self.begin(*statement)
        try:
            call()
        finally:
            self.end()

    def take(self, tracker: str, run: dict[str, Any], name: str, value: Any, step: Any, data: str = "") -> None:
        """It sends a value: kept, if the statement is to be answered."""
        statement, is_answered = self._running[threading.get_ident()][-1]
        if is_answered:
            file, line = self._place_of(statement)
            whole = None if step is None else int(step)
            self.points.append(Point(tracker, run, name, value, whole, _native.loop_path(), file, line, data))

    def unsent(self, what: str) -> None:
        """It calls something that florc does not send."""
        statement, is_answered = self._running[threading.get_ident()][-1]
        if is_answered:
            self.not_sent.setdefault(what, statement)
