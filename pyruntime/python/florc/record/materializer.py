"""When a block's side effects are materialized, by whom, and what that cost."""

from __future__ import annotations

import errno
import os
import sys
import time
from types import FrameType

from .. import _native
from ..plan.places import BOUNDARY
from ..support import console as messages
from ..support.light import suppress
from ..support.static import name_of
from .budget import Budget
from .checkpoint import Answer, NotKept, Open, answer
from .forking import LONGEST_DEADLINE_S, Forking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .. import staging

COPY_BYTES_PER_S = 1.5e9
"""First guess of how fast state is copied; replaced by what is measured."""
BACKGROUND_BYTES_PER_S = 1.0e9
"""First guess of how fast the writer hashes and writes."""
FIRST_WALK_S = 2e-3
"""First guess of how long it takes to walk a block's state."""
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
"""At these errors no more checkpoints are taken; the run goes on."""
MEASURED_S = 0.05
"""How long at least is measured how many cores the training uses."""
LEAST_SHARE = 0.05
"""What background work takes on a core of its own: memory and caches are shared."""
ATTEMPTS = 3
"""How often a block whose state could not be kept is tried again."""


class Materializer:
    """Decides after every block that ran. `note(kind, **payload)` writes to the journal."""

    def __init__(self, recorder: _native.Recorder, forking: Forking, overhead: float, budget: Budget, note: Callable[..., None]):
        self.recorder, self.forking, self.budget, self.note = recorder, forking, budget, note
        self.policy = _native.Policy(overhead)
        self.failed: dict[str, tuple[int, str]] = {}
        """Per block: how often in a row it could not be kept, and why."""
        self.doubted: set[str] = set()
        """Blocks that changed what their plan does not foresee, and were not seen to do without since."""
        self.stopped: str | None = None
        """Why no more checkpoints are taken."""
        self.checkpoints = 0
        self.staged: dict[str, int] = {}
        """Per block: bytes of its checkpoints so far."""
        self.lost: list[str] = []
        """Why checkpoints never reached the recorder."""
        self._made: staging.Staging | None = None
        self._share, self._measured = _first_share(), (time.perf_counter(), time.process_time())
        self._predicted: dict[str, float] = {}
        """Per block: seconds that a checkpoint takes from the run when the main thread encodes it."""
        self._of_checkpoint: dict[int, str] = {}
        self._counted = time.perf_counter()

    @property
    def _staging(self) -> staging.Staging:
        """Made for the first checkpoint: most runs of few seconds have none."""
        if self._made is None:
            from .. import staging

            self._made = staging.Staging(self.recorder)
        return self._made

    def ended(self, current: Open, computed: float, objects: Sequence[Any], frame: FrameType) -> bool:
        """A block ran: materialize its side effects when the Joint Invariant holds. Whether that was begun."""
        block = current.block
        if not self._is_due(block, computed) or block in self.doubted and current.survey is None:
            return False
        if block not in self.doubted and self.forking.prefers(block, self._taken()):
            kept = self._fork(block, lambda: answer(current, computed, objects, frame, may_copy=False))
            if kept is not None:
                return kept
        now = time.perf_counter()
        try:
            found = answer(current, computed, objects, frame)
        except NotKept as error:
            self.doubted.add(block)
            self.fail(block, error.why, error.final)
            return False
        self.doubted.discard(block)
        return self._submit(block, found, time.perf_counter() - now)

    def _is_due(self, block: str, computed: float) -> bool:
        """A block ran: whether to spend time on a checkpoint of it."""
        now = time.perf_counter()
        self.policy.elapsed(now - self._counted)
        self._counted = now
        self._collect()
        self.policy.observe_compute(block, computed)
        if self.stopped or not self.budget.is_due(block, self.policy.times(block)[0]):
            return False
        if self.is_given_up(block) or self.recorder.dead:
            return False
        if self.forking.prefers(block, self._taken()):
            cost = self.forking.forked_cost(block, self._taken()) + self._background(self.forking.main[block].nbytes)
        else:
            cost = self._predicted.get(block, FIRST_WALK_S)
        return self.policy.admits(block, cost) and not self._staging.is_blocked()

    @property
    def is_unlimited(self) -> bool:
        """Whether every checkpoint is kept that can be made."""
        return bool(self.policy.overhead_tolerance > 1)

    def cost(self, block: str) -> float:
        """Seconds that a checkpoint of the block cost the run, in the mean."""
        _, _, checkpoints, seconds = self.policy.times(block)
        return seconds / checkpoints if checkpoints else 0.0

    def has_share(self, boundary: str) -> bool:
        """Whether checkpoints between iterations hold no more bytes than those of blocks; there may be no blocks, or no limit."""
        if self.is_unlimited:
            return True
        between = sum(size for block, size in self.staged.items() if block.endswith(BOUNDARY))
        of_blocks = sum(self.staged.values()) - between
        taken = self.policy.times(boundary)[2]
        return not of_blocks or not taken or between + self.staged.get(boundary, 0) / taken <= of_blocks

    def is_given_up(self, block: str) -> bool:
        """Whether its state could not be kept too often."""
        return self.failed.get(block, (0, ""))[0] >= ATTEMPTS

    def _fork(self, block: str, look: Callable[[], Answer]) -> bool | None:
        """Have a child encode; None when the main thread has to."""
        main = self.forking.main[block]
        room = self.forking.room(block)
        if not self.budget.has_room(room, 2 * main.chunks):
            return None
        receipt = self.forking.start(self.recorder, block, look)
        if receipt is None:
            # Only if the run can bear it: that it is slow is why a child was to do it.
            return None if self.policy.admits(block, main.seconds + self._background(main.nbytes)) else False
        self.policy.observe_materialize(block, receipt["stall_s"])
        self._sent(block, receipt["seq"], self.policy.times(block)[0], room, 2 * main.chunks)
        return True

    def _submit(self, block: str, found: Answer, walked: float) -> bool:
        """Stage what the main thread has encoded."""
        seconds = walked
        if block not in self._predicted:
            # The first walk also searches for the modules that own an optimizer's parameters: once, not every time.
            self.policy.charge(walked)
            walked = FIRST_WALK_S
        size, chunks = found.nbytes, len(found.encoded.leaves) + 1
        copying = self._staging.copy_seconds(found.encoded, COPY_BYTES_PER_S)
        self._predicted[block] = walked + copying + self._background(size)
        # That long walk counts as such where a child could do the next one.
        self.forking.encoded(block, seconds + copying, found)
        if not self.policy.admits(block, self._predicted[block]):
            return False
        if not self.budget.has_room(size + self._staging.waiting, chunks):
            self._thin(block, size)
            return False
        execution = self.policy.times(block)[0]
        stall = self._staging.submit(
            found.header,
            found.encoded,
            lambda seq: self._sent(block, seq, execution, size, chunks),
            lambda why: self._lose(block, why),
        )
        if stall is None:
            return False
        self.forking.encoded(block, seconds + stall, found)
        self.policy.observe_materialize(block, walked + stall)
        return True

    def _sent(self, block: str, seq: int, execution: int, size: int, chunks: int) -> None:
        """The recorder has a checkpoint."""
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

    def _background(self, size: int) -> float:
        """Seconds that the writer will take from the run for so many bytes."""
        return self._taken() * size / BACKGROUND_BYTES_PER_S

    def _thin(self, block: str, size: int) -> None:
        """The disk space that this run may use is full: drop checkpoints so that those kept stay evenly spread."""
        dropped = self.budget.thin()
        if dropped:
            self.recorder.drop_checkpoints(dropped)
        elif self.budget.gives_up(block):
            self.note("not kept", block=block, why=f"--max-disk is full, and a checkpoint takes {messages.size(size)}")

    def _collect(self) -> None:
        """Charge what the writer used to the blocks it worked for."""
        for done in self._staging.finished(self._of_checkpoint) if self._made is not None else ():
            block = self._of_checkpoint.pop(done.seq, None)
            self.budget.done(done.seq, done.bytes_written, bool(done.error))
            forked = self.forking.done(done, self._taken())
            if block is not None:
                self.policy.add_background(block, done.cpu_s * self._taken() + forked)
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

    def _taken(self) -> float:
        """Share of background work that training loses: hardly any of it on idle cores, all when it uses every core."""
        now, used = time.perf_counter(), time.process_time()
        seconds = now - self._measured[0]
        if seconds >= MEASURED_S:
            cores = (used - self._measured[1]) / seconds
            self._share = min(1.0, max(LEAST_SHARE, cores + 1.0 - _cores()))
            self._measured = (now, used)
        return self._share

    def fail(self, block: str, why: str, final: bool = False) -> None:
        """A checkpoint of the block could not be made; `final`: none can be."""
        count, known = self.failed.get(block, (0, ""))
        self.failed[block] = (ATTEMPTS if final else count + 1, why)
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
        while self.forking.flights and self.recorder.dead is None and time.monotonic() < end:
            self._collect()
            time.sleep(1e-3)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _first_share() -> float:
    """A guess until something was measured: torch uses as many cores as it has threads."""
    torch: Any = sys.modules.get("torch")
    threads = torch.get_num_threads() if hasattr(torch, "get_num_threads") else 1
    return 1.0 if threads >= _cores() else LEAST_SHARE
