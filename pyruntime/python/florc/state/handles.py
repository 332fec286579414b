"""Objects that stay where they are, and what can be told of them.

What is recorded by reference (a lock, a file, a connection) is not put back: the live object stays. That is right only where it
holds what it held then. Some say so: what they say is recorded beside the reference, and a block is restored only where the live
object says the same. Some never change. All others are refused: a hash that is fed by a loop, the handle of a native library.
"""

from __future__ import annotations

import sys

from ..support.static import module_of
from .kinds import Refused, dotted, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FIXED = frozenset(
    ["_abc", "_functools", "_json", "_operator", "_sre", "_struct", "_tokenize", "_typing", "functools", "re", "types", "typing"]
)
"""Modules whose objects do not change, or only what they keep to be fast (`lru_cache`), and cannot be pickled all the same."""
_FIXED_CLASSES = frozenset(
    [("builtins", "getset_descriptor"), ("builtins", "member_descriptor"), ("torch", "finfo"), ("torch", "iinfo")]
)
_DATA = ("_SimpleCData", "Array", "Structure", "Union", "_Pointer")
"""Classes of `_ctypes` whose objects are values; those of functions and libraries do not change."""
_args_of = BaseException.__dict__["args"].__get__
_PLAIN = (str, bytes, int, float, bool, type(None))


def is_fixed(cls: type) -> bool:
    """Whether nothing in an object of a native class changes, or it tells what does."""
    return module_of(cls).split(".", 1)[0] in _FIXED or type_name(cls) in _FIXED_CLASSES


def holds_data(cls: type) -> bool:
    """Whether a class of a module that is taken by reference (`ctypes`) has values for objects."""
    ctypes = sys.modules.get("_ctypes")
    return ctypes is not None and issubclass(cls, tuple(getattr(ctypes, name) for name in _DATA))


def _rows(obj: Any) -> Any:
    """How many rows a connection to a database (or that of a cursor) has changed. SQLite writes natively: no view of files can
    tell who reads what a skipped block would have written."""
    return getattr(obj, "connection", obj).total_changes


def _none_in(count: Callable[[Any], int]) -> Callable[[Any], int]:
    """Of what is empty: nobody can tell what is in another."""

    def told_of(obj: Any) -> int:
        if count(obj):
            raise Refused(f"an object of {dotted(type(obj))} that is not empty cannot be restored")
        return 0

    return told_of


def _arguments(error: BaseException) -> Any:
    """What an exception was made with."""
    args = _args_of(error)
    if not all(type(part) in _PLAIN for part in args):
        raise Refused(f"an exception ({dotted(type(error))}) cannot be restored")
    return repr(args)


def _mapped(array: Any) -> Any:
    """A file that is mapped to be read."""
    if array.mode != "r":
        raise Refused("an array that writes to a mapped file (numpy.memmap) cannot be restored")
    return 0


def _viewed(view: memoryview) -> Any:
    if not view.readonly:
        raise Refused("a memoryview that is written through cannot be restored")
    return 0


def _out_of_sight(obj: Any) -> Any:
    raise Refused(f"an object of {dotted(type(obj))} cannot be restored: what it holds is out of sight")


def _labelled(*names: str) -> Callable[[Any], str]:
    """A hash of what goes with the rows of a table (labels, weights): training changes none of it, but the script may."""

    def told_of(table: Any) -> str:
        from hashlib import blake2b

        numpy: Any = sys.modules["numpy"]
        found = blake2b(digest_size=16)
        for name in names:
            value = getattr(table, name)
            value = value() if callable(value) else value
            # LightGBM makes 32-bit numbers of them when it first needs them
            found.update(name.encode() + (b"" if value is None else numpy.asarray(value, numpy.float32).tobytes()))
        return found.hexdigest()

    return told_of


_items = _none_in(lambda queue: queue.qsize())
_OF_DMATRIX = _labelled("num_row", "num_col", "get_label", "get_weight", "get_base_margin")
_TABLES: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("lightgbm.basic", "Dataset"): _labelled("label", "weight", "init_score", "group"),
    ("xgboost.core", "DMatrix"): _OF_DMATRIX,
    ("xgboost.core", "QuantileDMatrix"): _OF_DMATRIX,
}
"""What trainings are given, and do not change."""
_TOLD: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("sqlite3", "Connection"): _rows,
    ("sqlite3", "Cursor"): _rows,
    ("queue", "Queue"): _items,
    ("queue", "LifoQueue"): _items,
    ("queue", "PriorityQueue"): _items,
    ("_queue", "SimpleQueue"): _items,
    ("threading", "Event"): lambda event: int(event.is_set()),
    ("threading", "Semaphore"): lambda semaphore: semaphore._value,
    ("threading", "BoundedSemaphore"): lambda semaphore: semaphore._value,
    ("_thread", "lock"): lambda lock: int(lock.locked()),
    ("builtins", "memoryview"): _viewed,
    ("contextlib", "AsyncExitStack"): _none_in(lambda stack: len(stack._exit_callbacks)),
    ("contextlib", "ExitStack"): _none_in(lambda stack: len(stack._exit_callbacks)),
    ("tempfile", "SpooledTemporaryFile"): _out_of_sight,
    ("tempfile", "_TemporaryFileWrapper"): _out_of_sight,
    ("weakref", "WeakKeyDictionary"): _none_in(len),
    ("weakref", "WeakValueDictionary"): _none_in(len),
    ("_weakrefset", "WeakSet"): _none_in(len),
    ("multiprocessing.sharedctypes", "Synchronized"): lambda shared: shared.value,
    ("multiprocessing.sharedctypes", "SynchronizedArray"): lambda shared: repr(shared[:]),
    ("multiprocessing.sharedctypes", "SynchronizedString"): lambda shared: repr(shared.raw),
    ("multiprocessing.sharedctypes", "SynchronizedBase"): _out_of_sight,
    ("multiprocessing.shared_memory", "SharedMemory"): _out_of_sight,
    ("multiprocessing.queues", "Queue"): _items,
    ("multiprocessing.queues", "JoinableQueue"): _items,
    **_TABLES,
    ("mmap", "mmap"): _out_of_sight,
    # a collective call that may still be going on, and write to the tensors that the state holds
    ("torch.distributed.distributed_c10d", "Work"): _out_of_sight,
    ("torch._C._distributed_c10d", "Work"): _out_of_sight,
    ("numpy", "memmap"): _mapped,
}
"""Class -> what an object of it says of what it holds: a number or a text."""


def tells_all(obj: Any) -> bool:
    """Whether what an object says is all that may change in it."""
    return type_name(type(obj)) in _TABLES


def told(obj: Any) -> list[Any]:
    """What an object that is recorded by reference says of what it holds; -1 for a closed database, nothing where there is
    nothing to say. Raises Refused where nobody can tell."""
    cls = type(obj)
    of = _TOLD.get(type_name(cls))
    if of is None and issubclass(cls, BaseException):
        of = _arguments
    if of is None:
        return []
    try:
        return [of(obj)]
    except Refused:
        raise
    except Exception as error:
        if of is _rows:  # `sqlite3.ProgrammingError`
            return [-1]
        raise Refused(f"an object of {dotted(cls)} cannot be restored: {type(error).__name__}") from None
