"""Files that are open to be read, and how far they are read: of Python's own classes, so that no code of the user's is asked.

One that is only written to tells nothing here, nor does one that is closed, that is no regular file (a pipe), or that is standard
input. What a block writes is a matter of its plan (`effects/filter.rs`) and of what it entered (`runs/writers.py`)."""

from __future__ import annotations

import _io

from .static import module_of, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BELOW = ("fileno", "fdopen", ".dup(", ".dup2(", "closefd", ".buffer", ".raw", ".peek(", ".newlines", "reconfigure")
"""Words with which a script may look at what lies below a file: how far its buffer or its descriptor is, which another file may
share. To ask a file where it is changes that, and `seek` puts back only where the file is for who reads it."""
is_looked_below = False
"""Whether a file of the user's has one of these words. Then no file is asked or put back: a block that moved one runs."""

is_asked_below = False
"""Whether an added statement has one, in a replay."""


def looks_below(text: str) -> bool:
    """Whether a text has one of these words, and not only in a longer one (`.buffers()`)."""
    for word in _BELOW:
        at = text.find(word)
        while at >= 0:
            end = at + len(word)
            if word[-1] == "(" or not (text[end : end + 1].isalnum() or text[end : end + 1] == "_"):
                return True
            at = text.find(word, end)
    return False


_STANDARD = 2
"""The descriptors of the standard streams are no larger."""
_LEFT_OUT = {ord("-"): None, ord("_"): None}
_CODECS = frozenset(["utf8", "utf8sig", "ascii", "usascii", "latin1", "iso88591", "utf16", "utf32", "cp1252"])
"""A text file asks its decoder where it is: no codec that the user registered."""


def raw_of(file: Any) -> Any:
    """The file of the system below a file; None where another object stands in between, and where there is none any more."""
    try:
        if type(file) is _io.TextIOWrapper:
            file = file.buffer
        if type(file) is _io.BufferedReader or type(file) is _io.BufferedRandom:
            file = file.raw
    except ValueError:  # it was detached
        return None
    # a replay may put one of its own there (`replay/files/handles.py`)
    is_plain = issubclass(type(file), _io.FileIO) and (module_of(type(file)), name_of(type(file))) == ("_io", "FileIO")
    return file if is_plain else None


def is_read(file: Any, or_written: bool = True) -> bool:
    """Whether a file is one that is read, from a place that can be told. `or_written`: even if it may be written to as well."""
    raw = raw_of(file)
    try:
        if raw is None or raw.closed or not raw.readable() or not raw.seekable() or raw.fileno() <= _STANDARD:
            return False
        return or_written or not raw.writable()
    except (OSError, ValueError):  # its descriptor was closed
        return False


def position(file: Any) -> int | None:
    """How far a file is read that is not written to, as its `seek` takes it; None where it cannot be told."""
    if type(file) is _io.TextIOWrapper and file.encoding.lower().translate(_LEFT_OUT) not in _CODECS:
        return None
    try:
        at: int = file.tell()
    except (OSError, ValueError):  # between two lines that `next` gives out
        return None
    return at
