"""How a replay leaves the script before its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn


class Leave(NamedTuple):
    """How a replay leaves the script in the middle. None of these returns, and no `except` or `finally` of the script sees
    it."""

    at_end: Callable[[], NoReturn]
    """The record ends here."""
    cannot_restore: Callable[[dict[str, str]], NoReturn]
    """Some checkpoints cannot be restored (block and why): these blocks must run instead."""
    window_over: Callable[[], NoReturn]
    """All iterations that were asked for are done."""
    damaged: Callable[[str], NoReturn]
    """A chunk that a restored block needs is damaged (why), and was not checked before: nothing may be restored unchecked."""
