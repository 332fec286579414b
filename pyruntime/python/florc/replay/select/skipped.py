"""What a replay did not run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ... import _native
from ...plan.loops import BOUNDARY


class Skipped:
    """The blocks that were restored, by key, and the first iterations of loops that a replay jumped over."""

    def __init__(self) -> None:
        self.blocks: set[str] = set()
        self.jumps: dict[str, int] = {}
        """Loop at its place in the nest -> the iteration with which it began."""
        self.told: Callable[[], None] = lambda: None
        """Called when the replay skips a block that may have written to open files."""

    @property
    def names(self) -> set[str]:
        """The blocks that were restored at least once."""
        return {_native.Path(key).name for key in self.blocks}

    def holds(self, path: str) -> bool:
        """Whether a place in the loop nest is in what was skipped."""
        return self.cause(path) is not None

    def cause(self, path: str) -> str | None:
        """What must run so that a place runs: a block, or the first iterations of a loop (`loops.BOUNDARY`). None: the place
        ran."""
        for at in _native.Path(path).lineage:
            if str(at) in self.blocks:
                return at.name
            if at.index is not None and at.index < self.jumps.get(str(at.place), 0):
                return at.loop + BOUNDARY
        return None

    def causes(self, places: Iterable[str]) -> set[str]:
        """The causes of several places."""
        return set(filter(None, map(self.cause, places)))
