"""What a survey compares of files that are open to be read: how far they are read.

A forked child shares that with its parent, which goes on: it is told what held when it was forked (`Still`)."""

from __future__ import annotations

import _io
import os
from _weakref import ref

from .. import _native
from ..support import files_read
from ..support.files_read import is_read, position, raw_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Read = Callable[[Any], dict[Any, Any]]

_met: dict[int, tuple[ref[Any], Read]] = {}
"""Objects that told something, by address."""
_MOST = 1000
"""So many are noted before those are forgotten that are gone."""
_still: dict[int, dict[Any, Any]] | None = None
"""In a child: what they told last."""


class Still:
    """Who is forked meanwhile is told of shared objects what holds now."""

    def __enter__(self) -> None:
        global _still
        live = [(address, reference(), read) for address, (reference, read) in _met.items()]
        _still = {address: read(obj) for address, obj, read in live if obj is not None}

    def __exit__(self, *raised: object) -> None:
        global _still
        _still = None


def shared(read: Read) -> Read:
    """A reader of objects whose state a forked child shares with its parent."""

    def told(obj: Any) -> dict[Any, Any]:
        if _still is not None:
            return _still.get(id(obj), {})
        reference = ref(obj)  # first: it is noted in the object's memory
        found = read(obj)
        if found:
            if len(_met) >= _MOST:
                for address in [address for address, (known, _) in _met.items() if known() is None]:
                    del _met[address]
            _met[id(obj)] = reference, read
        return found

    return told


def _of_file(file: Any) -> dict[Any, Any]:
    if not is_read(file):
        return {}
    raw, is_text = raw_of(file), type(file) is _io.TextIOWrapper
    try:
        if files_read.is_looked_below:
            there = os.lseek(raw.fileno(), 0, os.SEEK_CUR)
            if raw.writable():
                return {"(position)": there if there < os.fstat(raw.fileno()).st_size else -1}
            layers = [file, *([file.buffer] if is_text else []), raw]
            return {"(read)": hash((there, *map(_native.hash_of_memory, layers)))}
        if not raw.writable():
            at = position(file)
            if at is None and is_text:
                return {"(read)": hash((file.buffer.tell(), _native.hash_of_memory(file)))}
            return {"(position)": at}
        # a text file would write now what waits to be written; one that is written to at its end stays there
        reached = (file.buffer if is_text else file).tell()
        return {"(position)": reached if reached < os.fstat(raw.fileno()).st_size else -1}
    except (OSError, ValueError):
        return {}


READERS: dict[type, Read] = dict.fromkeys(
    (_io.TextIOWrapper, _io.BufferedReader, _io.BufferedRandom, _io.FileIO), shared(_of_file)
)
"""By exact class."""
