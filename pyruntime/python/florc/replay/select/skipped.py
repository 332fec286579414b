"""What a replay did not run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...plan.loops import BOUNDARY
from ...plan.window import block_of


class Skipped:
    """Blocks that were restored, by key, and the first iterations of loops that were jumped over."""

    def __init__(self) -> None:
        self.blocks: set[str] = set()
        self.jumps: dict[str, int] = {}
        """Loop at its place in the nest -> the iteration with which it began."""
        self.told: Callable[[], None] = lambda: None
        """Called when something is skipped that may have written to files that are open."""

    @property
    def names(self) -> set[str]:
        """The blocks that were restored at least once."""
        return set(map(block_of, self.blocks))

    def holds(self, path: str) -> bool:
        """Whether a place in the loop nest lies in them."""
        return self.cause(path) is not None

    def cause(self, path: str) -> str | None:
        """What has to run for a place to run: a block, or the first iterations of a loop (`loops.BOUNDARY`); None: it ran."""
        parts = path.split("/")
        for n, part in enumerate(parts, 1):
            loop, sign, index = part.partition("=")
            if "/".join(parts[:n]) in self.blocks:
                return part.partition("#")[0]
            if sign and int(index) < self.jumps.get("/".join([*parts[: n - 1], loop]), 0):
                return loop + BOUNDARY
        return None

    def causes(self, places: Iterable[str]) -> set[str]:
        """The same of several places."""
        return set(filter(None, map(self.cause, places)))

    def describe(self) -> str:
        """`L1 began with iteration 70`, or nothing."""
        return ", ".join(f"{place} began with iteration {index}" for place, index in self.jumps.items())
