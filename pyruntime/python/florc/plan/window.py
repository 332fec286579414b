"""The iterations that a replay answers for: what comes before them only brings their state about."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


END = 1 << 62
"""Beyond every iteration."""


def iterations_of(path: str) -> list[tuple[str, int]]:
    """The followed loops that a place in the loop nest is in, outermost first, and their iterations."""
    found = []
    for part in path.split("/"):
        loop, sign, index = part.partition("=")
        if sign:
            found.append((loop, int(index)))
    return found


def block_of(key: str) -> str:
    """The id of a block, of the key of one of its runs: L2 of `L1=3/L2#0`."""
    return key.rpartition("/")[2].partition("#")[0]


def loop_of(place: str) -> str:
    """The id in the plan of a loop at a place of the nest: one that runs again in the same place is `L2.1`."""
    last = place.rpartition("/")[2]
    name, _, again = last.rpartition(".")
    return name if again.isdigit() else last


def _order(path: str, cursor: list[str]) -> int | None:
    """-1 for a place before an iteration of the nest, 0 inside it, 1 after it; None where nothing tells."""
    parts = path.split("/")
    for part, wanted in zip(parts, cursor):
        if part == wanted:
            continue
        loop, sign, index = part.partition("=")
        wanted_loop, _, wanted_index = wanted.partition("=")
        if not sign or loop != wanted_loop:
            return None
        return -1 if int(index) < int(wanted_index) else 1
    return 0 if len(parts) >= len(cursor) else None


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
        self.outermost = place.split("=")[0]
        """The place of the loop that decides what is before and what after."""
        self._first, self._last = f"{place}={start}".split("/"), f"{self.stop_place}={stop}".split("/")

    @property
    def block(self) -> str:
        """The id of its loop in the plan."""
        return loop_of(self.place)

    def side(self, path: str) -> int | None:
        """-1 before the window, 0 inside, 1 beyond it; None outside its loops."""
        first, last = _order(path, self._first), _order(path, self._last)
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
        return path.startswith(self.outermost + "=")

    def is_over(self, path: str, begun: bool) -> bool:
        """Whether nothing that the window holds can come any more."""
        side = self.side(path)
        return side == 1 or side is None and begun and not self.after and not self.begins(path)

    def why_run(self, key: str) -> str | None:
        """Why a block (its key) must run whatever it holds."""
        leads = self.place.startswith(key + "/") or self.stop_place.startswith(key + "/")
        return "the iterations asked for are in it" if leads else None

    def first_of(self, place: str, begun: bool) -> int:
        """The first iteration of the loop at a place of the nest that the window holds or leads through; END for none."""
        if place == self.place:
            return self.start
        if self.place.startswith(place + "="):
            return int(self.place[len(place) + 1 :].split("/")[0])
        return 0 if self.holds(place + "=0", begun) else END

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

    def side(self, path: str) -> int | None:
        """As of a range; within it, an iteration that is not asked for lies before."""
        side = super().side(path)
        if side == 0:
            index = int(path.split("/")[len(self._first) - 1].partition("=")[2])
            return -(index not in self.indices)
        return side

    def why_run(self, key: str) -> str | None:
        """What is verified runs."""
        return super().why_run(key) or ("it is verified" if self.side(key) == 0 else None)
