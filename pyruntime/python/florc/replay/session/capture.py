"""What added statements print, kept as values: for `--json`, and for the answers of several workers."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ... import _native


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
        self._values += [Value(file, line, path, text, child=child) for text in printed.splitlines()]
