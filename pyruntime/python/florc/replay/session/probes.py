"""Added statements while they run: where they write to, and whether what they say was asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from ... import _native
from .capture import Capture

if TYPE_CHECKING:
    from .session import Replay


class Probes:
    """Part of a session. With a `Capture`, the values of the statements are kept instead of printed."""

    def __init__(self, session: Replay, capture: Capture | None):
        self._session, self._capture = session, capture
        self.flush_files: Callable[[], None] = lambda: None
        """Flushes the files that the script holds open."""

    def around(self, name: str, frame: FrameType, is_called: bool) -> _Run:
        """A context manager around an added statement: what it prints reaches the user if it was asked for. `is_called`: around a
        lambda of it, which may be called in another place of the nest."""
        return _Run(self, name, frame, is_called)

    def begin(self, name: str, is_called: bool, way_out: contextlib.ExitStack) -> bool:
        """Where a statement writes to, until the `way_out`. Returns whether its answer was asked for."""
        session = self._session
        session.tap.pause(1)
        way_out.callback(session.tap.pause, -1)
        session.statements.reached[name] = session.statements.reached.get(name, 0) + 1
        if not session.answers(None if is_called else self._place_of(name)):
            return False
        session.statements.answered[name] = session.statements.answered.get(name, 0) + 1
        if self._capture is not None:
            way_out.enter_context(self._capture.values_of(name))
            return True
        session.divert.open()
        way_out.callback(session.divert.close)
        return True

    def watch(self, name: str, frame: FrameType, way_out: contextlib.ExitStack) -> None:
        """Watch what a statement leaves behind."""
        if self._session.looking.begin(name, frame):
            way_out.callback(self._session.looking.end, name, frame)

    def _place_of(self, name: str) -> str | None:
        """The place of an added statement, where it is another one than native code has: nothing tells that a loop is over that
        was left by a `break`, or a `while` loop, and what stands beside it is not in it."""
        window = self._session.window
        if window is None or not self._session.versions.is_beside(name, window.block):
            return None
        places = _native.Path(_native.loop_path()).lineage
        left = [place for place in places if place.loop == window.block and place.index is not None]
        return str(left[-1].parent or "") if left else None


class _Run:
    """One execution of an added statement. Thousands of them may follow each other: no generators, no `contextmanager`."""

    __slots__ = ("_frame", "_is_asked", "_is_called", "_name", "_probes", "_way_out")

    def __init__(self, probes: Probes, name: str, frame: FrameType, is_called: bool):
        self._probes, self._name, self._frame, self._is_called = probes, name, frame, is_called
        self._way_out = contextlib.ExitStack()
        self._is_asked = True

    def __enter__(self) -> None:
        probes, way_out = self._probes, self._way_out
        _native.in_added(1)
        way_out.callback(_native.in_added, -1)
        try:
            probes.flush_files()
            probes.watch(self._name, self._frame, way_out)
            self._is_asked = probes.begin(self._name, self._is_called, way_out)
            way_out.callback(probes.flush_files)
        except BaseException:
            way_out.close()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self._way_out.close()
        # What it reads may not be there: the blocks before it were skipped, with or without a statement in them.
        return not self._is_asked and kind is not None and issubclass(kind, Exception)
