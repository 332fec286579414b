"""Objects of C, in the standard library, that have a state which no attribute shows: what a survey compares of them.

Of most it is a hash of their own memory (`hash_of_memory`), and what they refer to; of the others what they say of themselves.
The classes are known by name: nothing is imported for them."""

from __future__ import annotations

import gc
import itertools
import types

from .. import _native
from ..support.static import attributes_of, module_of, name_of
from .files import shared
from .limits import LIMITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .readers import Parts

_NOT_HELD = (types.CodeType, types.FrameType, types.ModuleType, type, dict)
_never = itertools.count()
CURSOR = ("sqlite3", "Cursor")


def referents(obj: Any) -> Parts:
    """What an object refers to."""
    held = [part for part in gc.get_referents(obj) if not issubclass(type(part), _NOT_HELD)]
    return {("item", number): part for number, part in enumerate(held[: LIMITS.items])}


def of_memory(obj: Any) -> Parts:
    """Where all that changes is in the object itself, or in what it refers to."""
    return {"(state)": _native.hash_of_memory(obj), **referents(obj)}


def _attributes(obj: Any) -> Parts:
    return {f".{name}": value for name, value in attributes_of(obj).items()}


def _told(*names: str) -> Callable[[Any], Parts]:
    """By attributes of C, which hold numbers and texts."""
    return lambda obj: {f".{name}": getattr(obj, name) for name in names}


def _of_connection(connection: Any) -> Parts:
    """How many rows were changed, and whether that may be taken back; nothing of one that is closed or another thread's."""
    try:
        return {".total_changes": connection.total_changes, ".in_transaction": connection.in_transaction}
    except Exception:  # `sqlite3.ProgrammingError`
        return {}


def of_rows(cursor: Any) -> Parts:
    """A cursor, of which a bound method (`fetchone`) will give out rows: how many it gave, nobody can tell."""
    has_more = any(name_of(type(part)) == "Statement" for part in gc.get_referents(cursor))
    return {".__self__": cursor, "(rows)": next(_never) if has_more else -1}


def _of_element(element: Any) -> Parts:
    """Its own texts and attributes, its children: of many both ends."""
    count = len(element)
    shown: Iterable[int] = range(count)
    if count > LIMITS.items:
        shown = itertools.chain(range(LIMITS.items // 2), range(count - LIMITS.items // 2, count))
    parts: Parts = {f".{name}": getattr(element, name) for name in ("tag", "text", "tail", "attrib")}
    return {**parts, "(length)": count, **{("item", number): element[number] for number in shown}}


def _of_reader(reader: Any) -> Parts:
    return {"(line)": reader.line_num, **referents(reader)}


def _of_mmap(mapped: Any) -> Parts:
    """Where it is read, and a sample of what may be written to."""
    if mapped.closed:
        return {}
    from .handles import of_bytes

    with memoryview(mapped) as view:
        written = {} if view.readonly else of_bytes(view)
    return {"(position)": mapped.tell(), **written}


def _of_decimal(context: Any) -> Parts:
    """All but its flags, which each calculation may set."""
    names = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
    traps = hash(frozenset(id(signal) for signal, is_set in context.traps.items() if is_set))
    return {**{f".{name}": getattr(context, name) for name in names}, "(traps)": traps}


def of_suspended(running: Any) -> Parts:
    """A coroutine, or a generator that one awaits."""
    frame = running.cr_frame if issubclass(type(running), types.CoroutineType) else running.ag_frame
    return {"(position)": frame.f_lasti if frame is not None else "over", **referents(running)}


READERS: dict[tuple[str, str], Callable[[Any], Parts]] = {
    ("sqlite3", "Connection"): _of_connection,
    CURSOR: lambda cursor: {"(state)": _native.hash_of_memory(cursor), ".connection": cursor.connection},
    ("xml.etree.ElementTree", "Element"): _of_element,
    ("xml.etree.ElementTree", "ElementTree"): _attributes,
    ("xml.etree.ElementTree", "XMLPullParser"): _attributes,
    ("_csv", "reader"): _of_reader,
    ("csv", "DictReader"): _attributes,
    ("mmap", "mmap"): shared(_of_mmap),
    ("decimal", "Context"): _of_decimal,
    ("pyexpat", "xmlparser"): _told("CurrentByteIndex"),
    ("_ssl", "MemoryBIO"): _told("pending", "eof"),
    ("_contextvars", "Context"): lambda context: {("item", n): value for n, value in enumerate(context.values())},
    ("threading", "Barrier"): _told("broken", "n_waiting"),
    ("functools", "KeyWrapper"): referents,
    ("functools", "singledispatchmethod"): _attributes,
    ("functools", "cached_property"): lambda held: {".func": held.func},
    ("functools", "partialmethod"): _attributes,
    ("operator", "methodcaller"): referents,
    ("builtins", "coroutine"): of_suspended,
    ("builtins", "async_generator"): of_suspended,
    ("builtins", "cell"): referents,
    **dict.fromkeys(
        [
            ("_bz2", "BZ2Compressor"),
            ("_bz2", "BZ2Decompressor"),
            ("_collections", "_deque_iterator"),
            ("_collections", "_deque_reverse_iterator"),
            ("_elementtree", "_element_iterator"),
            ("_io", "IncrementalNewlineDecoder"),
            ("_lzma", "LZMACompressor"),
            ("_lzma", "LZMADecompressor"),
            ("_pickle", "Pickler"),
            ("_pickle", "Unpickler"),
            ("_sre", "SRE_Scanner"),
            ("_struct", "unpack_iterator"),
            ("array", "arrayiterator"),
            ("xml.etree.ElementTree", "TreeBuilder"),
            ("xml.etree.ElementTree", "XMLParser"),
            ("zlib", "Compress"),
            ("zlib", "Decompress"),
        ],
        of_memory,
    ),
}
"""By module and name of the exact class."""


def of_decoder(decoder: Any) -> Parts:
    """An incremental encoder or decoder of Python's own."""
    return {"(state)": repr(decoder.getstate())}


def is_decoder(kind: type) -> bool:
    """Whether a class is one of these."""
    return module_of(kind).startswith("encodings.") and name_of(kind) in ("IncrementalDecoder", "IncrementalEncoder")
