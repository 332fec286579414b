"""Standard input in a replay.

What the script read in a way that florc records (`inputs/known.py`) is given back and not read again. If the script
reads it in another way, florc notes that: nobody knows whether it reads what the recorded run read.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Any

from ..support.console import say

NAMES = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_HOW = "standard input was read in a way that is not recorded: the script got what this replay was given"
present: io.TextIOWrapper | None = None
"""`sys.stdin` of the replay, unless it is closed."""
noted: list[str] = []
"""What the answer is unverified for."""
_is_added: Callable[[], bool] = lambda: False


class _Raw(io.FileIO):
    """Descriptor 0; that it is read is noted."""

    def readinto(self, buffer: Any) -> Any:
        note()
        return super().readinto(buffer)

    def read(self, size: Any = -1) -> Any:
        note()
        return super().read(size)

    def readall(self) -> Any:
        note()
        return super().readall()


def watch(is_added: Callable[[], bool]) -> None:
    """From now on. `is_added()`: whether an added statement runs, which may read what it likes."""
    global present, _is_added
    _is_added, own = is_added, sys.stdin
    if type(own) is not io.TextIOWrapper or own.closed:
        return
    raw = _Raw(0, "r", closefd=False)
    raw.name = "<stdin>"
    present = io.TextIOWrapper(io.BufferedReader(raw), own.encoding, own.errors, "\n", own.line_buffering)
    present.mode = "r"  # type: ignore[misc]  # CPython lets it be set
    sys.stdin = sys.__stdin__ = present  # type: ignore[misc]  # `sys.__stdin__` is no real constant


def note() -> None:
    """The script reads it."""
    if noted or _is_added():
        return
    noted.append(_HOW)
    if os.isatty(0):
        say("the script reads standard input, which was not recorded: give the same input", always=True, code="F506")
