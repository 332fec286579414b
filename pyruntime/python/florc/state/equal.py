"""Whether two values that cannot change are equal: then nobody can tell which of them a program holds."""

from __future__ import annotations

import functools
import sys
import types
import weakref

from .. import _native
from ..support.static import all_slots, attributes_of, defines, module_of, name_of
from .atoms import atom_of, same_atom
from .kinds import layout_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

PLAIN: dict[type, Callable[[Any], Any]] = {
    int: int.__pos__,
    float: float.__pos__,
    complex: complex.__pos__,
    str: str.__str__,
    bytes: lambda v: bytes(memoryview(v)),
    tuple: lambda v: tuple(tuple.__iter__(v)),
    frozenset: frozenset.copy,
}
"""What an object derived from a class of values is without that: exact, and by the base's own methods."""
ARGUMENTS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "datetime.datetime": lambda v: v.__reduce__()[1],
    "datetime.date": lambda v: v.__reduce__()[1],
    "datetime.time": lambda v: v.__reduce__()[1],
    "datetime.timedelta": lambda v: (v.days, v.seconds, v.microseconds),
    "datetime.timezone": lambda v: v.__getinitargs__(),
    "decimal.Decimal": lambda v: (str(v),),
    "fractions.Fraction": lambda v: (v.numerator, v.denominator),
    "uuid.UUID": lambda v: (str(v),),
    "builtins.slice": lambda v: (v.start, v.stop, v.step),
    "builtins.range": lambda v: (v.start, v.stop, v.step),
    "re.Pattern": lambda v: (v.pattern, v.flags),
    **dict.fromkeys(
        ("pathlib.PurePosixPath", "pathlib.PureWindowsPath", "pathlib.PosixPath", "pathlib.WindowsPath"), lambda v: (str(v),)
    ),
}
"""Class -> the arguments that make an equal object. The modules are imported by programs that have such objects."""


def constructor_name(cls: type) -> str:
    """`pathlib.PosixPath`: the public name, whatever private module a Python version keeps the class in."""
    return f"{module_of(cls).split('.', 1)[0].lstrip('_')}.{name_of(cls)}"


def is_data(cls: type) -> bool:
    """Whether objects of exactly this class are rebuilt by its constructor."""
    name = constructor_name(cls)
    return name in ARGUMENTS and _named(name) is cls


def arguments_of(obj: Any) -> tuple[Any, ...] | None:
    """The arguments that make an equal object, of one that `is_data`."""
    return ARGUMENTS[constructor_name(type(obj))](obj) if is_data(type(obj)) else None


def _named(name: str) -> Any:
    module, _, own = name.partition(".")
    return getattr(sys.modules.get(module), own, None)


_PROXIES = (weakref.ProxyType, weakref.CallableProxyType)


def same_value(one: Any, other: Any) -> bool:
    """Whether two objects are the same, or values of one class that cannot change and are equal to the last bit. What can change
    is only the same as itself. No code of the user's runs."""
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if same_atom(one, other):
            continue
        if type(one) is not type(other) or _is_atom(type(one)):
            return False
        parts, others = _parts(one), _parts(other)
        if parts is None or others is None or len(parts) != len(others):
            return False
        pairs += zip(parts, others)
    return True


def is_value(obj: Any) -> bool:
    """Whether an object cannot change, whatever it holds."""
    return _is_atom(type(obj)) or _parts(obj) is not None


def _is_atom(kind: type) -> bool:
    return kind is bytes or atom_of(kind) is not None


def _parts(obj: Any) -> list[Any] | None:
    """What makes an object the value that it is; None of one that can change."""
    kind = type(obj)
    if issubclass(kind, functools.partial):
        func, args, keywords = parts_of_partial(obj)
        return [func, *args, *_flat(keywords.items()), *_flat(attributes_with_slots(obj))]
    if is_enumeration(kind):
        return [member_of(obj)]
    if kind is types.MethodType:
        return [obj.__func__, obj.__self__]
    if kind is types.BuiltinMethodType or kind is types.MethodWrapperType:
        return [obj.__self__, obj.__name__]
    if kind is weakref.ref:
        return [obj()]
    if kind in _PROXIES:
        return [_native.referent(obj)]
    arguments = arguments_of(obj)
    if arguments is not None:
        return list(arguments)
    base = layout_base(kind)
    if base is None or base not in PLAIN:
        return None
    plain = PLAIN[base](obj)
    inside = list(plain) if base in (tuple, frozenset) else [plain]
    return inside if kind is base else [*inside, *_flat(attributes_with_slots(obj))]


def _flat(items: Iterable[tuple[str, Any]]) -> list[Any]:
    return [part for item in items for part in item]


def attributes_with_slots(obj: Any) -> list[tuple[str, Any]]:
    """The names of an object's attributes, and what they hold."""
    found = list(attributes_of(obj).items())
    for name, slot in all_slots(type(obj)):
        try:
            found.append((name, slot.__get__(obj, type(obj))))
        except AttributeError:
            continue
    return found


def parts_of_partial(obj: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Function, arguments and named arguments, whatever a derived class calls so."""
    func, args, keywords = (functools.partial.__dict__[name].__get__(obj) for name in ("func", "args", "keywords"))
    return func, args, keywords


def is_enumeration(cls: type) -> bool:
    """Whether a class is an enumeration of C++, as pybind11 makes them."""
    return name_of(type(cls)) == "pybind11_type" and defines(cls, "__members__")


def member_of(obj: Any) -> str:
    """The name of a member of an enumeration of C++."""
    name: str = obj.name
    return name
