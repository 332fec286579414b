"""Added statements while they run: where they write to, and whether what they say was asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
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

    @contextlib.contextmanager
    def around(self, name: str, frame: FrameType) -> Iterator[None]:
        """A context manager around an added statement: what it prints reaches the user if it was asked for."""
        _native.in_added(1)
        try:
            self.flush_files()
            with self._session.looking.around(name, frame), self._written(name):
                try:
                    yield
                finally:
                    self.flush_files()
        finally:
            _native.in_added(-1)

    @contextlib.contextmanager
    def _written(self, name: str) -> Iterator[None]:
        session = self._session
        session.tap.pause(1)
        try:
            session.statements.reached[name] = session.statements.reached.get(name, 0) + 1
            if not session.answers(self._place_of(name)):
                # what it reads may not be there: the blocks before it were skipped, with or without a probe in them
                with contextlib.suppress(Exception):
                    yield
                return
            session.statements.answered[name] = session.statements.answered.get(name, 0) + 1
            if self._capture is not None:
                with self._capture.values_of(name):
                    yield
                return
            session.divert.open()
            try:
                yield
            finally:
                session.divert.close()
        finally:
            session.tap.pause(-1)

    def _place_of(self, name: str) -> str | None:
        """The place of an added statement, where it is another one than native code has: nothing tells that a loop is over that
        was left by a `break`, or a `while` loop, and what stands beside it is not in it."""
        window = self._session.window
        if window is None or not self._session.versions.is_beside(name, window.block):
            return None
        places = _native.Path(_native.loop_path()).lineage
        left = [place for place in places if place.loop == window.block and place.index is not None]
        return str(left[-1].parent or "") if left else None
