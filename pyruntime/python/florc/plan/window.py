"""The iterations that a replay answers for: what comes before them only brings their state about."""

from __future__ import annotations

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


END = 1 << 62
"""Beyond every iteration."""


class Window:
    """Iterations `start` to `stop` (not included), counted from 0, of the followed loop at a place of the loop nest.

    `place` names the iterations around the loop, too: `L1`, `L1#0/L1` (a loop that is a block itself),
    `L1=2/L2#0/L2`. The end may be in another run of the loop, at `stop_place`. `before` and `after` tell whether what
    stands before and after the outermost of these loops belongs to the window.
    """

    def __init__(
        self, place: str, start: int, stop: int, before: bool = False, after: bool = False, stop_place: str | None = None
    ):
        self.place, self.start, self.stop, self.before, self.after = place, start, stop, before, after
        self.stop_place = stop_place or place
        loop = _native.Path(place)
        self.outermost = str(loop.outermost)
        """The place of the loop that decides what is before and what after."""
        self._first, self._last = loop.at(start), _native.Path(self.stop_place).at(stop)

    @property
    def block(self) -> str:
        """The id of its loop in the plan."""
        return self._first.loop

    def side(self, path: str) -> int | None:
        """-1 before the window, 0 inside, 1 beyond it; None outside its loops."""
        first, last = self._first.side(path), self._last.side(path)
        if first is None or first < 0:
            return first
        return last if last is None else int(last >= 0)

    def holds(self, path: str, begun: bool) -> bool:
        """Whether a place belongs to the window; `begun`: whether its outermost loop was met by then."""
        side = self.side(path)
        if side is not None:
            return side == 0
        return self.after if begun else self.before

    def begins(self, path: str) -> bool:
        """Whether an iteration is one of its outermost loop."""
        return path in self._first.outermost

    def is_over(self, path: str, begun: bool) -> bool:
        """Whether nothing that the window holds can come any more."""
        side = self.side(path)
        return side == 1 or side is None and begun and not self.after and not self.begins(path)

    def why_run(self, key: str) -> str | None:
        """Why a block (its key) must run whatever it holds."""
        block = _native.Path(key)
        return "the iterations asked for are in it" if self._first in block or self._last in block else None

    def first_of(self, place: str, begun: bool) -> int:
        """The first iteration of the loop at a place of the nest that the window holds or leads through; END for none."""
        if place == self.place:
            return self.start
        loop = _native.Path(place)
        on_the_way = loop.below(self.place)
        if on_the_way is not None and on_the_way.index is not None:
            return on_the_way.index
        return 0 if self.holds(str(loop.at(0)), begun) else END

    def is_next(self, key: str) -> bool:
        """Whether a block is in the last iteration before the window."""
        return Window(self.place, self.start - 1, self.start).side(key) == 0

    def describe(self) -> str:
        """`iterations 6 to 11 of L1`."""
        to = "the end" if self.stop >= END else str(self.stop - 1)
        if self.stop_place != self.place:
            return f"iteration {self.start} of {self.place} to iteration {to} of {self.stop_place}"
        return f"iterations {self.start} to {to} of {self.place}"

    def to_json(self) -> dict[str, Any]:
        """For another process."""
        return {
            "place": self.place,
            "start": self.start,
            "stop": self.stop,
            "before": self.before,
            "after": self.after,
            "stop_place": self.stop_place,
        }


class Samples(Window):
    """Single iterations of a loop, in which every block runs again. `start`: the iteration to come from."""

    def __init__(self, place: str, indices: list[int], start: int | None = None):
        super().__init__(place, min(indices) if start is None else start, max(indices) + 1)
        self.indices = indices
        self._asked = {self._first.at(index) for index in indices}

    def side(self, path: str) -> int | None:
        """As of a range; within it, an iteration that is not asked for lies before."""
        side = super().side(path)
        if side == 0:
            return -self._asked.isdisjoint(_native.Path(path).lineage)
        return side

    def why_run(self, key: str) -> str | None:
        """What is verified runs."""
        return super().why_run(key) or ("it is verified" if self.side(key) == 0 else None)
