"""What added statements print, as values: for `florc logs`, for `--json`, and for the answers of several workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ... import _native
from ...process.divert import Divert
from ...process.log_files import LogFiles
from ...process.output import Tap
from . import live
from .statements import Answer


class Value(NamedTuple):
    """A line that one run of a probe printed."""

    file: str
    line: int
    path: str
    text: str
    rank: int | None = None
    """Which of several ranks printed it."""
    child: str | None = None
    """Which of the processes that the script forked."""
    message: str | None = None
    """What a logger was told, where one printed it."""
    is_error: bool = False
    """Whether it went to standard error."""
    is_file: bool = False
    """Whether a logger wrote it to a file only."""


class Line(NamedTuple):
    """A line that the script itself, not a probe, printed during the replay."""

    path: str
    text: str


class Logged(NamedTuple):
    """A line that a logger of the script's wrote to a file, and the statement that told it."""

    line: Line
    file: str
    number: int


MOST = 100_000
"""With fewer runs of added statements, what they print is kept for `florc logs`, too: to take a line apart takes 10 µs."""
Taps = tuple[Tap, Tap, LogFiles]
"""Of standard output, of standard error, of the files of loggers."""
_Told = list[tuple[str, str | None]]
"""Lines, and what a logger was told in each."""


class Noted:
    """Knows where in the spool lies what each run of a probe printed, where that is printed and not kept."""

    def __init__(self, divert: Divert, taps: Taps, place_of: Callable[[str], tuple[str, int]]):
        self.divert, self.taps, self._place_of = divert, taps, place_of
        self.runs: list[tuple[str, str, int, int, _Told, _Told, _Told]] = []
        """The probe, the place in the loop nest, where its lines begin and end, those of them that loggers wrote, those on
        standard error, and those that loggers wrote to files only."""

    def over(self, name: str, begun: int) -> None:
        """A run of a probe is over, which began after so many bytes."""
        told, errors, filed = _answers(self.taps)
        if (self.divert.out.written > begun or errors or filed) and len(self.runs) < MOST:
            self.runs.append((name, _native.loop_path(), begun, self.divert.out.written, told, errors, filed))

    def values(self) -> list[Value]:
        """What they printed, line by line; nothing where there were more of them than are noted."""
        if not self.runs or len(self.runs) == MOST:
            return []
        printed, found = self.divert.out.since(0), list[Value]()
        for name, path, begun, ended, *told in self.runs:
            found += _values(*self._place_of(name), path, printed[begun:ended], *told)
        return found


def of_child(answer: Answer, place_of: Callable[[str], tuple[str, int]]) -> list[Value]:
    """What one run of a statement printed in a process that the script forked, line by line."""
    errors = [(line, None) for line in lines_of(answer.errors)]
    found = _values(*place_of(answer.name), answer.path, answer.text, [], [*errors])
    return [value._replace(child=answer.child) for value in found]


def _answers(taps: Taps) -> tuple[_Told, _Told, _Told]:
    """What a run of a probe wrote: lines of loggers on standard output, those on standard error, those in files only."""
    out, err, files = taps
    told, errors = out.answers(), err.answers()
    only = _only_there([errors], told)
    errors = [line for line in errors if line[1] is None or line in only]
    return told, errors, _only_there(files.answers(), told + errors)


def _only_there(files: Sequence[_Told], elsewhere: _Told) -> _Told:
    """What loggers wrote to files, and not elsewhere: each message once."""
    if not any(files):  # nearly always
        return []
    seen = Counter(message for _, message in elsewhere)
    found: _Told = []
    for told in files:
        here: Counter[str | None] = Counter()
        for text, message in told:
            here[message] += 1
            if message is not None and here[message] > seen[message]:
                found.append((text, message))
        seen |= here
    return found


def lines_of(printed: bytes) -> list[str]:
    """What was printed, line by line: a carriage return ends none, nor does what Unicode takes for the end of one."""
    *whole, rest = printed.decode(errors="backslashreplace").split("\n")
    return [line.removesuffix("\r") for line in whole] + [rest] * bool(rest)


def _values(
    file: str, line: int, path: str, printed: bytes, told: _Told, errors: _Told, filed: _Told | None = None
) -> list[Value]:
    messages = dict(told)
    lines = lines_of(printed)
    return [
        *(Value(file, line, path, text, message=messages.get(text)) for text in lines),
        *(Value(file, line, path, text, message=message, is_error=True) for text, message in errors),
        *(Value(file, line, path, text, message=message, is_file=True) for text, message in filed or ()),
    ]


class NotedRun:
    """Around one run of a probe. Thousands of them may follow each other: no `contextmanager`."""

    __slots__ = ("_begun", "_name", "_noted")

    def __init__(self, noted: Noted | Capture, name: str):
        self._noted, self._name = noted, name

    def __enter__(self) -> None:
        self._begun = self._noted.divert.out.written
        if self._noted.divert.depth == 0:  # another statement of the line may be around it
            for tap in self._noted.taps:
                tap.answers()  # of runs that were not asked for
        self._noted.divert.open()

    def __exit__(self, *_: object) -> None:
        self._noted.divert.close()
        if self._noted.divert.depth == 0:
            self._noted.over(self._name, self._begun)


class Capture:
    """Keeps what probes write to standard output, line by line, for `--json`."""

    def __init__(self, values: list[Value], divert: Divert, taps: Taps, place_of: Callable[[str], tuple[str, int]]):
        self.divert, self.taps, self._values, self._place_of = divert, taps, values, place_of

    def over(self, name: str, begun: int) -> None:
        """A run of a probe is over, which began after so many bytes."""
        printed = self.divert.out.since(begun)
        self._keep(_values(*self._place_of(name), _native.loop_path(), printed, *_answers(self.taps)))

    def keep(self, answer: Answer) -> None:
        """Keep what one run of a statement printed in a process that the script forked."""
        self._keep(of_child(answer, self._place_of))

    def _keep(self, found: list[Value]) -> None:
        self._values += found
        if live.is_on():
            for value in found:
                live.value(value)
