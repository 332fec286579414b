"""Functions of the script that an added statement registers: `net.fc2.register_forward_hook(show)`. The script may call `show`
itself, or register it, too: only what it does for the added statement is that statement's answer."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import Any, TypeVar, cast

from .. import session
from .output import probed

_T = TypeVar("_T")


class Registered:
    """Such a function. For everybody who asks, it is the function itself."""

    def __init__(self, name: str, function: Any):
        functools.update_wrapper(self, function)
        self._florc_name = name

    def __call__(self, *args: Any, **named: Any) -> Any:
        """What it does, for the statement of that name."""
        return probed(self._florc_name, lambda: self.__wrapped__(*args, **named))

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "__wrapped__"), name)

    def __reduce__(self) -> Any:
        return _itself, (self.__wrapped__,)

    def __eq__(self, other: object) -> bool:
        return bool(self.__wrapped__ == (other.__wrapped__ if isinstance(other, Registered) else other))

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


def _itself(function: _T) -> _T:
    return function


def registered(name: str, value: _T) -> _T:
    """What an added statement hands to what registers hooks. A function that was added has its own mark, and is named by that."""
    called: Any = value.func if isinstance(value, functools.partial) else value
    if not isinstance(called, (FunctionType, MethodType, type)):
        called = vars(type(called)).get("__call__")
    code, active = getattr(called, "__code__", None), cast("session.Replaying | None", session.current)
    if code is None or active is not None and active.is_added(code.co_filename, code.co_firstlineno):
        return value
    return Registered(name, value)  # type: ignore[return-value]  # it stands for it
