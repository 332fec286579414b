"""A table with objects as keys that keeps none of them alive and calls none of their methods: an object may have its own
`__hash__`.
"""

from __future__ import annotations

from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class WeakTable:
    """Object (mostly a class) -> value. An entry is gone when its object is."""

    __slots__ = ("__weakref__", "_known")

    def __init__(self, entries: Iterable[tuple[type, Any]] = ()):
        self._known: dict[int, tuple[ref[type], Any]] = {}
        for cls, value in entries:
            self[cls] = value

    def __setitem__(self, cls: type, value: Any) -> None:
        address, known = id(cls), self._known
        known[address] = (ref(cls, lambda _: known.pop(address, None)), value)

    def get(self, cls: type) -> Any:
        """The value; None for a class that is not there."""
        entry = self._known.get(id(cls))
        return None if entry is None else entry[1]

    def __getitem__(self, cls: type) -> Any:
        return self._known[id(cls)][1]

    def __contains__(self, cls: type) -> bool:
        return id(cls) in self._known

    def __len__(self) -> int:
        return len(self._known)

    def update(self, entries: dict[type, Any]) -> None:
        """Enter several."""
        for cls, value in entries.items():
            self[cls] = value

    def clear(self) -> None:
        """Empty it."""
        self._known.clear()
