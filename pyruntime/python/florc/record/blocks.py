"""Recording: which blocks and iterations are looked at, and what is kept of them. Imported when the first of them begins."""

from __future__ import annotations

import os
import sys
import time
from types import FrameType

from .. import _native
from ..plan import places
from ..process.fast_forward import why_not
from ..support import mishaps
from ..support.static import name_of
from ..survey import settings
from ..survey.scopes import Reader
from ..survey.survey import Survey
from ..survey.witness import Witness
from .budget import Budget
from .checkpoint import Open, walks
from .entering import Entered
from .forking import Forking
from .iterations import Boundaries
from .materializer import Materializer
from .pacer import Pacer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .ranks import Together

SHORT_BLOCK_S = 1e-3
"""Blocks shorter than this are not listed one by one in the journal."""


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
        note: _native._Note,
        files: set[str],
        started: float,
        entered: Entered,
        together: Together | None = None,
    ):
        self.note, self.entered, self._together = note, entered, together
        self.pacer = Pacer(overhead, started)
        witness = Witness([(time.time() - (time.perf_counter() - started), 0.0)], [os.getpid()])
        self.materializer = Materializer(recorder, Forking(engine), self.pacer, Budget(max_disk), note, witness, together)
        self.boundaries = Boundaries(self.materializer, self._survey, entered)
        self.reader = Reader(files)
        self.open: list[Open] = []
        self.left_to_loops: set[str] = set()
        """Calls of trainers in which loops of the library were followed."""
        self._begun: set[str] = set()
        self.passing: set[str] = set()
        """Blocks that are running and were passed by."""
        if hasattr(sys.modules.get("torch"), "utils"):
            from .. import state  # noqa: F401  what looking needs then: importing it is not looking

    @staticmethod
    def mention(text: str) -> None:
        """A further file of the user's is part of the run."""
        settings.mention(text)

    def _fail(self, block: str, where: str, error: Exception) -> None:
        mishaps.swallowed(f"{where} {block}", error)
        self.materializer.fail(block, f"{name_of(type(error))}: {error}")

    def jump(self, place: str, iterable: Any, iterator: Any) -> None:
        """A loop begins. Where no replay could begin in its middle, nothing needs to be kept for that."""
        block = _native.Path(place).loop + places.BOUNDARY
        why = None
        with mishaps.Swallow(f"looking at what {block} runs over"):
            why = why_not(iterable, iterator) if iterable is not None and block in places.loops else None
        self.boundaries.refused = place if why or self._together is not None else ""

    def boundary(self, loop: str, objects: Sequence[Any], frame: FrameType, spent: float) -> None:
        """An iteration of a loop that trains itself begins: it may begin with a checkpoint."""
        self.pacer.took(spent)
        try:
            self.boundaries.at(loop, objects, frame, spent)
        except Exception as error:  # R0
            self._fail(loop + places.BOUNDARY, "at the start of an iteration of", error)

    def step_into(self, block: str, frame: FrameType, begun: float, spent: float) -> None:
        """A block begins."""
        key = _native.enter_block(block)
        self._close_left(key)
        if self._together is not None:
            self._together.announce(key, self.pacer.foresees(block))
            if block not in self._begun:  # a replay has to know which ranks a block is in
                self._begun.add(block)
                self.note("block", key=key, seconds=0.0, kept=False)
        if block in places.of_libraries:
            self._leave_to_loops()
        if self.pacer.passes_by(block):
            self.passing.add(block)
            return
        is_first = self.pacer.is_new(block)
        self.passing.discard(block)  # it was left by an exception
        before, survey, found, looks = places.Before({}, {}, None), None, {}, time.thread_time()
        try:
            before = places.before(places.loops[block], frame, self.materializer.unforeseen.get(block, []))
            survey = self._survey(block, frame)
            found = settings.now()
        except Exception as error:  # R0
            self._fail(block, "before", error)
        if is_first:
            self.pacer.looked_first(time.thread_time() - looks)
        now = time.perf_counter()
        self.open.append(Open(block, key, now, spent + now - begun, before, survey, found, walks(), now - begun))

    def _leave_to_loops(self) -> None:
        """A loop begins that is followed inside a library: the call in which it runs is not kept as a whole, too."""
        for outer in self.open:
            if places.is_call(outer.block) and outer.block not in self.left_to_loops:
                self.left_to_loops.add(outer.block)
                self.note("not kept", block=outer.block, why="the loops inside the library are followed instead")

    def _survey(self, block: str, frame: FrameType) -> Survey | None:
        """Look at what the program holds, where there is time for it."""
        if block in self.left_to_loops or self.materializer.is_given_up(block):
            return None
        # what a library calls of the user's is out of the plan's sight: it is looked at each time
        is_doubted = self.materializer.needs_survey(block) or block in places.of_libraries or places.is_call(block)
        if not self.pacer.surveys(block, is_doubted):
            return None
        begun = time.perf_counter()
        survey = Survey(frame, places.loops[block], self.reader)
        self.pacer.surveyed(block, time.perf_counter() - begun)
        return survey

    def end(self, block: str, objects: Sequence[Any], frame: FrameType, begun: float, spent: float) -> None:
        """A block ran: materialize its side effects when the Joint Invariant holds."""
        self.entered.check(block)
        if block in self.passing:
            self.passing.discard(block)
            _native.leave_block(block)
            return
        self.pacer.took(spent)
        current = self._close(block)
        if current is not None:
            computed = begun - current.started - (spent - current.charged)
            self.pacer.ran(block, max(computed, 0.0))
            try:
                is_left = block in self.left_to_loops
                kept = not is_left and self.materializer.ended(current, max(computed, 0.0), objects, frame)
            except Exception as error:  # R0: a checkpoint may be lost, a run may not
                kept = False
                self._fail(block, "after", error)
            if kept:
                self.entered.kept(current.key, block)
            if kept or computed >= SHORT_BLOCK_S:
                self.note("block", key=current.key, seconds=computed, kept=kept)
            if not kept:
                looking = current.looking + time.perf_counter() - begun
                _native.pass_by(block, *self.pacer.looked_in_vain(block, looking, max(computed, 0.0)))
        _native.leave_block(block)

    def _close(self, block: str) -> Open | None:
        """The open entry of a block; blocks inside it that were left by an exception are dropped."""
        while self.open:
            current = self.open.pop()
            if current.block == block:
                return current
            self._note_left(current)
        return None

    def finish(self) -> None:
        """The run is over."""
        self._close_left("")
        self.materializer.finish()

    def _close_left(self, key: str) -> None:
        """Drop the open entries of blocks that an exception left: of those that do not hold the place that was reached."""
        while self.open and not key.startswith(f"{self.open[-1].key}/"):
            self._note_left(self.open.pop())

    def _note_left(self, left: Open) -> None:
        self.note("block", key=left.key, seconds=0.0, kept=False, left=True)
