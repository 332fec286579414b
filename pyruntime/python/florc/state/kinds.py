"""What every part of the codec shares: results, errors, references, class names, memory layout of classes."""

from __future__ import annotations

import array
import collections
import ctypes
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _native
from ..support.static import RunsCode, dict_of, module_of, own_slots, qualname_of, read_attribute, static
from ..support.weak_table import WeakTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .encode import Encoder

    Encode = Callable[[Encoder, Any], list[Any]]
    """Makes the node of an object."""

Node = list[Any]
"""A node of the graph, as JSON has it: its kind first."""
FORMAT = 1
OF_MODULES = ("torch.Module", "torch.Metric", "torch.DDP", "torch.FSDP", "tracked.Module")
"""Kinds of nodes of torch's modules, which are alike in their first seven parts."""
OF_PYTHON: tuple[type, ...] = (type(iter([])), type(iter(())), type(iter(range(0))))
"""Iterators that can be moved in place."""
OF_OBJECTS = ("object", "combined", "tracked", "loading", "local")
"""Kinds of nodes of objects with attributes, which are alike."""
RANDOM = "$random"
OWNER = "$owner:"
KEPT = ["kept"]
"""A slot whose live value is left as it is, whatever it holds (bulk data of a dataset)."""

LONG_NUMBERS = 64
POINTER = ctypes.sizeof(ctypes.c_void_p)


class Unsupported(Exception):
    """A place holds something that could not be restored honestly, so no checkpoint of it is made.

    `place_path` names it (`loader_iter`, `net.lock`), `reason` is one sentence.
    """

    def __init__(self, place_path: str, reason: str):
        super().__init__(f"{place_path}: {reason}")
        self.place_path = place_path
        self.reason = reason


class CannotRestore(Exception):
    """A checkpoint does not fit the live objects; nothing was changed when this is raised. `by_added`: because of what added
    statements hold, or may hold."""

    def __init__(self, place_path: str, reason: str, by_added: bool = False):
        super().__init__(f"{place_path}: {reason}")
        self.place_path = place_path
        self.reason = reason
        self.by_added = by_added


class NeedsCopy(Exception):
    """The state holds what only the training process can copy: memory of a device, or elements that lie apart."""


class Refused(Exception):
    """Raised where the path is not known; the caller that knows it turns it into one of the two above."""


class DeviceLeaf(NamedTuple):
    """`nbytes` bytes of memory of `device`, not read yet: `tensor` is uint8 of one dimension over them."""

    device: str
    tensor: Any
    nbytes: int

    def read(self) -> _native.MemoryLeaf:
        """A copy in host memory. Waits for the device."""
        return _native.MemoryLeaf.of_tensor(self.tensor.cpu(), 0, self.nbytes)


class Encoded(NamedTuple):
    """`graph`: JSON text. `leaves`: MemoryLeaf, DeviceLeaf or bytes, in index order. `nbytes`: their sum in bytes.

    `encoder`: what was walked.
    """

    graph: bytes
    leaves: Sequence[Any]
    nbytes: int
    encoder: Any = None

    @property
    def device_bytes(self) -> int:
        """Bytes of `nbytes` that are not read yet."""
        return int(self.encoder.device_bytes)


def on_host(leaves: Sequence[Any]) -> list[Any]:
    """The same leaves, those of devices copied to host memory. Waits for the devices."""
    return [leaf.read() if type(leaf) is DeviceLeaf else leaf for leaf in leaves]


def leaf_bytes(leaf: Any) -> bytes:
    """A copy of the bytes of one entry of `Encoded.leaves`."""
    if type(leaf) is DeviceLeaf:
        leaf = leaf.read()
    return ctypes.string_at(leaf.address, leaf.nbytes) if type(leaf) is _native.MemoryLeaf else bytes(leaf)


class _PyBuffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


def unguarded(data: Any) -> Any:
    """The same bytes as a buffer that calls itself writable, without a copy; only to be read, while `data` is held.

    torch warns about read-only buffers, and silencing a warning would make the user's own ones appear again.
    """
    view = memoryview(data)
    if not view.readonly:
        return data
    buffer = _PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(buffer), 0)
    try:
        return (ctypes.c_char * view.nbytes).from_address(buffer.buf)
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))


def is_ref(value: Any) -> bool:
    """Whether an encoded value refers to a node: a list of exactly one integer."""
    return type(value) is list and len(value) == 1 and type(value[0]) is int


def type_name(cls: type) -> tuple[str, str]:
    return module_of(cls), qualname_of(cls)


def dotted(cls: type) -> str:
    module, qualname = type_name(cls)
    return qualname if module in ("builtins", "") else f"{module}.{qualname}"


def find_named(module: str, qualname: str) -> Any:
    """The object that modules already imported know by this name, or None. Nothing is imported."""
    found: Any = sys.modules.get(module)
    if found is None:
        return None
    for part in qualname.split("."):
        try:
            found = static(found, part) if issubclass(type(found), type) else read_attribute(found, part)
        except (Exception, RunsCode):  # a library's __getattr__ may raise anything
            return None
        if type(found) is staticmethod:
            found = found.__func__
    return found


def find_class(module: str, qualname: str) -> type | None:
    found = find_named(module, qualname)
    return found if issubclass(type(found), type) else None


CONTENT_BASES: dict[type, str] = {
    list: "list",
    dict: "dict",
    collections.OrderedDict: "OrderedDict",
    collections.defaultdict: "defaultdict",
    set: "set",
    collections.deque: "deque",
    bytearray: "bytearray",
    array.array: "array",
}
VALUE_BASES: dict[type, str] = {
    int: "int",
    float: "float",
    str: "str",
    bytes: "bytes",
    complex: "complex",
    tuple: "tuple",
    frozenset: "frozenset",
}


_BASES = WeakTable((cls, True) for cls in (*CONTENT_BASES, *VALUE_BASES))
_base_of, _basicsize_of, _itemsize_of = (type.__dict__[name].__get__ for name in ("__base__", "__basicsize__", "__itemsize__"))


def layout_base(cls: type) -> type | None:
    """The builtin class that holds the data of `cls` below its attributes: `object`, a container or a value class.

    None when some class between holds memory that Python cannot see (an extension class).
    """
    while cls is not object:
        if cls in _BASES:
            return cls
        if _hidden_bytes(cls) > 0:
            return None
        cls = _base_of(cls)
    return object


def _hidden_bytes(cls: type) -> int:
    base = _base_of(cls)
    own = dict_of(cls)
    visible = len(own_slots(cls)) + ("__dict__" in own) + ("__weakref__" in own)
    hidden: int = _basicsize_of(cls) - _basicsize_of(base) - POINTER * visible
    items: int = _itemsize_of(cls) - _itemsize_of(base)
    return max(hidden, items)


def refuse_kept(values: Any) -> None:
    if KEPT in values:
        raise Refused("the data in it was not recorded, and there is none here now")


def torch_module() -> Any:
    """torch, only if the program has imported it; Refused otherwise."""
    torch = sys.modules.get("torch")
    if torch is None:
        raise Refused("torch is not imported")
    return torch
