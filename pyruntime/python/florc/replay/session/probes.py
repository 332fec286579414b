"""Added statements while they run: where they write to, and whether what they say was asked for."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

from ... import _native
from ...plan.loops import BOUNDARY
from ...support.console import count, say
from ..world.handed import may_write
from .capture import MOST, Capture, Noted, NotedRun, Value, of_child

if TYPE_CHECKING:
    from ..world.handed import Handed
    from .session import Replay


class Probes:
    """Part of a session. `captures`: the values of the statements are kept instead of printed."""

    def __init__(self, session: Replay, captures: bool):
        self.session = session
        common = session.divert, session.taps, session.versions.probe_place
        self._noted = Noted(*common)
        self._capture = Capture(session.values, *common) if captures else None
        self.handed: Handed | None = None
        """Where the replay has a world of its own: what of it is handed out."""
        self._writing: dict[str, bool] = {}
        """Statements, and whether they may have others write files."""
        self._started: list[threading.Thread] = []
        self._started_by: tuple[str, tuple[object, str, int]]
        """Threads that the last statement started, and where that was."""
        self.present: list[threading.Thread] | None = None
        """Threads that were there when the added statement began that runs now."""
        self._theirs: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        """Threads that added statements have started, daemons too."""
        self.flush_files: Callable[[], None] = lambda: None
        """Flushes the files that the script holds open."""

    def around(self, name: str, frame: FrameType, is_called: bool) -> contextlib.AbstractContextManager[bool | None]:
        """A context manager around an added statement: what it prints reaches the user if it was asked for. `is_called`: around a
        lambda of it, which may be called in another place of the nest."""
        if is_called and self.session.looking.is_running():
            return contextlib.nullcontext()  # the statement itself calls it
        return _Run(self, name, frame)

    def is_at_work(self) -> bool:
        """Whether an added statement runs, or this is a thread that one has started."""
        me = threading.get_ident()
        if self.session.looking.is_running() or me == threading.main_thread().ident:
            return self.session.looking.is_running()

        def is_among(threads: Iterable[threading.Thread]) -> bool:  # the number of one that is over may be given again
            return any(thread.ident == me and thread.is_alive() for thread in threads)

        before = self.present
        return is_among(list(self._theirs)) or before is not None and not is_among(before)

    def files(self, name: str) -> dict[str, int] | None:
        """What others than Python wrote before this statement; None where it lets nobody write."""
        if self.handed is None:
            return None
        known = self._writing.get(name)
        if known is None:
            file, line = self.session.versions.probe_place(name)
            known = self._writing[name] = may_write(self.session.versions.text(file) or "", line)
        return self.handed.present() if known else None

    def begin(self, name: str) -> contextlib.AbstractContextManager[None] | None:
        """A statement was reached. Returns the context in which it writes to where its answer goes; None if that was not asked
        for."""
        session = self.session
        self.note_early()
        session.statements.reached[name] = session.statements.reached.get(name, 0) + 1
        if not session.answers():
            return None
        session.statements.answered[name] = session.statements.answered.get(name, 0) + 1
        return NotedRun(self._capture or self._noted, name)

    def note_early(self) -> None:
        """What runs between a jump and the state that is then put back, in the condition of a `while`, is in no iteration."""
        if self.session.restorer.is_about_to:
            block = _native.Path(_native.loop_path()).loop + BOUNDARY
            self.session.leave.cannot_restore({block: "its condition does more than look"})

    def printed(self) -> list[Value]:
        """What they printed so far, where it was printed and not kept as values."""
        return self._noted.values()

    def answer_for_children(self) -> None:
        """Print what the statements printed in processes that the script started: these are over."""
        answers = [answer for answer in self.session.statements.of_children() if answer.text or answer.errors]
        for answer in answers:
            err = self.session.divert.err
            _write(err.file if err.is_kept else 2, answer.errors)
            if self._capture is not None:
                self._capture.keep(answer)
                continue
            if len(answers) < MOST:
                self.session.values += of_child(answer, self.session.versions.probe_place)
            _write(1, answer.text)
        if answers and self._capture is None:
            children = len({answer.child for answer in answers})
            say(f"the last {count(len(answers), 'answer')} came from processes that the script started: {children}")

    def note_threads(self, name: str, before: list[threading.Thread]) -> None:
        """A statement is over. The next one may wait for a thread that it started. A daemon is mostly a library's."""
        started = [thread for thread in threading.enumerate() if thread not in before]
        self._theirs.update(started)
        started = [thread for thread in started if not thread.daemon]
        if started:
            self._started += started
            self._started_by = name, self._at(name)

    @property
    def has_started(self) -> bool:
        """Whether the last statement started threads."""
        return bool(self._started)

    def look_at_threads(self, name: str) -> None:
        """Another statement begins. Where it does not go on with what is added in that place, nobody waits any more: what threads
        print from then on is nobody's answer."""
        by, (group, path, line) = self._started_by
        present = self._at(name)
        if present[:2] == (group, path) and present[2] >= line:
            return
        if any(thread.is_alive() for thread in self._started):
            said = f"{self.session.versions.said(by)}: started a thread that went on: what that printed later has no answer"
            others = self.session.statements.others
            others.unanswered += [said] * (said not in others.unanswered)
        self._started = []

    def _at(self, name: str) -> tuple[object, str, int]:
        file, line = self.session.versions.probe_place(name)
        return self.session.looking.group(file, line), _native.loop_path(), line


def _write(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # `florc replay train.py | head`
        while data:
            data = data[os.write(descriptor, data) :]


class _Run:
    """One execution of an added statement. Thousands of them may follow each other: no generators, no `contextmanager`."""

    __slots__ = ("_answer", "_files", "_frame", "_is_begun", "_is_first", "_is_watched", "_name", "_probes", "_threads")

    def __init__(self, probes: Probes, name: str, frame: FrameType):
        self._probes, self._name, self._frame = probes, name, frame

    def __enter__(self) -> None:
        probes, name = self._probes, self._name
        session = probes.session
        _native.in_added(1)
        for tap in session.taps:
            tap.pause(1)
        self._answer: Any = None
        self._files: dict[str, int] | None = None
        self._is_watched = self._is_begun = False
        if probes.has_started:
            probes.look_at_threads(name)
        self._threads = threading.enumerate()
        self._is_first = probes.present is None
        if self._is_first:
            probes.present = self._threads
        try:
            probes.flush_files()
            self._is_watched = session.looking.begin(name, self._frame)
            self._answer = probes.begin(name)
            session.names.asked(self._frame)
            if self._answer is not None:
                self._files = probes.files(name)
            session.tracked.begin(name, self._answer is not None)
            self._is_begun = True
            if self._answer is not None:
                self._answer.__enter__()
        except BaseException:
            self._over(None, None, None)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool:
        is_asked = self._answer is not None
        try:
            self._probes.flush_files()
            if self._files is not None and self._probes.handed is not None:
                self._probes.handed.over(self._files)
            if is_asked:
                self._probes.note_threads(self._name, self._threads)
            if is_asked and isinstance(error, Exception):
                self._probes.session.looking.raises(self._name, error)
        finally:
            self._over(kind, error, trace)
        # What it reads may not be there: the blocks before it were skipped, with or without a statement in them.
        return not is_asked and kind is not None and issubclass(kind, Exception)

    def _over(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        session = self._probes.session
        try:
            if self._answer is not None:
                self._answer.__exit__(kind, error, trace)
        finally:
            try:
                if self._is_begun:
                    session.tracked.end()
                if self._is_watched:
                    session.looking.end(self._name, self._frame)
            finally:
                if self._is_first:
                    self._probes.present = None
                for tap in session.taps:
                    tap.pause(-1)
                _native.in_added(-1)
