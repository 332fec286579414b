"""When a block's side effects are materialized, by whom, and what that cost."""

from __future__ import annotations

import errno
import time
from types import FrameType

from .. import _native
from ..plan.loops import cannot_be_restored
from ..plan.places import BOUNDARY
from ..support import console as messages
from ..support import mishaps
from ..support.light import suppress
from ..support.static import name_of
from ..survey import settings
from .budget import Budget
from .captured import Captures
from .checkpoint import Answer, NotKept, Open, answer
from .fork_policy import LONGEST_DEADLINE_S
from .forking import Forking
from .pacer import Pacer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .. import staging
    from ..survey.witness import Witness
    from .ranks import Together

COPY_BYTES_PER_S = 1.5e9
"""First guess of how fast state is copied; replaced by what is measured."""
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
"""At these errors no more checkpoints are taken; the run goes on."""
ATTEMPTS = 3
"""How often a block whose state could not be kept is tried again."""


class Materializer:
    """Decides after every block that ran. `note(kind, **payload)` writes to the journal."""

    def __init__(
        self,
        recorder: _native.Recorder,
        forking: Forking,
        pacer: Pacer,
        budget: Budget,
        note: _native._Note,
        witness: Witness,
        together: Together | None = None,
    ):
        """`together`: where other ranks are recorded, too."""
        self.witness = witness
        self._together = together
        self.recorder, self.forking, self.pacer, self.budget, self.note = recorder, forking, pacer, budget, note
        self.failed: dict[str, tuple[int, str]] = {}
        """Per block: how often in a row it could not be kept, and why."""
        self.replacing: set[str] = set()
        """Blocks that put objects in the place of others, which only a survey tells: each of their checkpoints needs one."""
        self.told: set[str] = set()
        """Blocks of which a checkpoint was made with a survey, which found no such thing."""
        self.wanted: set[str] = set()
        """Blocks that are waiting for one."""
        self.doubted: set[str] = set()
        """Blocks that changed what their plan does not foresee, and were not seen to do without since."""
        self.unforeseen: dict[str, list[str]] = {}
        """Per block: what it was seen to change that its plan does not know, and that its checkpoints hold since."""
        self.stopped: str | None = None
        """Why no more checkpoints are taken."""
        self.checkpoints = 0
        self.staged: dict[str, int] = {}
        """Per block: bytes of its checkpoints so far."""
        self.background_s = 0.0
        """Seconds that work beside the script took from it, as far as florc knows."""
        self.lost: list[str] = []
        """Why checkpoints never reached the recorder."""
        self._made: staging.Staging | None = None
        self._of_checkpoint: dict[int, str] = {}
        self._captures = Captures(recorder, note)

    @property
    def _staging(self) -> staging.Staging:
        """Made for the first checkpoint: most runs of few seconds have none."""
        if self._made is None:
            from .. import staging

            self._made = staging.Staging(self.recorder)
        return self._made

    def ended(self, current: Open, computed: float, objects: Sequence[Any], frame: FrameType) -> bool:
        """A block ran: materialize its side effects when the Joint Invariant holds. Whether that was begun."""
        self._captures.drop()
        is_able, decided = self._is_able(current.block, computed), None
        if self._together is not None:
            decided = self._together.decided(current.key, self.pacer.overhead * computed / 2 if is_able else 0.0)
        is_due = is_able and (self._admits(current.block) if decided is None else decided) and not self._staging.is_blocked()
        is_kept = is_due and self._keep(current, computed, objects, frame, bool(decided))
        if self._together is not None and decided is None:
            self._together.tell(current.key, is_kept)
        return is_kept

    def _keep(self, current: Open, computed: float, objects: Sequence[Any], frame: FrameType, is_decided: bool) -> bool:
        """Materialize the side effects of a block. `is_decided`: whatever it costs, since other ranks do. Whether that was
        begun."""
        block = current.block
        if current.survey is None and (self.needs_survey(block) or self._must_be_told(block)):
            return False
        unforeseen = self.unforeseen.setdefault(block, [])
        setting = settings.changed(current.settings, settings.now())  # here, since a child has others
        if setting is not None:
            self.fail(block, f"it changes {setting}, a setting of the process that no checkpoint holds")
            return False
        self.witness.see_files()
        is_told = block in self.told or block.endswith(BOUNDARY)
        if is_told and not self.needs_survey(block) and self.forking.prefers(block, self.pacer.share()):
            kept = self._fork(
                block, lambda: answer(current, computed, objects, frame, unforeseen, self.witness, may_copy=False), is_decided
            )
            if kept is not None:
                return kept
        now = time.perf_counter()
        try:
            found = answer(current, computed, objects, frame, unforeseen, self.witness)
        except NotKept as error:
            self.doubted.add(block)
            self.fail(block, error.why, error.final)
            return False
        self.doubted.discard(block)
        self.wanted.discard(block)
        if found.replaces:
            self.replacing.add(block)
        elif current.survey is not None:
            self.told.add(block)
        self.pacer.took_once(found.once)
        return self._submit(block, found, time.perf_counter() - now - found.once, is_decided)

    def needs_survey(self, block: str) -> bool:
        """Whether no checkpoint of a block is made without a survey."""
        return block in self.doubted or block in self.replacing or block in self.wanted

    def _must_be_told(self, block: str) -> bool:
        """Whether no checkpoint of a block was surveyed yet: nothing tells whether it replaces objects. The next one is."""
        is_untold = block not in self.told and not block.endswith(BOUNDARY)
        if is_untold:
            self.wanted.add(block)
        return is_untold

    def _is_able(self, block: str, computed: float) -> bool:
        """A block ran: whether a checkpoint of it could be taken."""
        self.pacer.computed(block, computed)
        self._collect()
        if self.stopped or not self.budget.is_due(block, self.pacer.executions(block)):
            return False
        return not (self.is_given_up(block) or self.recorder.dead)

    def _admits(self, block: str) -> bool:
        """Whether to spend time on a checkpoint of a block that ran."""
        share, cost = self.pacer.share(), None
        if self.forking.prefers(block, share):
            cost = self.forking.forked_cost(block, share) + self.pacer.background(self.forking.main[block].nbytes)
        return self.pacer.admits(block, cost)

    def has_share(self, boundary: str) -> bool:
        """Whether checkpoints between iterations hold no more bytes than those of blocks; there may be no blocks, or no limit."""
        if self.pacer.is_unlimited:
            return True
        between = sum(size for block, size in self.staged.items() if block.endswith(BOUNDARY))
        of_blocks = sum(self.staged.values()) - between
        taken = self.pacer.checkpoints(boundary)
        return not of_blocks or not taken or between + self.staged.get(boundary, 0) / taken <= of_blocks

    def is_given_up(self, block: str) -> bool:
        """Whether its state could not be kept too often."""
        return self.failed.get(block, (0, ""))[0] >= ATTEMPTS

    def _fork(self, block: str, look: Callable[[], Answer], is_decided: bool) -> bool | None:
        """Have a child encode; None when the main thread has to."""
        main = self.forking.main[block]
        room = self.forking.room(block)
        if not self.budget.has_room(room, 2 * main.chunks):
            return None
        receipt = self.forking.start(self.recorder, block, look)
        if receipt is None:
            # Only if the run can bear it: that it is slow is why a child was to do it.
            cost = main.seconds + self.pacer.background(main.nbytes)
            return None if is_decided or self.pacer.admits(block, cost) else False
        self._sent(block, receipt["seq"], self.pacer.executions(block), room, 2 * main.chunks, self._captures.count)
        self.pacer.materialized(block, receipt["stall_s"])
        return True

    def _submit(self, block: str, found: Answer, walked: float, is_decided: bool) -> bool:
        """Stage what the main thread has encoded."""
        size, chunks = found.nbytes, len(found.encoded.leaves) + 1
        copying = self._staging.copy_seconds(found.encoded, COPY_BYTES_PER_S)
        self.pacer.walked(block, walked, copying, size)
        self.forking.encoded(block, walked + copying, found)
        if not is_decided and not self.pacer.admits(block):
            return False
        if not self.budget.has_room(size + self._staging.waiting, chunks):
            self._thin(block, size)
            return False
        execution, captures = self.pacer.executions(block), self._captures.count
        stall = self._staging.submit(
            found.header,
            found.encoded,
            lambda seq: self._sent(block, seq, execution, size, chunks, captures),
            lambda why: self._lose(block, why),
        )
        if stall is None:
            return False
        self.forking.encoded(block, walked + stall, found)
        self.pacer.materialized(block, walked + stall)
        return True

    def _sent(self, block: str, seq: int, execution: int, size: int, chunks: int, captures: int) -> None:
        """The recorder has a checkpoint, taken after so many captures of CUDA graphs."""
        self._captures.sent(seq, block, captures)
        self._of_checkpoint[seq] = block
        self.budget.staged(seq, block, execution, size, chunks)
        self.checkpoints += 1
        self.staged[block] = self.staged.get(block, 0) + size

    def _lose(self, block: str | None, why: str) -> None:
        self.note("lost checkpoint", block=block, why=why)
        self.lost.append(f"of {block}: {why}" if block else why)

    def poll(self) -> None:
        """Hand on what devices have copied meanwhile."""
        with suppress(Exception):  # R0
            if self._made is not None:
                self._staging.poll()

    def _thin(self, block: str, size: int) -> None:
        """The disk space that this run may use is full: drop checkpoints so that those kept stay evenly spread."""
        dropped = self.budget.thin()
        if dropped:
            self.recorder.drop_checkpoints(dropped)
        elif self.budget.gives_up(block):
            self.note("not kept", block=block, why=f"--max-disk is full, and a checkpoint takes {messages.size(size)}")

    def _collect(self) -> None:
        """Charge what the writer used to the blocks it worked for."""
        # A flight whose block is not known (an error in between) has to land all the same: the end of the run waits for it.
        known = self._of_checkpoint.keys() | self.forking.flights
        for done in self._staging.finished(known) if self._made is not None else ():
            block = self._of_checkpoint.pop(done.seq, None)
            self.budget.done(done.seq, done.bytes_written, bool(done.error))
            forked = self.forking.done(done, self.pacer.share())
            taken = done.cpu_s * self.pacer.share() + forked
            self.background_s += taken
            if block is not None:
                self.pacer.policy.add_background(block, taken)
            if done.refusal in ("now", "good") and block is not None:
                self.doubted.add(block)
                self.fail(block, done.error or "", final=done.refusal == "good")
            elif done.error:
                self.note("lost checkpoint", block=block, why=done.error)
                if done.errno in NO_SPACE and self.stopped is None:
                    self.stopped = done.error
                    self.note("stopped", why=self.stopped)
        for freed in self.recorder.freed():
            self.budget.freed(freed)

    def fail(self, block: str, why: str, final: bool = False) -> None:
        """A checkpoint of the block could not be made; `final`: none can be."""
        count, known = self.failed.get(block, (0, ""))
        self.failed[block] = (ATTEMPTS if final else count + 1, why)
        cannot_be_restored(block)
        if why != known:
            self.note("not kept", block=block, why=why)

    def finish(self) -> None:
        """Wait until the recorder has everything. What a child refuses belongs into the journal and the report."""
        try:
            if self._made is not None:
                self._staging.finish()
        except Exception as error:  # R0
            self._lose(None, f"{name_of(type(error))}: {error}")
        end = time.monotonic() + LONGEST_DEADLINE_S
        try:
            while self.forking.flights and self.recorder.dead is None and time.monotonic() < end:
                self._collect()
                time.sleep(1e-3)
        except Exception as error:  # R0
            mishaps.swallowed("waiting for the last checkpoints", error)
        self._captures.drop()
