"""What the iterations of a recorded run were, and how long they took."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from .. import _native
from ..project.script import Unusable

_WHY = " (florc plan says of each loop what is done with it, and why)"


def outermost(path: str) -> _native.Path:
    """The iteration of the outermost followed loop that a place is in, a loop that is a block, too (`L1#0/L1=3`); outside of
    all, the outermost step."""
    found = _native.Path(path).iterations
    return _native.Path(found[0][0]).at(found[0][1]) if found else _native.Path(path).head


class Followed(NamedTuple):
    """A followed loop of the recorded run at one place of the nest: `L1`, `L1=2/L2#0/L2`."""

    place: str
    begun: dict[int, float]
    """Second of the run at which an iteration began; of fast iterations only some are known."""
    numbers: dict[int, int]
    """The whole number that an iteration was over."""
    ended: dict[int, float]
    """The number of iterations, when the iterator had no more, and the second of the run when that was seen."""

    @property
    def loop(self) -> str:
        """Its id."""
        return _native.Path(self.place).name

    @property
    def base(self) -> str:
        """Its id in the plan: a loop that runs again in the same place is `L2.1`."""
        return _native.Path(self.place).loop

    @property
    def count(self) -> int:  # type: ignore[override]  # nobody counts equal fields of it
        """How many iterations were begun."""
        return next(iter(self.ended), max(self.begun, default=-1) + 1)

    def index_of(self, number: int, at_least: bool = False) -> int:
        """The iteration over a number, or the first over `at_least` that; where no numbers are known: that iteration.

        Raises Unusable when there is none.
        """
        if not self.numbers:
            return number
        step = self._step
        for first, stop in self._stretches():
            away = number - self.numbers[first]
            index = first + (away // step if step else 0)
            if not away or step and not away % step and first <= index < stop:
                return index if away else first
        if at_least and step > 0:
            for first, stop in self._stretches():
                index = first + max(0, -(-(number - self.numbers[first]) // step))
                if index < stop:
                    return index
            return self.count
        if step and not away % step and index >= self.count:
            return index  # the caller says how many there are
        raise Unusable("F104", f"{self.loop} has no iteration {number}")

    def number_of(self, index: int) -> int:
        """The number that an iteration is over, as far as is known; else its own. From one that is known on they go on by as much
        as the second is more than the first, up to the next one that is known."""
        if not self.numbers or index in self.numbers:
            return self.numbers.get(index, index)
        known = list(self.numbers)
        at = known[max(0, bisect_right(known, index) - 1)]
        return self.numbers[at] + (index - at) * self._step

    @property
    def _step(self) -> int:
        """By how much the numbers go on."""
        if 0 in self.numbers and 1 in self.numbers:
            return self.numbers[1] - self.numbers[0]
        first, last = min(self.numbers), max(self.numbers)  # runs of format 2 have some of them
        return round((self.numbers[last] - self.numbers[first]) / (last - first)) if last > first else 1

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """The iterations that are known, each with the next one, or the end."""
        known = list(self.numbers)
        return zip(known, [*known[1:], max(self.count, known[-1] + 1)])


class Timeline:
    """Every followed loop that was told of, by its place."""

    def __init__(self) -> None:
        self.loops: dict[str, Followed] = {}
        self._order: list[tuple[float, str]] = []

    def iteration(self, path: str, at: float) -> None:
        """An iteration began, and so did those around it."""
        found = _native.Path(path).iterations
        for place, index in found:
            self.loops.setdefault(place, Followed(place, {}, {}, {})).begun.setdefault(index, at)
        self._order.append((at, found[-1][0]))

    def over(self, path: str) -> None:
        """There was no such iteration: the iterator had no more."""
        place, index = _native.Path(path).iterations[-1]
        if place in self.loops:
            at = self.loops[place].begun.pop(index, None)
            if at is not None:
                self.loops[place].ended[index] = at

    def value(self, path: str, number: int) -> None:
        """An iteration was over a whole number."""
        place, index = _native.Path(path).iterations[-1]
        if place in self.loops:
            self.loops[place].numbers[index] = number

    def no_numbers(self, path: str) -> None:
        """The loop of an iteration is over no numbers after all."""
        place, _ = _native.Path(path).iterations[-1]
        if place in self.loops:
            self.loops[place].numbers.clear()

    def seconds(self, place: str, end: float | None) -> list[float]:
        """Seconds of each iteration; those of iterations that are not known one by one are shared evenly."""
        loop = self.loops[place]
        known = sorted(loop.begun.items())
        begun = known[-1][1] if known else 0.0
        inside = _native.Path(place)
        later = (at for at, other in self._order if at > begun and other not in inside)
        over = loop.ended or {loop.count: max(begun, min(later, default=begun if end is None else end))}
        stops = [*known[1:], *over.items()]
        found = [0.0] * loop.count
        for (index, at), (next_index, next_at) in zip(known, stops):
            for i in range(index, next_index):
                found[i] = (next_at - at) / (next_index - index)
        return found

    def main_loop(self, end: float | None) -> Followed:
        """The outermost loop that ran longest (paper, Section 4.3). Raises Unusable when no loop was followed."""
        outermost = [loop for loop in self.loops.values() if not _native.Path(loop.place).iterations]
        if not outermost:
            raise Unusable("F104", f"the recorded run has no main loop, so there are no iterations to ask for{_WHY}")
        return max(outermost, key=lambda loop: sum(self.seconds(loop.place, end)))

    def runs_of(self, base: str) -> list[Followed]:
        """Every run of a loop, in the order in which they began."""
        return sorted(
            (loop for loop in self.loops.values() if loop.base == base), key=lambda loop: min(loop.begun.values(), default=0.0)
        )

    def named(self, name: str, within: _native.Path, variables: dict[str, list[str]], asked: str) -> Followed:
        """The loop with this id or loop variable, inside the iteration `within`. Raises Unusable when none is.

        `asked`: what was asked for of it, `epoch=2`.
        """
        below = [loop for loop in self.loops.values() if loop.place in within]
        depth = len(within.iterations)
        inside = [loop for loop in below if len(_native.Path(loop.place).iterations) == depth]
        found, deeper = (
            [loop for loop in among if name == loop.loop or name in variables.get(loop.base, ())] for among in (inside, below)
        )
        if not found:
            known = sorted({variable for loop in inside for variable in variables.get(loop.base, ()) or [loop.loop]})
            where = f" inside {self.words(str(within), variables)}" if within else ""
            raise Unusable(
                "F104",
                f"no main loop{where} runs over {name}"
                + (f"; there are: {', '.join(known)}" if known else "")
                + (self._way_to(deeper[0], asked, variables) if deeper else _WHY),
            )
        return found[0]

    def _way_to(self, loop: Followed, asked: str, variables: dict[str, list[str]]) -> str:
        around = self.words(loop.place, variables)
        return f"; name the iterations around it, too: {around},{asked}"

    def words(self, path: str, variables: dict[str, list[str]]) -> str:
        """The iterations of a path by loop variable: `fold=0,epoch=2`."""
        found = []
        for place, index in _native.Path(path).iterations:
            followed, loop = self.loops.get(place), _native.Path(place)
            number = followed.number_of(index) if followed else index
            found.append(f"{next(iter(variables.get(loop.loop, ())), loop.name)}={number}")
        return ",".join(found)
