"""The deferred check of state: florc compares what a replay computed again with the checkpoint of the same moment."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from ... import _native, state
from ...plan import places
from ...process import streams
from ...runs import clocks, masks
from ...runs.journal import History
from ...runs.lines import with_recorded_numbers
from .restore import Restorer, recorded_outside

_MOST = 5
"""The most differences of one checkpoint that a report names."""


class Comparer:
    """Compares places with their checkpoints, by hash."""

    def __init__(self, history: History, restorer: Restorer, recorded_line: Callable[[str, int], int]):
        self._history, self._restorer, self._recorded_line = history, restorer, recorded_line
        self.differences: list[str] = []
        self.uncompared: list[str] = []
        """Sentences about checkpoints that could not be compared, because of what their places hold now."""
        self.verified = 0
        """The number of checkpoints that the replay reproduced."""
        self.timed: list[str] = []
        """Places that hold the time of day and therefore differed."""
        self._since = clocks.Since()
        self._unread: set[str] = set()
        """Names in the checkpoint that nothing reads: nobody sees a difference there."""

    def compare(self, checkpoint: _native.Checkpoint, loop: _native.Loop, objects: Sequence[Any], frame: FrameType) -> None:
        """Compare what a loop's places hold now with a checkpoint."""
        try:
            found = places.gather(loop, objects, frame)
        except places.Consumed:  # of the present plan's places, which were none when it was recorded
            found = {}
        # An added statement that calls `meter()` makes the whole meter a place, where it was `meter.total`.
        found.update(places.named(frame, [name for name in checkpoint.places if name not in found]))
        # A bar is told apart from what it runs over only where the present plan has it iterated over.
        held = [name for name in checkpoint.places if name in found or not name.endswith(places.BAR)]
        self._unread = checkpoint.dead.difference(place.name for place in loop.places)
        # nor what the record found changed though no plan foresaw it, where nobody reads it and it is not restored
        known = {self._root(name) for name in (*found, *(place.name for place in loop.places))}
        self._unread |= {self._root(name) for name in held} - known
        missing = [name for name in held if name not in found and self._root(name) not in self._unread]
        held = [name for name in held if name in found]
        if missing:
            self.differences.append(f"{checkpoint.key}: {', '.join(missing)} is unbound, and was not")
            return
        with state.unnoticed():
            names = self._restorer.named(checkpoint, recorded_outside(loop, checkpoint, frame))
        self._compare(checkpoint, {name: found[name] for name in held}, names)

    def _compare(self, checkpoint: _native.Checkpoint, found: dict[str, Any], names: dict[str, Any]) -> None:
        streams.synchronize()
        try:
            encoded = state.encode(found, gradients=checkpoint.gradients, names=names, lapsing=state.Lapsing.ANY)
            leaves = state.on_host(encoded.leaves)
            hashes = _native.chunk_hashes([encoded.graph, *leaves])
            if hashes == checkpoint.chunks:
                self.verified += 1
                return
            recorded = self._history.reader.read_chunk(checkpoint.chunks[0])
        except state.Unsupported as error:  # a thread, say, that is not done yet: whether the rest is the same is not known
            self.uncompared.append(f"{checkpoint.key} is not compared with its checkpoint: {error}")
            return
        except _native.StoreError as error:
            self.differences.append(f"{checkpoint.key}: {error}")
            return

        def grade(dtype: str, one: int, two: int) -> str:
            with contextlib.suppress(_native.StoreError):
                was = self._history.reader.read_chunk(checkpoint.chunks[one + 1])
                return state.grade(dtype, was, state.leaf_bytes(leaves[two]))
            return ""

        differs = state.differences(recorded, checkpoint.chunks[1:], encoded.graph, hashes[1:], grade, self._passes)
        differs = [found for found in differs if not self._is_left_out(found) and self._root(found.place) not in self._unread]
        differs = _without_renamed(differs)
        self.differences.extend(f"{checkpoint.key}: {difference}" for difference in differs[:_MOST])
        self.verified += not differs

    @staticmethod
    def _root(place: str) -> str:
        """The name at which a place begins."""
        return re.split(r"[.\[]", place, maxsplit=1)[0]

    def _is_left_out(self, found: state.Difference) -> bool:
        """Whether it is a gradient that a restored block did not leave behind, as nobody reads it: none, or an older one."""
        return self._restorer.without_gradients and found.place.endswith(".grad")

    def _passes(self, place: str, was: Any, found: Any) -> bool:
        """Whether what differs there is the time of day, or the number of a line that the edit moved, in a text."""
        was, found = state.plain(was), state.plain(found)
        if type(was) is str and type(found) is str and was != found:
            if masks.without_random_names(was) == masks.without_random_names(found):
                return True
            if "\n".join(with_recorded_numbers(line, self._recorded_line) for line in found.split("\n")) == was:
                return True
            # the script's own clock is recorded and given back: a library named something by the date
            if masks.without_dates(was) == masks.without_dates(found):
                self.timed += [place] if place not in self.timed else []
                return True
        passes = self._history.is_duration(place) or clocks.are_stamps(was, found, self._history.clocks(), self._since.spans())
        if passes and place not in self.timed:
            self.timed.append(place)
        return passes


def _without_renamed(differs: list[state.Difference]) -> list[state.Difference]:
    """Differences but for keys that are random names: one that is gone, and one that is new at the same place."""
    sides: dict[str, list[state.Difference]] = {}
    for found in differs:
        place = masks.without_random_names(found.place)
        if place != found.place and found.what in ("only in the first", "only in the second"):
            sides.setdefault(place, []).append(found)
    pairs = [several for several in sides.values() if len(several) == 2 and several[0].what != several[1].what]
    renamed = [found for several in pairs for found in several]
    return [found for found in differs if found not in renamed]
