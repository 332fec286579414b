"""Boundary checkpoints: the state in which an iteration begins, of a loop that trains. A replay can begin there.

Without them it would run all of a loop with no block inside (`for step in range(100_000): …`), and restore every block on its
way to the last of many epochs.
"""

from __future__ import annotations

import sys
import time
from types import FrameType

from .. import _native, session
from ..plan import places
from ..plan.places import BOUNDARY
from ..support.light import NamedTuple
from ..survey import settings
from .checkpoint import Open, walks
from .entering import Entered
from .materializer import Materializer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..survey.survey import Survey

NEVER_S = 1e9


def resume(
    loop: str, *objects: Any, maybe: tuple[str, ...] = (), globals: tuple[str, ...] = (), attributes: tuple[str, ...] = ()
) -> list[Any]:
    """Put the state of the iteration in place to which a replay jumped: one value for each place that gets a new object."""
    active: session.Replaying | None = session.current  # type: ignore[assignment]  # no recording emits this call
    if active is None:
        raise RuntimeError("florc.resume is only called by a replay")
    return active.resume(loop, objects, maybe, sys._getframe(1))


class _Watch(NamedTuple):
    """A running loop: what it found; the look before: its time, what florc had taken by then; the time of the next one."""

    place: _native.Path
    before: places.Before
    survey: Survey | None
    settings: settings.Settings[str, Any]
    walks: int
    looked: float
    charged: float
    due: float
    is_known: bool = False
    """Whether it was looked at."""


class Boundaries:
    """While recording: which iterations begin with a checkpoint. `survey(block, frame)` is a Survey where one is due."""

    def __init__(self, materializer: Materializer, survey: Callable[[str, FrameType], Survey | None], entered: Entered):
        self._materializer, self._survey, self._entered = materializer, survey, entered
        self._pacer = materializer.pacer
        self._watches: list[_Watch] = []
        """Of the innermost loop last."""
        self.refused = ""
        """A loop that just began, at its place of the nest, and that no replay could begin in the middle of."""
        self._started = 0.0
        """When the first of the loops began."""
        self._begun: dict[str, float] = {}
        """When each loop began last."""

    def at(self, loop: str, objects: Sequence[Any], frame: FrameType, spent: float) -> None:
        """An iteration begins; florc has taken `spent` seconds so far."""
        path = _native.loop_path()
        at = _native.Path(path)
        place = at.place
        self._watches = [watch for watch in self._watches if at in watch.place]
        now = time.perf_counter()
        if at.index == 0:
            self._watches = [watch for watch in self._watches if watch.place != place]
            if str(place) != self.refused:
                self._begin(place, loop, frame, now, spent)
        elif self._watches and self._watches[-1].place == place and now >= self._watches[-1].due:
            self._look(self._watches.pop(), loop + BOUNDARY, path + BOUNDARY, objects, frame, now, spent)
        is_watched = self._watches and self._watches[-1].place == place
        _native.look_after(self._watches[-1].due - time.perf_counter() if is_watched else NEVER_S)

    def _begin(self, place: _native.Path, loop: str, frame: FrameType, now: float, spent: float) -> None:
        if not self._begun:
            self._started = now
        pause = self._pacer.until_next_look(loop + BOUNDARY, self._started)
        before_that = self._begun.get(loop)
        self._begun[loop] = now
        if before_that is not None and now - before_that < pause:
            return  # it will be over before it is looked at
        unforeseen = self._materializer.unforeseen.get(loop + BOUNDARY, [])
        before = places.before(places.loops[loop + BOUNDARY], frame, unforeseen)
        survey = self._survey(loop + BOUNDARY, frame)
        self._watches.append(_Watch(place, before, survey, settings.now(), walks(), now, spent, now + pause))

    def _look(
        self, watch: _Watch, block: str, key: str, objects: Sequence[Any], frame: FrameType, now: float, spent: float
    ) -> None:
        """Materialize what the iteration begins with, when the Joint Invariant holds. What changed is told from the state
        in which the loop began: that is what a replay jumps from."""
        if not self._materializer.has_share(block):
            self._watches.append(watch._replace(due=now + self._pacer.until_next_look(block, self._started)))
            return
        current = Open(block, key, watch.looked, watch.charged, watch.before, watch.survey, watch.settings, watch.walks)
        computed = max(now - watch.looked - (spent - watch.charged), 0.0)
        if self._materializer.ended(current, computed, objects, frame):
            self._entered.kept(key, None)
        ended = time.perf_counter()
        if not self._materializer.is_given_up(block):
            # the first walk also searches for the modules that own an optimizer's parameters
            looking = ended - now if watch.is_known else 0.0
            due = ended + self._pacer.until_next_look(block, self._started, looking)
            self._watches.append(watch._replace(looked=ended, charged=spent + ended - now, due=due, is_known=True))
