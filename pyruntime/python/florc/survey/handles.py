"""Objects of the standard library that hold something where no attribute of theirs shows it: what a survey compares of them.

A block that changes one which is not in its plan is not kept. What such objects hold is in no checkpoint (`state/handles.py`).
"""

from __future__ import annotations

from ..support.static import module_of, name_of
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


_READERS: dict[tuple[str, str], Callable[[Any], Parts]] = {
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
    return _READERS.get((module_of(kind), name_of(kind)))
