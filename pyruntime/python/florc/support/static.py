"""Reading classes and objects without running any of their code: no metaclass, `__getattribute__`, property or `__class__` of the
user's is asked (invariant 1).

`issubclass(type(obj), base)` serves where `isinstance(obj, base)` would ask `obj.__class__`.
"""

from __future__ import annotations

import sys
from types import FunctionType, GeneratorType, MemberDescriptorType, MethodType

from .weak_table import WeakTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MISSING = object()

mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
"""`cls.__mro__`."""
dict_of: Callable[[type], dict[str, Any]] = type.__dict__["__dict__"].__get__
"""`cls.__dict__`."""
name_of: Callable[[type], str] = type.__dict__["__name__"].__get__
"""`cls.__name__`."""
qualname_of: Callable[[type], str] = type.__dict__["__qualname__"].__get__
"""`cls.__qualname__`."""


def module_of(cls: type) -> str:
    """`cls.__module__`; empty where it is no text."""
    try:
        found = type.__dict__["__module__"].__get__(cls)
    except AttributeError:
        return ""
    return found if type(found) is str else ""


def static(cls: type, name: str, default: Any = None) -> Any:
    """What a class or one of its bases defines under a name, as it stands there."""
    for base in mro_of(cls):
        found = dict_of(base).get(name, _MISSING)
        if found is not _MISSING:
            return found
    return default


def defines(cls: type, name: str) -> bool:
    """Whether a class has an attribute, as `hasattr(cls, name)` says without a metaclass in the way."""
    return static(cls, name, _MISSING) is not _MISSING


def attributes_of(obj: object) -> dict[str, Any]:
    """`obj.__dict__`; empty for an object without one."""
    try:
        found: dict[str, Any] = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return {}
    return found


def same_class(cls: type, classes: tuple[type, ...]) -> bool:
    """`cls in classes`, by identity."""
    return any(cls is other for other in classes)


def own_slots(cls: type) -> list[tuple[str, MemberDescriptorType]]:
    """(name, descriptor) of what `__slots__` of this very class declares."""
    names = dict_of(cls).get("__slots__", ())
    if issubclass(type(names), str):
        names = (names,)
    found = []
    for name in names:
        if name in ("__dict__", "__weakref__"):
            continue
        if name.startswith("__") and not name.endswith("__"):
            name = "_" + name_of(cls).lstrip("_") + name
        slot = dict_of(cls).get(name)
        if type(slot) is MemberDescriptorType:  # what a descriptor of the user's gives is not a slot
            found.append((name, slot))
    return found


_SLOTS = WeakTable()


def all_slots(cls: type) -> list[tuple[str, MemberDescriptorType]]:
    """Slots of a class and its bases, base first; cached."""
    found: list[tuple[str, MemberDescriptorType]] | None = _SLOTS.get(cls)
    if found is None:
        found = [slot for base in reversed(mro_of(cls)) for slot in own_slots(base)]
        _SLOTS[cls] = found
    return found


def is_begun(generator: GeneratorType[Any, Any, Any]) -> bool:
    """Whether a generator runs, or has given something out and is not over (`inspect`, which knows it too, takes long to
    import)."""
    if generator.gi_running:
        return True
    frame = generator.gi_frame
    return bool(getattr(generator, "gi_suspended", frame is not None and frame.f_lasti != -1))


class RunsCode(Exception):
    """To read this would run code of the user's."""


is_users: Callable[[str], bool] = lambda file: False
"""Whether code of a file is the user's; a session says so."""


def read_attribute(obj: object, name: str) -> Any:
    """`getattr(obj, name)` as long as only Python's and libraries' code runs. Raises AttributeError, and RunsCode."""
    cls = type(obj)
    if is_users_code(static(cls, "__getattribute__")):
        raise RunsCode
    found = static(cls, name, _MISSING)
    kind = type(found)
    if kind is MemberDescriptorType:
        return found.__get__(obj, cls)
    own = attributes_of(obj)
    if name in own and (found is _MISSING or not defines(kind, "__set__")):
        return own[name]
    for parts in _parts_of_module(obj, own):
        if name in parts:
            return parts[name]
    if found is _MISSING:
        if is_users_code(static(cls, "__getattr__")):
            raise RunsCode
    elif kind is FunctionType:
        return MethodType(found, obj)
    elif not defines(kind, "__get__"):
        return found
    elif is_users_code(found if kind is property else static(kind, "__get__")):
        raise RunsCode
    return getattr(obj, name)


def _parts_of_module(obj: object, own: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    module = getattr(sys.modules.get("torch.nn"), "Module", None)
    if module is None or not issubclass(type(obj), module):
        return ()
    return tuple(own.get(kind) or {} for kind in ("_parameters", "_buffers", "_modules"))


def is_users_code(function: Any) -> bool:
    """Whether a function, or what reads a property, is the user's."""
    if type(function) is property:
        function = function.fget
    code = getattr(function, "__code__", None) if type(function) is FunctionType else None
    return code is not None and is_users(code.co_filename)
