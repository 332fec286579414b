"""Progress bars of tqdm: what they count and say is state, how and when they draw it is not."""

from __future__ import annotations

from types import GeneratorType

from .. import _native
from ..support.static import attributes_of, is_begun, module_of, mro_of, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

COUNTED = ("n", "last_print_n", "total", "desc", "postfix", "disable", "leave", "unit", "unit_scale")
"""Attributes that a program sets, or reads back."""
TIMED = frozenset({".last_print_n"})
"""Those that depend on when the bar was drawn."""


def is_bar(obj: Any) -> bool:
    """Whether an object is one of tqdm's own bars."""
    return is_bar_class(type(obj))


def is_bar_class(cls: type) -> bool:
    """Whether the objects of a class of tqdm are bars."""
    return _is_of_tqdm(cls) and any(name_of(base) == "tqdm" for base in mro_of(cls))


def unwrapped(value: Any) -> Any:
    """What a progress bar runs over: what the bar itself counts is a state of its own."""
    while _is_of_tqdm(type(value)) and "iterable" in attributes_of(value):
        value = attributes_of(value)["iterable"]
    return value


def bar_of(iterator: Any) -> Any:
    """The progress bar whose generator this is, not yet begun; None when it is no such thing."""
    if type(iterator) is not GeneratorType or iterator.gi_frame is None or is_begun(iterator):
        return None
    found = _native.names_of(iterator.gi_frame).get("self") if iterator.gi_code.co_name == "__iter__" else None
    return found if _is_of_tqdm(type(found)) and hasattr(found, "iterable") else None


def begin_at(bar: Any, count: int, rest: Iterator[Any]) -> None:
    """Have a bar that has not begun count on from `count` and run over `rest`."""
    bar.initial = bar.n = bar.last_print_n = bar.n + count
    bar.iterable = _Begun(bar, rest)


class _Begun:
    """What a bar runs over until it begins: from then on the bar has what the script gave it."""

    def __init__(self, bar: Any, iterator: Iterator[Any]):
        self._bar, self._iterator, self._given = bar, iterator, bar.iterable

    def __iter__(self) -> Iterator[Any]:
        self._bar.iterable = self._given
        return self._iterator


def _is_of_tqdm(cls: type) -> bool:
    return module_of(cls).partition(".")[0] == "tqdm"
