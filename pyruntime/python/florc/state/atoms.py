"""Values without identity, written in place: numbers, strings, enums, dtypes, flat tuples.

JSON's null, booleans, strings, finite floats and 64-bit integers stand for themselves; anything else is a list whose
first item is a tag. (A list holding one integer is a reference to a node and never an atom.) Short tuples of atoms and
short bytes are atoms, too: `["t", atoms…]` and `["b", hexadecimal]`, written natively.
"""

from __future__ import annotations

import enum
import math
import struct
import sys
from collections.abc import Callable
from typing import Any

from ..support.static import attributes_of, dict_of, module_of
from ..support.weak_table import WeakTable
from .kinds import Refused, find_class, type_name

ATOMS = WeakTable()
"""Exact type -> encoder."""
DECODERS: dict[str, Callable[[list[Any]], Any]] = {}
"""Tag -> decoder of the whole tagged list."""


def _same(value: Any) -> Any:
    return value


def _int(value: int) -> Any:
    return value if -(1 << 63) <= value < (1 << 64) else ["i", hex(value)]


def _float(value: float) -> Any:
    return value if math.isfinite(value) else ["f", struct.pack(">d", value).hex()]


def _str(value: str) -> Any:
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates (os.fsdecode): JSON would join two of them into one character
        return ["s", value.encode("utf-32-le", "surrogatepass").hex()]
    return value


def enum_atom(value: enum.Enum) -> Any:
    module, qualname = type_name(type(value))
    own = attributes_of(value)  # `name` and `value` may be properties of the user's
    name = own.get("_name_")
    if name is not None and dict_of(type(value)).get("_member_map_", {}).get(name) is value:
        return ["e", module, qualname, name]
    return ["ev", module, qualname, _int(int.__pos__(own["_value_"]))]  # a combination of flags


def _enum_class(module: str, qualname: str) -> Any:
    cls = find_class(module, qualname)
    if cls is None or not issubclass(cls, enum.Enum):
        raise Refused(f"the enumeration {module}.{qualname} is not defined")
    return cls


def _enum_member(v: list[Any]) -> Any:
    member = _enum_class(v[1], v[2]).__members__.get(v[3])
    if member is None:
        raise Refused(f"{v[1]}.{v[2]} has no member {v[3]}")
    return member


def _singleton(v: list[Any]) -> Any:
    return {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}[v[1]]


def _torch() -> Any:
    torch = sys.modules.get("torch")
    if torch is None:
        raise Refused("torch is not imported")
    return torch


def _torch_constant(name: str) -> Any:
    torch = _torch()
    found = getattr(torch, name, None)
    if not issubclass(type(found), (torch.dtype, torch.layout, torch.memory_format)):
        raise Refused(f"torch.{name} is not available")
    return found


def _numpy() -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise Refused("numpy is not imported")
    return numpy


def dtype_descr(dtype: Any) -> Any:
    """A numpy dtype as JSON: `"<f4"`, or a list of fields for structured types."""
    if dtype.hasobject:
        return "O" if dtype.str == "|O" else None
    return sys.modules["numpy"].lib.format.dtype_to_descr(dtype)


def dtype_from(descr: Any) -> Any:
    return _numpy().lib.format.descr_to_dtype(_fields(descr))


def _fields(descr: Any) -> Any:
    if not issubclass(type(descr), list):
        return descr
    fields = []
    for name, kind, *shape in descr:
        name = tuple(name) if issubclass(type(name), list) else name
        fields.append((name, _fields(kind), *(tuple(s) for s in shape)))
    return fields


def _numpy_scalar(value: Any) -> Any:
    return ["ns", dtype_descr(value.dtype), value.tobytes().hex()]


def _numpy_scalar_from(v: list[Any]) -> Any:
    return _numpy().frombuffer(bytes.fromhex(v[2]), dtype=dtype_from(v[1]), count=1)[0]


def atom_of(kind: type) -> Any:
    """The encoder of atoms of a class; None of a class whose objects are none."""
    if kind not in ATOMS:
        found = _numpy_atom(kind) or (enum_atom if issubclass(kind, enum.Enum) else None)
        if found is not None:
            ATOMS[kind] = found
        elif module_of(kind) == "torch":
            _register_torch(sys.modules.get("torch"))
    return ATOMS.get(kind)


def _register_torch(torch: Any) -> None:
    if not hasattr(torch, "Size") or torch.dtype in ATOMS:
        return
    ATOMS[torch.dtype] = lambda v: ["T", str(v)[6:]]
    ATOMS[torch.layout] = lambda v: ["T", str(v)[6:]]
    ATOMS[torch.memory_format] = lambda v: ["T", str(v)[6:]]
    ATOMS[torch.device] = lambda v: ["dev", str(v)]
    ATOMS[torch.Size] = lambda v: ["sz", *v]


def _numpy_atom(kind: type) -> Any:
    """The encoder for a numpy scalar or dtype class, or None."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if issubclass(kind, numpy.dtype):
        return lambda v: ["nd", dtype_descr(v)]
    if issubclass(kind, numpy.generic) and kind is not numpy.object_ and kind is not numpy.void:
        return _numpy_scalar
    return None


def decode(value: Any) -> Any:
    """The Python value of an atom. Refused when a class or library it names is missing.

    Names are one object wherever they stand, as those in a program's text are: pickled, they take the bytes that they took."""
    if type(value) is str:
        return sys.intern(value) if value.isascii() and value.isidentifier() else value
    if type(value) is not list:
        return value
    return DECODERS[value[0]](value)


ATOMS.update(
    {
        type(None): _same,
        bool: _same,
        int: _int,
        float: _float,
        str: _str,
        complex: lambda v: ["c", _float(v.real), _float(v.imag)],
        type(Ellipsis): lambda v: ["o", "Ellipsis"],
        type(NotImplemented): lambda v: ["o", "NotImplemented"],
    }
)
DECODERS.update(
    {
        "i": lambda v: int(v[1], 16),
        "f": lambda v: struct.unpack(">d", bytes.fromhex(v[1]))[0],
        "s": lambda v: bytes.fromhex(v[1]).decode("utf-32-le", "surrogatepass"),
        "b": lambda v: bytes.fromhex(v[1]),
        "c": lambda v: complex(decode(v[1]), decode(v[2])),
        "o": _singleton,
        "t": lambda v: tuple([decode(item) for item in v[1:]]),
        "e": _enum_member,
        "ev": lambda v: _enum_class(v[1], v[2])(decode(v[3])),
        "T": lambda v: _torch_constant(v[1]),
        "dev": lambda v: _torch().device(v[1]),
        "sz": lambda v: _torch().Size(v[1:]),
        "nd": lambda v: dtype_from(v[1]),
        "ns": _numpy_scalar_from,
    }
)


def same_atom(a: Any, b: Any) -> bool:
    """Whether two atoms are equal to the last bit (`-0.0` is not `0.0`, `1` is not `True`)."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is str or kind is int or kind is bytes:
        return bool(a == b)
    encode = atom_of(kind)
    return encode is not None and repr(encode(a)) == repr(encode(b))
