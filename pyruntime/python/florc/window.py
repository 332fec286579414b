"""The iterations that a replay answers for: what comes before them only brings their state about."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

END = 1 << 62
"""Beyond every iteration."""


class Level(NamedTuple):
    """Iterations `start` to `stop` (not included), counted from 0, of a followed loop."""

    loop: str
    start: int
    stop: int


def iterations_of(path: str) -> List[Tuple[str, int]]:
    """The followed loops that a place in the loop nest is in, outermost first, and their iterations."""
    found = []
    for part in path.split("/"):
        loop, sign, index = part.partition("=")
        if sign:
            found.append((loop, int(index)))
    return found


class Window:
    """Iterations of one loop; `levels` begins with the loops around it, of each one iteration.

    `before` and `after` tell whether what stands before and after the outermost of these loops belongs to it.
    """

    def __init__(self, levels: List[Level], before: bool = False, after: bool = False):
        self.levels, self.before, self.after = levels, before, after

    @property
    def outermost(self) -> str:
        """The loop that decides what is before and what after."""
        return self.levels[0].loop

    def side(self, path: str) -> Optional[int]:
        """-1 before the window, 0 inside, 1 beyond it; None outside its loops."""
        inside = dict(reversed(iterations_of(path)))
        for level in self.levels:
            index = inside.get(level.loop)
            if index is None:
                return None
            if index < level.start:
                return -1
            if index >= level.stop:
                return 1
        return 0

    def holds(self, path: str, begun: bool) -> bool:
        """Whether a place belongs to the window; `begun`: whether its outermost loop was met by then."""
        side = self.side(path)
        if side is not None:
            return side == 0
        if any(loop == self.outermost for loop, _ in iterations_of(path)):
            return False
        return self.after if begun else self.before

    def start_of(self, place: str) -> int:
        """The iteration of a loop at this place of the nest in which the window begins; 0 when it is none of its loops."""
        *_, loop = place.split("/")
        loops = [level.loop for level in self.levels]
        if loop not in loops:
            return 0
        around = self.levels[: loops.index(loop)]
        inside = dict(iterations_of(place.rpartition("/")[0]))
        if any(inside.get(level.loop) != level.start for level in around):
            return 0
        return self.levels[loops.index(loop)].start

    def is_in(self, key: str) -> bool:
        """Whether a block (its key) is one of the loops, on the way to the window."""
        *outer, last = key.split("/")
        block, _, occurrence = last.partition("#")
        loops = [level.loop for level in self.levels]
        if occurrence != "0" or block not in loops:
            return False
        around = self.levels[: loops.index(block)]
        return not around or Window(around).side("/".join(outer)) == 0

    def to_json(self) -> Dict[str, Any]:
        """For another process."""
        return {"levels": self.levels, "before": self.before, "after": self.after}

    @classmethod
    def from_json(cls, read: Dict[str, Any]) -> "Window":
        """What `to_json` made."""
        return cls([Level(*level) for level in read["levels"]], read["before"], read["after"])
