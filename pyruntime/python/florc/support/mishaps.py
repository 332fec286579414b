"""Errors inside florc that were swallowed, so that the script could go on: counted, told at the end of the run, and shown in
full with FLORC_DEBUG=1."""

from __future__ import annotations

import os
import sys

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

count = 0
first = ""
"""The first of them: where, and what."""


def swallowed(where: str, error: BaseException) -> None:
    """Count an error. Raises it if it is the script's, and nothing else."""
    global count, first
    if is_the_scripts(error):
        raise error
    count += 1
    try:
        first = first or f"{where}: {type(error).__name__}: {error}"
        if os.environ.get("FLORC_DEBUG"):
            import traceback

            from .console import say

            for line in "".join(traceback.format_exception(error)).splitlines():
                say(f"{where}: {line}", always=True)
    except Exception:  # an error whose text cannot be told
        first = first or where


def is_the_scripts(error: BaseException) -> bool:
    """Whether an error that came out of florc's work is none of florc's: Ctrl-C and the like, and what the script's handler of a
    signal raised in the middle of it (a timeout by `signal.alarm`)."""
    if not isinstance(error, Exception):
        return True
    signal: Any = sys.modules.get("signal")
    if signal is None or error.__traceback__ is None:
        return False
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = {getattr(getattr(handler, "__func__", handler), "__code__", None) for handler in handlers if callable(handler)}
    at: Any = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code in codes:
            return True
        at = at.tb_next
    return False


class Swallow:
    """`with Swallow("where"):` for what may fail without the script noticing. Ctrl-C waits for its end."""

    __slots__ = ("_where",)

    def __init__(self, where: str):
        self._where = where

    def __enter__(self) -> None:
        _native.hold_interrupts()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
        _native.release_interrupts()
        if error is None or is_the_scripts(error):
            return False
        swallowed(self._where, error)
        return True


def told() -> str:
    """What there is to tell at the end; empty when nothing was swallowed."""
    if not count:
        return ""
    times = "an error" if count == 1 else f"{count} errors"
    return f"{times} inside florc, which the script did not notice ({first}); FLORC_DEBUG=1 shows each in full"
