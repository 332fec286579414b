"""What only a function leads to, as a step of a place's name: `more.__closure__[it]`, `more.__defaults__[0]`,
`more.__kwdefaults__[it]`.

A cell is shared by all functions that close over it, and by the function around them while that runs: to bind it is to bind the
name in all of them, as the script does."""

from __future__ import annotations

import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = ("__closure__", "__defaults__", "__kwdefaults__")


def _parted(text: str) -> tuple[str, str] | None:
    """The kind of a step, and what stands in its brackets; None for another step. (To import `re` takes long.)"""
    kind, bracket, key = text.partition("[")
    return (kind, key[:-1]) if bracket and key.endswith("]") and kind in _KINDS else None


def is_step(text: str) -> bool:
    """Whether a step is one of these."""
    return _parted(text) is not None


def variable(text: str) -> str:
    """The name of the variable that a step leads to, empty for a positional default or another step."""
    found = _parted(text)
    return "" if found is None or found[0] == "__defaults__" else found[1]


def read(function: Any, step: str) -> Any:
    """What is there. Raises AttributeError where nothing is: an empty cell, or another function than the recorded one."""
    kind, key = _of(function, step)
    try:
        if kind == "__closure__":
            return _cell(function, key).cell_contents
        return function.__defaults__[int(key)] if kind == "__defaults__" else function.__kwdefaults__[key]
    except (TypeError, LookupError, ValueError):  # ValueError: an empty cell
        raise AttributeError(step) from None


def bind(function: Any, step: str, value: Any) -> None:
    """Put an object there. Raises AttributeError where there is no such place."""
    kind, key = _of(function, step)
    try:
        if kind == "__closure__":
            _cell(function, key).cell_contents = value
        elif kind == "__kwdefaults__":
            function.__kwdefaults__[key] = value
        else:
            held = list(function.__defaults__)
            held[int(key)] = value
            function.__defaults__ = tuple(held)
    except (TypeError, LookupError, ValueError):
        raise AttributeError(step) from None


def _of(function: Any, step: str) -> tuple[str, str]:
    found = _parted(step)
    if found is None or type(function) is not types.FunctionType:
        raise AttributeError(step)
    return found


def _cell(function: types.FunctionType, name: str) -> types.CellType:
    cells: tuple[types.CellType, ...] = function.__closure__ or ()
    return cells[function.__code__.co_freevars.index(name)]
