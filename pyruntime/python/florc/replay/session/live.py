"""What a replay tells the page of `florc ui` while it runs: JSON lines on standard output, before those of `--json`."""

from __future__ import annotations

import os

from ...support.high import copied
from ...support.light import dumps, suppress
from .opening import RANK, WORKER
from .started import STARTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .capture import Value

OPTION = "_FLORC_LIVE"
"""The environment variable that asks for it."""
END_OF_ERRORS = b"\0\n"
"""What follows the last line of a question on standard error."""
_write = os.write
_out: int | None = None


def is_asked() -> bool:
    """Whether somebody listens, in a process that has not begun to tell."""
    return OPTION in os.environ


def begin() -> None:
    """From here on tell what happens, if somebody listens. Neither the script nor a process that it starts sees that."""
    global _out
    is_part = WORKER in os.environ or RANK in os.environ
    STARTED.environment.pop(OPTION, None)
    if os.environ.pop(OPTION, None) is not None and not is_part:
        _out = copied(1)


def is_on() -> bool:
    """Whether this process tells."""
    return _out is not None


def tell(**what: Any) -> None:
    """One line, at once."""
    global _out
    if _out is not None:
        try:
            put(_out, what)
        except OSError:  # nobody listens any more
            _out = None


def put(descriptor: int, what: dict[str, Any]) -> None:
    """One line, to a descriptor."""
    data = dumps(what).encode("utf-8", "backslashreplace") + b"\n"
    while data:
        data = data[_write(descriptor, data) :]


def asks_again(environment: dict[str, str]) -> None:
    """The replay starts again, with this environment: what was told before does not count."""
    if _out is not None:
        tell(restarted=True)
        environment[OPTION] = "1"


def value(found: Value) -> None:
    """An added statement printed a line."""
    if _out is not None:
        tell(value=[found.file, found.line, found.path, found.text, found.message, found.is_error])


def block(key: str, is_restored: bool) -> None:
    """A block was restored, or runs again."""
    if _out is not None:
        tell(block=key, restored=is_restored)


def mark_end(code: int) -> None:
    """A question is answered: at the end of its lines on both streams."""
    if is_asked():
        with suppress(OSError):
            _write(2, END_OF_ERRORS)
            put(1, {"done": code})
