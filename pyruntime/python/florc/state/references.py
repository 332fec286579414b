"""What is recorded by name or by reference: functions, classes, methods, files, locks, loggers.

Nodes: `["named", module, qualname]`, `["method", self, name]`,
`["opaque", module, qualname of its class, qualname or null]`, `["weakref", its object or null]`, of a proxy with its class.
What says what it holds (`handles`) has that as one more: a connection to a database, how many rows it has changed.
"""

from __future__ import annotations

import _io  # its classes; those of `io` are abstract, and asking them runs `__subclasscheck__` and hashes classes
import functools
import sys
import types
import weakref

from .. import _native
from ..adapters.libraries import library_of
from ..support.static import attributes_of, defines, module_of, name_of, qualname_of, static
from . import lapsed
from .handles import holds_data, is_fixed, tells_all, told
from .iterators import is_under_way
from .kind import Kind
from .kinds import Refused, dotted, find_named, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer

_OPAQUE_MODULES = frozenset(
    [
        "_io",
        "io",
        "logging",
        "threading",
        "_thread",
        "socket",
        "_socket",
        "ssl",
        "_ssl",
        "subprocess",
        "multiprocessing",
        "_multiprocessing",
        "concurrent",
        "asyncio",
        "_asyncio",
        "queue",
        "_queue",
        "select",
        "selectors",
        "sqlite3",
        "http",
        "urllib",
        "weakref",
        "_weakref",
        "_weakrefset",
        "contextvars",
        "_contextvars",
        "tempfile",
        "zipfile",
        "tarfile",
        "gzip",
        "bz2",
        "lzma",
        "mmap",
        "ctypes",
        "_ctypes",
        "_csv",
        "csv",
        "contextlib",
        "itertools",
        "traceback",
        "inspect",
    ]
)
_OUTPUTS = frozenset({"logging", "csv", "_csv"})
NAMELESS_MODULES = ("torch", "torch._C._nn", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft")
"""Where torch's builtin functions are found, which do not say themselves where they live."""
FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    type,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodWrapperType,
)
CODE = FUNCTIONS + (types.MethodType, types.ModuleType, types.CodeType, weakref.ref)
BY_REFERENCE = FUNCTIONS + (
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
    types.MappingProxyType,
    types.CellType,
    memoryview,
    _io._IOBase,
    BaseException,
)


def in_opaque_module(cls: type) -> bool:
    """Whether a checkpoint names the objects of a class, and holds nothing of them."""
    module = type_name(cls)[0]
    library = library_of(module)
    if library is not None:
        return library.by_reference
    return module.split(".", 1)[0] in _OPAQUE_MODULES and not holds_data(cls)


def is_iterator(cls: type) -> bool:
    return defines(cls, "__next__")


def encode_named(enc: Encoder, obj: Any) -> Node:
    """A function or class by name when that name leads back to it; else by reference."""
    owner = _owner_of(obj)
    if owner is not None and not issubclass(type(owner), types.ModuleType):
        return ["method", enc.value(owner), obj.__name__]
    found = found_under(obj)
    return ["named", *found] if found is not None else encode_opaque(enc, obj)


def _owner_of(obj: Any) -> Any:
    return None if issubclass(type(obj), type) else getattr(obj, "__self__", None)


def found_under(obj: Any) -> tuple[str, str] | None:
    """The module and the name under which a function or a class is found; None for one that has no such name, and for methods."""
    owner = _owner_of(obj)
    module: Any
    qualname: Any
    name: Any
    if owner is not None and not issubclass(type(owner), types.ModuleType):
        return None
    if issubclass(type(obj), type):
        owner, module, qualname, name = None, module_of(obj), qualname_of(obj), name_of(obj)
    else:
        module, qualname, name = (getattr(obj, key, None) for key in ("__module__", "__qualname__", "__name__"))
    if issubclass(type(owner), types.ModuleType):
        module = owner.__name__
    elif module is None and issubclass(type(getattr(obj, "__objclass__", None)), type):
        module = obj.__objclass__.__module__
    if issubclass(type(qualname), str):
        for candidate in (module,) if issubclass(type(module), str) else NAMELESS_MODULES:
            if find_named(candidate, qualname) is obj:
                return candidate, qualname
        if find_named("torch", name) is obj:
            return "torch", name
    return None


def encode_module(enc: Encoder, obj: Any) -> Node:
    name = attributes_of(obj).get("__name__")
    return ["named", name, ""] if type(name) is str and sys.modules.get(name) is obj else encode_unknown(enc, obj)


def encode_method(enc: Encoder, obj: Any) -> Node:
    """A bound method that its object's class still has under that name."""
    func, owner = obj.__func__, obj.__self__
    name = getattr(func, "__name__", None)
    holder = owner if issubclass(type(owner), type) else type(owner)
    found: Any = static(holder, name) if type(name) is str else None
    if found is func or type(found) in (classmethod, staticmethod) and found.__func__ is func:
        return ["method", enc.value(owner), name]
    return encode_opaque(enc, obj)


def encode_weakref(enc: Encoder, obj: Any) -> Node:
    """A weak reference to something that is in the graph anyway; called when everything else is."""
    target = obj()
    if obj.__callback__ is None and (target is None or enc.number(target) is not None):
        return ["weakref", enc.value(target)]
    return encode_opaque(enc, obj)


def encode_proxy(enc: Encoder, obj: Any) -> Node:
    """As a weak reference; to ask a proxy anything asks what it stands for."""
    target = _native.referent(obj)
    if target is None or enc.number(target) is not None:
        return ["weakref", enc.value(target), type(obj).__name__]
    return ["opaque", *type_name(type(obj)), None]


def encode_opaque(enc: Encoder, obj: Any) -> Node:
    """By reference: the live object stays. Refused for an iterator that may have moved. (A place that is one is refused
    anyway, see `refuse_opaque_root`.)"""
    if is_under_way(obj):
        if enc.lapsing is not lapsed.Lapsing.NONE and lapsed.may_lapse(obj):
            return lapsed.encode(enc, obj)
        refuse_opaque_root(obj)
    return ["opaque", *type_name(type(obj)), _qualname(obj), *told(obj)]


def encode_unknown(enc: Encoder, obj: Any) -> Node:
    """An object that no rule is for and that cannot be pickled. Refused where what it holds may have changed unseen."""
    if not is_fixed(type(obj)):
        raise Refused(f"an object of {dotted(type(obj))} cannot be restored: what it holds is out of sight")
    return encode_opaque(enc, obj)


def _qualname(obj: Any) -> Any:
    name = getattr(obj, "__qualname__", None) if issubclass(type(obj), FUNCTIONS + (types.MethodType,)) else None
    return name if issubclass(type(name), str) else None


def is_output(obj: Any) -> bool:
    """Whether a program only ever writes to it: a logger, a progress bar, a run of a tracking service."""
    module = type_name(type(obj))[0]
    if module in ("_csv", "csv") and is_iterator(type(obj)):  # `csv.reader`: read from
        return False
    library = library_of(module)
    is_listed = library.is_output if library is not None else module.split(".", 1)[0] in _OUTPUTS
    return is_listed or obj is sys.stdout or obj is sys.stderr


def refuse_opaque_root(obj: Any) -> None:
    """Refused when a place itself was recorded by reference although a loop may have changed it."""
    if is_output(obj) or tells_all(obj) or issubclass(type(obj), CODE):
        return
    name = dotted(type(obj))
    if issubclass(type(obj), _io._IOBase):
        raise Refused(f"an open file ({name}) cannot be restored")
    if issubclass(type(obj), (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)):
        raise Refused("a running generator cannot be restored")
    if is_iterator(type(obj)):
        raise Refused(f"an iterator ({name}) cannot be restored")
    raise Refused(f"an object of {name} cannot be restored")


class Named(Kind):
    """Functions, classes, modules: the live one when it has that name, else the one found under the name."""

    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return self._is(node, live)

    def _is(self, node: Node, live: Any) -> bool:
        if node[2] == "":
            return issubclass(type(live), types.ModuleType) and live.__name__ == node[1]
        return find_named(node[1], node[2]) is live

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        found = sys.modules.get(node[1]) if node[2] == "" else find_named(node[1], node[2])
        if found is None:
            raise Refused(f"{node[1]}.{node[2]} is not defined")
        if node[2] and not issubclass(type(found), (*FUNCTIONS, functools._lru_cache_wrapper)):
            raise Refused(f"{node[1]}.{node[2]} is neither a function nor a class")
        m.check_named(node[1], found)

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return sys.modules[node[1]] if node[2] == "" else find_named(node[1], node[2])


class Method(Kind):
    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        owner = getattr(live, "__self__", None)
        if owner is None or getattr(live, "__name__", None) != node[2]:
            return False
        m.pair(node[1], owner)
        return True

    def parts(self, node: Node) -> Iterable[Any]:
        return (node[1],)

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        owner = r.value(node[1])
        if not hasattr(type(owner), node[2]) and not hasattr(owner, node[2]):
            raise Refused(f"{dotted(type(owner))} has no method {node[2]}")
        r.matcher.check_named("", getattr(type(owner), node[2], None))
        # A new object is still an empty shell: its class, not its attributes, knows the method.
        holder: Any = type(owner).__dict__.get(node[2])
        return types.MethodType(holder, owner) if issubclass(type(holder), types.FunctionType) else getattr(owner, node[2])


class Weak(Kind):
    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return type(live) is weakref.ref if len(node) == 2 else type(live) in _PROXIES

    def parts(self, node: Node) -> Iterable[Any]:
        return (node[1],)

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        target = r.value(node[1])
        make: Any = weakref.ref if len(node) == 2 else weakref.proxy
        return make(_Dead() if target is None else target)


_PROXIES = (weakref.ProxyType, weakref.CallableProxyType)


class _Dead:
    """What a restored dead reference referred to."""


class Opaque(Kind):
    """The live object at the same path, whatever it holds; a connection to a database only where the block wrote nothing."""

    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        is_same = type_name(type(live)) == (node[1], node[2]) and _qualname(live) == node[3]
        return is_same and (len(node) == 4 or node[4:] == told(live))

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        if len(node) > 4:
            raise Refused(f"no checkpoint holds what is in an object of {node[1]}.{node[2]}")
        raise Refused(f"an object of {node[1]}.{node[2]} was recorded by reference, and there is none here now")

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return r.live_of(index)


ENCODERS: dict[type, Encode] = {
    functools._lru_cache_wrapper: encode_named,
    types.MethodType: encode_method,
    types.ModuleType: encode_module,
    weakref.ref: encode_weakref,
    weakref.ProxyType: encode_proxy,
    weakref.CallableProxyType: encode_proxy,
}
KINDS = {"named": Named(), "method": Method(), "opaque": Opaque(), "weakref": Weak()}
