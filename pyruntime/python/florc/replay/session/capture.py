"""What added statements print, as values: for `florc logs`, for `--json`, and for the answers of several workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ... import _native
from ...process.divert import Divert
from ...process.output import Tap
from . import live


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


class Line(NamedTuple):
    """A line that the script itself, not a probe, printed during the replay."""

    path: str
    text: str


MOST = 100_000
"""With fewer runs of added statements, what they print is kept for `florc logs`, too: to take a line apart takes 10 µs."""
_Told = list[tuple[str, str | None]]
"""Lines, and what a logger was told in each."""


class Noted:
    """Knows where in the spool lies what each run of a probe printed, where that is printed and not kept."""

    def __init__(self, divert: Divert, taps: tuple[Tap, Tap], place_of: Callable[[str], tuple[str, int]]):
        self.divert, self.taps, self._place_of = divert, taps, place_of
        self.runs: list[tuple[str, str, int, int, _Told, _Told]] = []
        """The probe, the place in the loop nest, where its lines begin and end, those of them that loggers wrote, and those on
        standard error."""

    def over(self, name: str, begun: int) -> None:
        """A run of a probe is over, which began after so many bytes."""
        told, errors = (tap.answers() for tap in self.taps)
        if (self.divert.out.written > begun or errors) and len(self.runs) < MOST:
            self.runs.append((name, _native.loop_path(), begun, self.divert.out.written, told, errors))

    def values(self) -> list[Value]:
        """What they printed, line by line; nothing where there were more of them than are noted."""
        if not self.runs or len(self.runs) == MOST:
            return []
        printed, found = self.divert.out.since(0), list[Value]()
        for name, path, begun, ended, told, errors in self.runs:
            found += _values(*self._place_of(name), path, printed[begun:ended], told, errors)
        return found


def _values(file: str, line: int, path: str, printed: bytes, told: _Told, errors: _Told) -> list[Value]:
    messages = dict(told)
    lines = printed.decode(errors="backslashreplace").splitlines()
    return [
        *(Value(file, line, path, text, message=messages.get(text)) for text in lines),
        *(Value(file, line, path, text, message=message, is_error=True) for text, message in errors),
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

    def __init__(self, values: list[Value], divert: Divert, taps: tuple[Tap, Tap], place_of: Callable[[str], tuple[str, int]]):
        self.divert, self.taps, self._values, self._place_of = divert, taps, values, place_of

    def over(self, name: str, begun: int) -> None:
        """A run of a probe is over, which began after so many bytes."""
        told, errors = (tap.answers() for tap in self.taps)
        self._keep(_values(*self._place_of(name), _native.loop_path(), self.divert.out.since(begun), told, errors))

    def keep(self, name: str, printed: bytes, child: str) -> None:
        """Keep what one run of a statement printed in a process that the script forked."""
        found = _values(*self._place_of(name), "", printed, [], [])
        self._keep([value._replace(child=child) for value in found])

    def _keep(self, found: list[Value]) -> None:
        self._values += found
        if live.is_on():
            for value in found:
                live.value(value)
