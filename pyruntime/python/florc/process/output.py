"""What the script prints: kept line by line with its place in the loop nest; on replay, only probes reach the outside."""

from __future__ import annotations

import io
import os
import sys

from .. import _native, session
from ..support import mishaps
from ..support.console import clear_line, exit_at_once
from ..support.light import NamedTuple, nullcontext, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    _T = TypeVar("_T")


class Part(NamedTuple):
    """A piece of a line, and where in the loop nest it was written."""

    path: str
    text: str


class Tap:
    """Sees what is written to `sys.stdout`, without standing in its way (`_native.Seen`).

    The stream stays the same object of the same class; only its `write` is looked up on the instance first. `sink` is called
    with the parts of a line (path, text), the file and the line number of the statement that ended it; where lines are
    `batched`, with several at once as JSON.
    """

    def __init__(self, sink: Callable[..., None], project: Container[str], batched: bool = False):
        self._sink, self._project, self._batched = sink, project, batched
        self._stream: io.TextIOWrapper | None = None
        self._seen: _native.Seen | None = None
        self._write: object = None

    @property
    def spent(self) -> float:
        """Seconds that seeing took."""
        return self._seen.spent if self._seen is not None else 0.0

    def install(self) -> None:
        """Start to see. A stream whose `write` cannot be replaced stays unseen, and so does one of the user's own class."""
        stream = sys.stdout
        if type(stream) is not io.TextIOWrapper:
            return
        with mishaps.Swallow("seeing what is printed"):
            self._seen = _native.Seen(stream.write, self._sink, self._project, self._batched)
            stream.write = self._write = self._seen.write  # type: ignore[method-assign]  # on the instance, not its class
            self._stream = stream

    def pause(self, change: int) -> None:
        """While more pauses have begun (1) than ended (-1), lines are a probe's own and are not kept."""
        if self._seen is not None:
            self._seen.pause(change)

    def flush(self) -> None:
        """Hand on the lines that were printed so far."""
        if self._seen is not None:
            with mishaps.Swallow("handing on what was printed"):
                self._seen.flush()

    def remove(self, is_cut: bool = False) -> None:
        """Let the stream be as it was, and hand on what is left of an unfinished line; not of one that was cut."""
        seen = self._seen
        if self._stream is None or seen is None:
            return
        with mishaps.Swallow("no longer seeing what is printed"):
            write: object = self._stream.__dict__.get("write")
            if write is self._write:
                del self._stream.write
            self._stream = None
            seen.close(is_cut)


class Divert:
    """Sends the process's standard output and standard error to a file, except while a probe runs.

    What probes write to standard output passes through a spool, so that it is known how much was written: a replay that
    has to start again leaves out the first `written` bytes. `known`: the hash of these.
    """

    def __init__(self, path: str, written: int = 0, known: str = ""):
        self.depth = 0
        self.written = 0
        """Bytes that probes wrote to standard output so far."""
        self._leave_out, self._known = written, known
        self._own = [os.dup(1), os.dup(2)]
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC  # a replay that starts again writes them anew
        self._file = os.open(path, flags, 0o600)
        self._spool = os.open(path + ".probes", flags, 0o600)
        self._point(self._file, self._file)

    def _point(self, out: int, err: int) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os.dup2(out, 1)
        os.dup2(err, 2)

    def open(self) -> None:
        """Let what is written now reach the outside."""
        self.depth += 1
        if self.depth == 1:
            clear_line()
            self._point(self._spool, self._own[1])

    def close(self) -> None:
        """Keep what is written now to the file again."""
        self.depth -= 1
        if self.depth == 0:
            self._point(self._file, self._file)
            self._hand_on()

    def __enter__(self) -> None:
        self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hand_on(self) -> None:
        while os.lseek(self._spool, 0, os.SEEK_END) > self.written:
            data = os.pread(self._spool, 1 << 16, self.written)
            if not data:
                return
            new = data[max(0, self._leave_out - self.written) :]
            self.written += len(data)
            try:
                while new:
                    new = new[os.write(self._own[0], new) :]
            except BrokenPipeError:
                # `florc replay train.py | head`: nobody wants to know more.
                exit_at_once(0)

    def _hash(self, count: int) -> str:
        from _blake2 import blake2b

        return blake2b(os.pread(self._spool, count, 0), digest_size=16).hexdigest()

    @property
    def is_otherwise(self) -> bool:
        """Whether what reached the outside before the replay started again is not what probes write now."""
        return self._leave_out > 0 and (self.written < self._leave_out or self._hash(self._leave_out) != self._known)

    def printed(self) -> tuple[int, str]:
        """How many bytes reached the outside so far, and the hash of these; none where they are not what probes write now."""
        if self.written < self._leave_out:
            return self._leave_out, self._known
        return self.written, "" if self.is_otherwise else self._hash(self.written)

    def spooled(self) -> bytes:
        """All that probes wrote to standard output in this attempt."""
        return os.pread(self._spool, self.written, 0)

    def undo(self) -> None:
        """Everything reaches the outside from now on."""
        clear_line()
        self._point(*self._own)


_plain: AbstractContextManager[None] = nullcontext()


def probe(name: str) -> AbstractContextManager[Any | None]:
    """Marks a statement that was added in hindsight: what it writes is an answer. Without a replay: nothing."""
    active = session.current
    if active is None:
        return _plain if child is None else child.answering(name)
    return active.probe(name, sys._getframe(1))


def probed(name: str, body: Callable[[], _T]) -> _T:
    """What a lambda of an added statement does, also where somebody calls it later: a hook, a handler at the exit."""
    active = session.current
    if active is None:
        if child is None or child.depth:
            return body()
        with child.answering(name):
            return body()
    with active.probe(name, sys._getframe(1), is_called=True):
        return body()


child: Child | None = None
"""In a child that the script forked in a replay."""


class Child:
    """What added statements print in a child that the script forked in a replay: the parent prints it at its end.

    `label`: the number of the child, in the order in which the script started them, that of a child's child after a dot;
    `notes`: a file in which each run of a statement is noted: its name, the label, where its answer is in the file `answers`.
    """

    def __init__(self, label: str, notes: str, answers: str):
        self.depth = 0
        self._label, self._notes, self._answers = label, notes, answers
        self._name = ""

    def answering(self, name: str) -> Child:
        """Around an added statement."""
        if not self.depth:
            self._name = name
        return self

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth == 1:
            _flush_out()
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self._answers, flags, 0o600)
            self._begun, self._before = os.lseek(self._file, 0, os.SEEK_END), os.dup(1)
            os.dup2(self._file, 1)

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if self.depth == 0:
            _flush_out()
            os.dup2(self._before, 1)
            ended = os.lseek(self._file, 0, os.SEEK_END)
            os.close(self._before)
            os.close(self._file)
            self._note(f"{self._name}\t{self._label}\t{self._begun}\t{ended}\n".encode())

    def _note(self, line: bytes) -> None:
        with suppress(OSError):
            descriptor = os.open(self._notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)


def _flush_out() -> None:
    with suppress(Exception):  # None, or an object of the script's own
        sys.stdout.flush()
