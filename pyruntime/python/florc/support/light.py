"""What start-up needs of `typing`, `contextlib` and `json`: importing those, and what they import, takes longer than all that
`florc record` does before the first line of a short script."""

from __future__ import annotations

import os
from _operator import itemgetter
from gc import disable, enable, isenabled

from .. import _native

OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
"""The folder of florc's own files, with a separator at its end: what their paths begin with."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Named(tuple[object, ...]):
    """`typing.NamedTuple`, as far as florc needs it."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _defaults: dict[str, Any] = {}

    def __init_subclass__(cls) -> None:
        names = tuple(cls.__annotations__)
        cls._defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        cls._fields = names
        for number, name in enumerate(names):
            setattr(cls, name, property(itemgetter(number)))

    def __new__(cls, *values: Any, **named: Any) -> Any:
        fields = cls._fields
        if len(values) == len(fields) and not named:  # mostly
            return tuple.__new__(cls, values)
        given = {**cls._defaults, **dict(zip(fields, values)), **named}
        if len(given) != len(fields) or len(values) > len(fields) or not named.keys().isdisjoint(fields[: len(values)]):
            raise TypeError(f"{cls.__name__} has the fields {', '.join(fields)}")
        return tuple.__new__(cls, [given[name] for name in fields])

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self))

    def _replace(self, **changed: Any) -> Any:
        return type(self)(**{**self._asdict(), **changed})


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    NamedTuple = _Named


class suppress:
    """`contextlib.suppress`."""

    __slots__ = ("_kinds",)

    def __init__(self, *kinds: type[BaseException]):
        self._kinds = kinds

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
        return kind is not None and issubclass(kind, self._kinds)


class nullcontext:
    """`contextlib.nullcontext`, of nothing."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def dumps(value: Any, indent: int = 0) -> str:
    """`json.dumps(value, indent=indent or None)`."""
    try:
        return _native.to_json(value, indent)
    except TypeError:  # a subclass of a type that it knows, or what is no JSON at all
        import json

        return json.dumps(value, indent=indent or None)


class Uncollected:
    """No collection of garbage begins meanwhile: a full one takes 0.2 s beside torch, and is due to what the script made."""

    def __enter__(self) -> None:
        self._collects = isenabled()
        disable()

    def __exit__(self, *_: object) -> None:
        if self._collects:
            enable()
