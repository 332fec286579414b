"""Boundary checkpoints: the state in which an iteration begins, of a loop that trains itself. A replay can begin there.

There is no block to skip in such a loop (`for step in range(100_000): …`): without them a replay would run all of it.
"""

from __future__ import annotations

import sys
import time
from types import FrameType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _native, places, session
from .answer import Open
from .materializer import Materializer
from .places import BOUNDARY

LOOK_S = 0.02
"""Between two looks at a loop lies at least so much time,"""
SPACING = 24
"""at least this part of what the loop took so far: a replay loses no more of it on its way,"""
DEAR = 50
"""and so many times what a look takes."""


def boundary(loop: str, *objects: Any, maybe: Tuple[str, ...] = (), globals: Tuple[str, ...] = ()) -> bool:
    """An iteration begins: whether to put the state of another one in its place. `objects`, `maybe` and `globals` as for
    `skipblock.end`."""
    active = session.current
    return active is not None and _native.following() and active.boundary(loop, objects, sys._getframe(1))


def resume(loop: str, *objects: Any, maybe: Tuple[str, ...] = (), globals: Tuple[str, ...] = ()) -> List[Any]:
    """Put the state of the iteration in place to which a replay jumped: one value for each place that gets a new object."""
    active = session.current
    if active is None:
        raise RuntimeError("florc.resume is only called by a replay")
    return active.resume(loop, objects, sys._getframe(1))


class _Watch(NamedTuple):
    """A running loop: what it found, when it began, and the look before: its time, what florc had taken by then."""

    before: places.Before
    begun: float
    looked: float
    charged: float
    survey: Any
    due: float


class Boundaries:
    """While recording: which iterations begin with a checkpoint. `survey(block, frame)` is a Survey where one is due."""

    def __init__(self, materializer: Materializer, survey: Callable[[str, FrameType], Any]):
        self._materializer, self._survey = materializer, survey
        self._watches: Dict[str, _Watch] = {}

    def at(self, loop: str, objects: Sequence[Any], frame: FrameType, spent: float) -> None:
        """An iteration begins; florc has taken `spent` seconds so far."""
        path = _native.loop_path()
        place, _, index = path.rpartition("=")
        watch = self._watches.get(place)
        now = time.perf_counter()
        if watch is None or index == "0":
            self._watches[place] = self._begin(loop, frame, now, spent)
        elif now >= watch.due:
            current = Open(loop + BOUNDARY, path + BOUNDARY, watch.looked, watch.charged, watch.before, watch.survey)
            computed = max(now - watch.looked - (spent - watch.charged), 0.0)
            self._materializer.ended(current, computed, objects, frame)
            self._watches[place] = self._next(loop, watch, frame, now, spent)

    def _begin(self, loop: str, frame: FrameType, now: float, spent: float) -> _Watch:
        before = places.before(places.loops[loop + BOUNDARY], frame)
        return _Watch(before, now, now, spent, self._survey(loop + BOUNDARY, frame), now + LOOK_S)

    def _next(self, loop: str, watch: _Watch, frame: FrameType, now: float, spent: float) -> _Watch:
        survey = self._survey(loop + BOUNDARY, frame)
        ended = time.perf_counter()
        pause = max(LOOK_S, (ended - watch.begun) / SPACING, DEAR * (ended - now))
        return watch._replace(looked=ended, charged=spent + ended - now, survey=survey, due=ended + pause)


def skip(iterable: Any, iterator: Any, count: int) -> Optional[Any]:
    """The iterator after so many items; None when it has fewer.

    A data loader without worker processes, over a dataset that is indexed, draws the indices and loads nothing: what
    loading would draw from generators is put back with the checkpoint.
    """
    if type(iterable) is range:
        return iter(iterable[count:]) if len(iterable) >= count else None
    loading = sys.modules.get("torch.utils.data.dataloader")
    loads = loading is None or type(iterator) is not getattr(loading, "_SingleProcessDataLoaderIter", None)
    try:
        for _ in range(count):
            if loads or iterator._dataset_kind != loading._DatasetKind.Map:
                next(iterator)
            else:
                iterator._next_index()
                iterator._num_yielded += 1
    except StopIteration:
        return None
    return iterator
