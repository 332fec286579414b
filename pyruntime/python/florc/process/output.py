"""What the script prints: kept line by line with its place in the loop nest; and the statements that were added in hindsight."""

from __future__ import annotations

import io
import os
import sys

from .. import _native, session
from ..support import mishaps
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
    """Sees what is written to `sys.stdout` or, with `is_error`, to `sys.stderr`, without standing in its way (`_native.Seen`).

    The stream stays the same object of the same class; only its `write` is looked up on the instance first. `sink` is called
    with the parts of a line (path, text), the file and the line number of the statement that ended it; where lines are
    `batched`, with several at once as JSON. `at_top` is called after each that is printed outside followed loops and blocks.
    """

    def __init__(
        self,
        sink: Callable[..., None],
        project: Container[str],
        batched: bool = False,
        is_error: bool = False,
        at_top: Callable[[], object] | None = None,
    ):
        self._at_top = at_top
        self._sink, self._project, self._batched, self._is_error = sink, project, batched, is_error
        self._stream: io.TextIOWrapper | None = None
        self._seen: _native.Seen | None = None
        self._write: object = None
        self._spent, self._answers = 0.0, list[tuple[str, "str | None"]]()
        """Of what is seen no more."""

    @property
    def spent(self) -> float:
        """Seconds that seeing took."""
        return self._seen.spent if self._seen is not None else self._spent

    def install(self) -> None:
        """Start to see. A stream whose `write` cannot be replaced stays unseen, and so does one of the user's own class."""
        self.see(sys.stderr if self._is_error else sys.stdout)

    def see(self, stream: object) -> None:
        """The same, for any stream."""
        if type(stream) is not io.TextIOWrapper:
            return
        with mishaps.Swallow("seeing what is printed"):
            self._seen = _native.Seen(stream.write, self._sink, self._project, self._batched, self._is_error, self._at_top)
            stream.write = self._write = self._seen.write  # type: ignore[method-assign]  # on the instance, not its class
            self._stream = stream

    def pause(self, change: int) -> None:
        """While more pauses have begun (1) than ended (-1), lines are a probe's own and are not kept."""
        if self._seen is not None:
            self._seen.pause(change)

    def answers(self) -> list[tuple[str, str | None]]:
        """What was written while paused, since this was last asked (`_native.Seen.answers`)."""
        found, self._answers = self._answers, []
        return found if self._seen is None else self._seen.answers()

    def fork(self, path: str, child: str, place: str) -> None:
        """In a child that the script forked: its lines go to a file (`_native.Seen.fork`)."""
        if self._seen is not None:
            self._seen.fork(path, child, place)

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
            seen.close(is_cut)
            self._spent, self._answers = seen.spent, seen.answers()
        # What `__del__` prints as Python ends is written out by the stream's own end: nothing of florc's may hold it.
        self._stream = self._seen = self._write = None


_plain: AbstractContextManager[None] = nullcontext()


def probe(name: str) -> AbstractContextManager[Any | None]:
    """Marks a statement that was added in hindsight: what it writes is an answer. Without a replay: nothing."""
    active = session.current
    if active is None:
        return _plain if child is None else child.answering(name)
    return active.probe(name, sys._getframe(1))


def probed(name: str, body: Callable[[], _T], is_handed: bool = False) -> _T:
    """What a lambda of an added statement does, also where somebody calls it later: a hook, a handler at the exit. `is_handed`:
    what the statement hands to such a one."""
    if is_handed:
        from .registered import registered

        return registered(name, body())
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


WRITTEN = ".written"
"""The end of the name of a file beside `Child.notes`: by line, a statement and a path that it wrote to."""


WRITTEN_ELSEWHERE = "written-elsewhere"
"""In the folder of answers: paths that they wrote to in processes that the script started anew."""
ERRORS = ".errors"
"""The end of the name of a file beside `Child.answers`: what went to standard error."""


class Child:
    """What added statements print in a child that the script forked in a replay: the parent prints it at its end.

    `path`: where in the loop nest it was forked; `label`: the number of the child, in the order in which the script started them,
    that of a child's child after a dot; `notes`: a file in which each run of a statement is noted as it begins and ends: its
    name, the label, where its answer is in the file `answers`, the path, where what went to standard error is in the file
    beside it (`ERRORS`). `lose` is told of a statement whose answer cannot be kept: the process may open no file any more.
    """

    def __init__(self, path: str, label: str, notes: str, answers: str, lose: Callable[[str], None]):
        self.depth, self._lose = 0, lose
        self._path = path
        self._label, self._notes, self._answers = label, notes, answers
        self._name = ""
        self._written: set[str] = set()
        self._files: list[int] = []
        self._before: list[int] = []

    def answering(self, name: str) -> Child:
        """Around an added statement."""
        if not self.depth:
            self._name = name
        return self

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth == 1:
            flush_streams()
            if is_duplicate(sys.stdout):
                self._lose(self._name)
                return
            try:
                self._divert()
            except OSError:
                self._undo()
                self._lose(self._name)

    def _divert(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        for path in (self._answers, self._answers + ERRORS):
            self._files.append(os.open(path, flags, 0o600))
        self._begun = self._sizes()
        for number, file in enumerate(self._files, 1):
            self._before.append(os.dup(number))
            os.dup2(file, number)
        self._note_run([-1, -1])

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if self.depth == 0:
            flush_streams()
            if self._files:
                ended = self._sizes()
                self._undo()
                self._note_run(ended)

    def _undo(self) -> None:
        for number, before in enumerate(self._before, 1):
            with suppress(OSError):
                os.dup2(before, number)
            os.close(before)
        for file in self._files:
            os.close(file)
        self._files, self._before = [], []

    def _sizes(self) -> list[int]:
        return [os.lseek(file, 0, os.SEEK_END) for file in self._files]

    def _note_run(self, ended: list[int]) -> None:
        """`ended`: -1 while it runs; it may end the process (`os._exit`)."""
        (begun, begun_errors), (end, end_errors) = self._begun, ended
        noted = (self._name, self._label, begun, end, self._path, begun_errors, end_errors)
        self._note(self._notes, ("\t".join(map(str, noted)) + "\n").encode())

    def wrote(self, path: str) -> None:
        """A statement writes to a file, which is in the view of the replay alone."""
        if self.depth and path not in self._written:
            self._written.add(path)
            self._note(self._notes + WRITTEN, f"{self._name}\t{path}\n".encode(errors="surrogateescape"))

    def _note(self, path: str, line: bytes) -> None:
        with suppress(OSError):
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)


def is_duplicate(stream: Any) -> bool:
    """Whether a stream is another descriptor of what standard output leads to (`os.dup(1)`)."""
    try:
        number = stream.fileno()
        return number not in (1, 2) and os.path.samestat(os.fstat(number), os.fstat(1))
    except Exception:  # no stream, or closed, or an object of the script's own
        return False


def flush_streams() -> None:
    """What Python holds back of the standard streams goes where they lead now."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # None, or an object of the script's own
            continue
