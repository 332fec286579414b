"""What added statements print, kept as values: for `--json`, and for the answers of several workers."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ... import _native
from ...process.output import Divert
from . import live


class Value(NamedTuple):
    """What one run of a probe printed."""

    file: str
    line: int
    path: str
    text: str
    rank: int | None = None
    """Which of several ranks printed it."""
    child: str | None = None
    """Which of the processes that the script forked."""


class Line(NamedTuple):
    """A line that the script itself, not a probe, printed during the replay."""

    path: str
    text: str


MOST = 100_000
"""With fewer runs of added statements, what they print is kept for `florc logs`, too: to take a line apart takes 10 µs."""


class Noted:
    """Knows where in the spool lies what each run of a probe printed, where that is printed and not kept."""

    def __init__(self, divert: Divert, place_of: Callable[[str], tuple[str, int]]):
        self.divert, self._place_of = divert, place_of
        self.runs: list[tuple[str, str, int, int]] = []
        """The probe, the place in the loop nest, and where its lines begin and end."""

    def values(self) -> list[Value]:
        """What they printed, line by line; nothing where there were more of them than are noted."""
        if not self.runs or len(self.runs) == MOST:
            return []
        printed, found = self.divert.spooled(), list[Value]()
        for name, path, begun, ended in self.runs:
            file, line = self._place_of(name)
            lines = printed[begun:ended].decode(errors="backslashreplace").splitlines()
            found += [Value(file, line, path, text) for text in lines]
        return found


class NotedRun:
    """Around one run of a probe. Thousands of them may follow each other: no `contextmanager`."""

    __slots__ = ("_begun", "_name", "_noted")

    def __init__(self, noted: Noted, name: str):
        self._noted, self._name = noted, name

    def __enter__(self) -> None:
        self._begun = self._noted.divert.written
        self._noted.divert.open()

    def __exit__(self, *_: object) -> None:
        noted, divert = self._noted, self._noted.divert
        divert.close()
        if divert.written > self._begun and divert.depth == 0 and len(noted.runs) < MOST:
            noted.runs.append((self._name, _native.loop_path(), self._begun, divert.written))


class Capture:
    """Keeps what probes write to `sys.stdout`, line by line, for `--json`."""

    def __init__(self, values: list[Value], place_of: Callable[[str], tuple[str, int]]):
        self._values, self._place_of = values, place_of

    @contextlib.contextmanager
    def values_of(self, name: str) -> Iterator[None]:
        """A context manager around one run of an added statement."""
        written = io.StringIO()
        with contextlib.redirect_stdout(written):
            yield
        self.keep(name, written.getvalue())

    def keep(self, name: str, printed: str, child: str | None = None) -> None:
        """Keep what one run of a statement printed. `child`: the process that the script forked for it."""
        file, line = self._place_of(name)
        path = "" if child is not None else _native.loop_path()
        found = [Value(file, line, path, text, child=child) for text in printed.splitlines()]
        self._values += found
        if live.is_on():
            for value in found:
                live.value(value)
