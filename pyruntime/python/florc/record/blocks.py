"""Recording: which blocks and iterations are looked at, and what is kept of them. Imported when the first of them begins."""

from __future__ import annotations

import sys
import time
from types import FrameType

from .. import _native
from ..plan import places
from ..process.fast_forward import why_not
from ..support import mishaps
from ..support.static import name_of
from ..survey.scopes import Reader
from ..survey.survey import Survey
from .budget import Budget
from .checkpoint import Open
from .entering import Entered
from .forking import Forking
from .iterations import Boundaries
from .materializer import Materializer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

SHORT_BLOCK_S = 1e-3
"""Blocks shorter than this are not listed one by one in the journal."""
SHORTEST_S = 1e-6
LOOKS = 8
"""So often a block is looked at before any of its executions is passed by."""
SURVEY_SHARE = 0.25
"""Share of the overhead that looking for unforeseen side effects may take."""


FIRST_LOOKS_S = 0.006
"""Seconds of the processor that looking at blocks for the first time may take however short the run is. In a longer one it may
take SURVEY_SHARE of the overhead: many blocks, each of which runs once, are passed by until then."""


class Blocks:
    """What emitted code calls of a recording, when there is something to keep. `spent` counts what all of it takes.

    Nothing here may raise into the script.
    """

    def __init__(
        self,
        recorder: _native.Recorder,
        engine: str,
        overhead: float,
        max_disk: int | None,
        note: Callable[..., None],
        is_project: Callable[[str], bool],
        started: float,
        entered: Entered,
    ):
        self.note, self.overhead, self.entered = note, overhead, entered
        self.materializer = Materializer(recorder, Forking(engine), overhead, Budget(max_disk), note)
        self.boundaries = Boundaries(self.materializer, self._survey, entered)
        self.reader = Reader(is_project)
        self.surveyed: dict[str, tuple[float, float]] = {}
        """Per block: seconds that a survey took, seconds that the block computed."""
        self.open: list[Open] = []
        self.pauses: dict[str, int] = {}
        """Per block: how many of its next executions are passed by."""
        self.looks: dict[str, tuple[int, float, float]] = {}
        """Per block: how often it was looked at without keeping it, the seconds that took, the seconds it computed."""
        self.passing: set[str] = set()
        """Blocks that are running and were passed by."""
        self._first_looks, self._begun = 0.0, started
        if hasattr(sys.modules.get("torch"), "utils"):
            from .. import state  # noqa: F401  what looking needs then: importing it is not looking

    def _fail(self, block: str, where: str, error: Exception) -> None:
        mishaps.swallowed(f"{where} {block}", error)
        self.materializer.fail(block, f"{name_of(type(error))}: {error}")

    def jump(self, place: str, iterable: Any, iterator: Any) -> None:
        """A loop begins. Where no replay could begin in its middle, nothing needs to be kept for that."""
        block = _native.Path(place).loop + places.BOUNDARY
        why = None
        with mishaps.Swallow(f"looking at what {block} runs over"):
            why = why_not(iterable, iterator) if iterable is not None and block in places.loops else None
        self.boundaries.refused = place if why else ""

    def boundary(self, loop: str, objects: Sequence[Any], frame: FrameType, spent: float) -> None:
        """An iteration of a loop that trains itself begins: it may begin with a checkpoint."""
        try:
            self.boundaries.at(loop, objects, frame, spent)
        except Exception as error:  # R0
            self._fail(loop + places.BOUNDARY, "at the start of an iteration of", error)

    def step_into(self, block: str, frame: FrameType, begun: float, spent: float) -> None:
        """A block begins. Those that are so short that looking at each would take more than the overhead are passed by, but
        for one now and then."""
        key = _native.enter_block(block)
        left = self.pauses.get(block, 0)
        if left:
            self.pauses[block] = left - 1
            self.passing.add(block)
            return
        is_first = block not in self.surveyed
        if is_first and not self._may_look():
            self.passing.add(block)
            return
        self.passing.discard(block)  # it was left by an exception
        before, survey, looks = places.Before({}, {}, None), None, time.thread_time()
        try:
            before = places.before(places.loops[block], frame)
            survey = self._survey(block, frame)
        except Exception as error:  # R0
            self._fail(block, "before", error)
        if is_first:
            self._first_looks += time.thread_time() - looks
        now = time.perf_counter()
        self.open.append(Open(block, key, now, spent + now - begun, before, survey, now - begun))

    def _may_look(self) -> bool:
        """Whether there is time to look at a block for the first time."""
        allowed = SURVEY_SHARE * self.overhead * (time.perf_counter() - self._begun)
        return self._first_looks <= max(FIRST_LOOKS_S, allowed)

    def _survey(self, block: str, frame: FrameType) -> Survey | None:
        """Look at what the program holds, when the block takes so long that it costs little; the first time always, and
        while it is doubted."""
        seconds, computed = self.surveyed.get(block, (0.0, 1.0))
        is_dear = 2 * seconds > SURVEY_SHARE * self.overhead * computed
        if self.materializer.is_given_up(block) or is_dear and block not in self.materializer.doubted:
            return None
        begun = time.perf_counter()
        survey = Survey(frame, places.loops[block], self.reader)
        self.surveyed[block] = (time.perf_counter() - begun, computed)
        return survey

    def end(self, block: str, objects: Sequence[Any], frame: FrameType, begun: float, spent: float) -> None:
        """A block ran: materialize its side effects when the Joint Invariant holds."""
        self.entered.check(block)
        if block in self.passing:
            self.passing.discard(block)
            _native.leave_block(block)
            return
        current = self._close(block)
        if current is not None:
            computed = begun - current.started - (spent - current.charged)
            if block in self.surveyed:
                self.surveyed[block] = (self.surveyed[block][0], max(computed, 0.0))
            try:
                kept = self.materializer.ended(current, max(computed, 0.0), objects, frame)
            except Exception as error:  # R0: a checkpoint may be lost, a run may not
                kept = False
                self._fail(block, "after", error)
            if kept:
                self.entered.kept(current.key, block)
            if kept or computed >= SHORT_BLOCK_S:
                self.note("block", key=current.key, seconds=computed, kept=kept)
            if not kept:
                self._pace(block, current.looking + time.perf_counter() - begun, max(computed, 0.0))
        _native.leave_block(block)

    def _pace(self, block: str, looking: float, computed: float) -> None:
        """How many of the next executions are passed by, so that looking at the block stays within the overhead."""
        times, looked, ran = self.looks.get(block, (0, 0.0, 0.0))
        times, looked, ran = self.looks[block] = times + 1, looked + looking, ran + computed
        if times >= LOOKS:
            self.pauses[block] = min(int(looked / (self.overhead * max(ran, SHORTEST_S))), times)

    def _close(self, block: str) -> Open | None:
        """The open entry of a block; blocks inside it that were left by an exception are dropped."""
        while self.open:
            current = self.open.pop()
            if current.block == block:
                return current
        return None
