"""What the script prints: kept line by line with its place in the loop nest; on replay, only probes reach the outside."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Any, Callable, Container, ContextManager, List, NamedTuple, Optional, Tuple

from . import _native, session


class Part(NamedTuple):
    """A piece of a line, and where in the loop nest it was written."""

    path: str
    text: str


LineSink = Callable[[List[Part], str, int], None]
"""Called with the parts of a line, and with the file and the line number of the statement that ended it."""

_MOST_FRAMES = 40
"""How far up the caller of a library's `print` is looked for."""


class Tap:
    """Sees what is written to `sys.stdout` without standing in its way.

    The stream stays the same object of the same class; only its `write` is looked up on the instance first. Writes of
    other threads are let through unseen: their order is not the program's.
    """

    def __init__(self, sink: LineSink, project: Container[str]):
        self._sink, self._project = sink, project
        self._parts: List[Part] = []
        self._stream: Any = None
        self._thread = threading.get_ident()
        self.paused = 0
        """While above zero, lines are a probe's own and are not kept."""

    def install(self) -> None:
        """Start to see. A stream whose `write` cannot be replaced stays unseen."""
        stream = sys.stdout
        try:
            write = stream.write
            stream.write = self._seen(write)
        except (AttributeError, TypeError):
            return
        self._stream = stream

    def remove(self, is_cut: bool = False) -> None:
        """Let the stream be as it was, and hand on what is left of an unfinished line; not of one that was cut."""
        if self._stream is None:
            return
        with contextlib.suppress(AttributeError):
            del self._stream.write
        self._stream = None
        if self._parts and not is_cut:
            self._sink(self._parts, "", 0)
        self._parts = []

    def _seen(self, write: Callable[[str], int]) -> Callable[[str], int]:
        def seen(text: str) -> int:
            count = write(text)
            if session.current is not None and not self.paused and threading.get_ident() == self._thread and isinstance(text, str):
                with contextlib.suppress(Exception):  # R0: seeing may fail, printing may not
                    self._take(text)
            return count

        return seen

    def _caller(self) -> Tuple[str, int]:
        """The statement of the project that writes; of a library, a line number below zero for the one that called it.

        Nothing when Python itself writes, as for `atexit`.
        """
        frame: Any = sys._getframe(3) if _depth_is_over(3) else None
        sign = 1
        for _ in range(_MOST_FRAMES):
            if frame is None:
                break
            if frame.f_code.co_filename in self._project:
                return frame.f_code.co_filename, sign * frame.f_lineno
            frame, sign = frame.f_back, -1
        return "", 0

    def _take(self, text: str) -> None:
        path = _native.loop_path()
        *lines, rest = text.split("\n")
        if lines:
            file, number = self._caller()
            for line in lines:
                parts, self._parts = [*self._parts, Part(path, line)], []
                self._sink(parts, file, number)
        if rest:
            self._parts.append(Part(path, rest))


def _depth_is_over(depth: int) -> bool:
    try:
        return sys._getframe(depth + 1) is not None
    except ValueError:
        return False


class Divert:
    """Sends the process's standard output and standard error to a file, except while a probe runs.

    What probes write to standard output passes through a spool, so that it is known how much was written: a replay that
    has to start again leaves out the first `written` bytes.
    """

    def __init__(self, path: str, written: int = 0):
        self.depth = 0
        self.written = 0
        """Bytes that probes wrote to standard output so far."""
        self._leave_out = written
        self._own = [os.dup(1), os.dup(2)]
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC  # a replay that starts again writes them anew
        self._file = os.open(path, flags, 0o600)
        self._spool = os.open(path + ".probes", flags, 0o600)
        self._point(self._file, self._file)

    def _point(self, out: int, err: int) -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os.dup2(out, 1)
        os.dup2(err, 2)

    def open(self) -> None:
        """Let what is written now reach the outside."""
        self.depth += 1
        if self.depth == 1:
            self._point(self._spool, self._own[1])

    def close(self) -> None:
        """Keep what is written now to the file again."""
        self.depth -= 1
        if self.depth == 0:
            self._point(self._file, self._file)
            self._hand_on()

    def _hand_on(self) -> None:
        while True:
            data = os.pread(self._spool, 1 << 16, self.written)
            if not data:
                return
            new = data[max(0, self._leave_out - self.written):]
            self.written += len(data)
            try:
                while new:
                    new = new[os.write(self._own[0], new):]
            except BrokenPipeError:
                # `florc replay train.py | head`: nobody wants to know more.
                os._exit(0)

    def undo(self) -> None:
        """Everything reaches the outside from now on."""
        self._point(*self._own)


_plain: ContextManager[None] = contextlib.nullcontext()


def probe(name: str) -> ContextManager[Optional[Any]]:
    """Marks a statement that was added in hindsight: what it writes is an answer. Without a replay: nothing."""
    active = session.current
    return _plain if active is None else active.probe(name, sys._getframe(1))
