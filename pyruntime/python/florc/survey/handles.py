"""Objects of the standard library that hold something where no attribute of theirs shows it: what a survey compares of them.

A block that changes one which is not in its plan is not kept. What most of them hold is in no checkpoint (`state/handles.py`).
"""

from __future__ import annotations

import gc
import sys
import types

from ..support.static import attributes_of, module_of, name_of
from . import hidden
from .limits import LIMITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .readers import Parts


def _members(references: Iterable[Any]) -> int:
    """Which objects weak references lead to."""
    return hash(frozenset(id(reference()) for reference in tuple(references)))


def _of_weak_keys(table: Any) -> Parts:
    values = enumerate(tuple(table.data.values())[: LIMITS.items])
    return {"(members)": _members(table.data), **{("item", number): value for number, value in values}}


def of_bytes(buffer: Any) -> Parts:
    """Of longer ones a sample."""
    with memoryview(buffer) as view:
        step = view.nbytes // LIMITS.array_samples if view.nbytes > LIMITS.array_bytes and view.c_contiguous else 1
        data = view.cast("B")[::step].tobytes() if view.c_contiguous and view.nbytes else view.tobytes()
        return {"(data)": hash((view.nbytes, data))}


def _of_mapping(view: Any) -> Parts:
    """What a view shows."""
    return {("item", number): held for number, held in enumerate(gc.get_referents(view)[:1])}


def _of_context(variable: Any) -> Parts:
    try:
        return {"(value)": variable.get()}
    except LookupError:
        return {}


_ARGS = BaseException.__dict__["args"].__get__


def of_exception(error: BaseException) -> Parts:
    """Its arguments, and what was set on it; not the frames that it came through."""
    return {".args": _ARGS(error), **{f".{name}": value for name, value in attributes_of(error).items()}}


def of_module(module: types.ModuleType) -> Parts | None:
    """What is in a module that the script made itself; those that were imported are the project's files, or no part of it."""
    own = attributes_of(module)
    if sys.modules.get(own.get("__name__", "")) is module:
        return None
    return {f".{name}": value for name, value in own.items() if not name.startswith("__")}


def of_ctypes(data: Any) -> Parts:
    """The memory of a structure, an array, a number of C's; what pointers lead to is not looked at."""
    return of_bytes(memoryview(data).cast("B"))


def is_of_ctypes(kind: type) -> bool:
    """Whether a class is one of `ctypes`, or derived from one, whose objects are memory."""
    known = sys.modules.get("_ctypes")
    bases = tuple(getattr(known, name) for name in ("_SimpleCData", "Array", "Structure", "Union") if hasattr(known, name))
    return bool(bases) and issubclass(kind, bases)


_READERS: dict[tuple[str, str], Callable[[Any], Parts]] = {
    **hidden.READERS,
    ("builtins", "bytearray"): of_bytes,
    ("builtins", "memoryview"): of_bytes,
    ("array", "array"): of_bytes,
    **{("builtins", name): _of_mapping for name in ("mappingproxy", "dict_keys", "dict_values", "dict_items")},
    **{("collections", name): _of_mapping for name in ("odict_keys", "odict_values", "odict_items")},
    ("_thread", "_local"): lambda local: {f".{name}": value for name, value in local.__dict__.items()},  # of this thread
    ("_contextvars", "ContextVar"): _of_context,
    ("_weakrefset", "WeakSet"): lambda held: {"(members)": _members(held.data)},
    ("weakref", "WeakKeyDictionary"): _of_weak_keys,
    ("weakref", "WeakValueDictionary"): lambda held: {"(members)": _members(held.data.values())},
    ("_queue", "SimpleQueue"): lambda queue: {"(length)": queue.qsize()},
    ("threading", "Event"): lambda event: {"(set)": event.is_set()},
    ("threading", "Semaphore"): lambda semaphore: {"(value)": semaphore._value},
    ("threading", "BoundedSemaphore"): lambda semaphore: {"(value)": semaphore._value},
    ("threading", "Condition"): lambda condition: {"(waiters)": len(condition._waiters)},
    ("_thread", "lock"): lambda lock: {"(locked)": lock.locked()},
    ("_hashlib", "HASH"): lambda made: {"(digest)": made.digest()},
    ("_hashlib", "HMAC"): lambda made: {"(digest)": made.digest()},
    ("hmac", "HMAC"): lambda made: {"(digest)": made.digest()},
    ("_blake2", "blake2b"): lambda made: {"(digest)": made.digest()},
    ("_blake2", "blake2s"): lambda made: {"(digest)": made.digest()},
    **{
        (f"_{name}", kind): (lambda made: {"(digest)": made.digest()})
        for name, kind in (
            ("md5", "md5"),
            ("sha1", "sha1"),
            ("sha2", "SHA224Type"),
            ("sha2", "SHA256Type"),
            ("sha2", "SHA384Type"),
            ("sha2", "SHA512Type"),
        )
    },
    ("multiprocessing.sharedctypes", "Synchronized"): lambda shared: {"(value)": shared.value},
    ("multiprocessing.sharedctypes", "SynchronizedString"): lambda shared: {"(value)": shared.raw},
    ("multiprocessing.sharedctypes", "SynchronizedArray"): lambda shared: {"(value)": hash(bytes(memoryview(shared.get_obj())))},
    ("contextlib", "ExitStack"): lambda stack: {"(length)": len(stack._exit_callbacks)},
    ("contextlib", "AsyncExitStack"): lambda stack: {"(length)": len(stack._exit_callbacks)},
}


def reader(kind: type) -> Callable[[Any], Parts] | None:
    """How an object of exactly this class is read; None for other classes."""
    found = _READERS.get((module_of(kind), name_of(kind)))
    return hidden.of_decoder if found is None and hidden.is_decoder(kind) else found
