"""How much of the script's time florc may take: one budget, and every decision that spends of it. Times are in seconds.

While a script is recorded, four questions come up:

- Is this execution of a block looked at, or passed by? (`passes_by`)
- Is the program surveyed around it? (`surveys`)
- Is it worth a checkpoint? (`admits`: the paper's Joint Invariant and the limit on all that florc takes, `src/policy.rs`)
- When is a running loop looked at next? (`until_next_look`)

Which iterations are noted in the journal is another matter, decided in `src/nest/pace.rs`.
"""

from __future__ import annotations

import os
import sys
import time

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LOOKS = 8
"""So often a block is looked at before any of its executions is passed by."""
SHORTEST_S = 1e-6
"""A block took at least so long: a clock may not have moved."""
SURVEY_SHARE = 0.25
"""Part of the overhead that surveys may take. The rest is for checkpoints, which are what it is for."""
FIRST_LOOKS_S = 0.006
"""Seconds of the processor that looking at blocks for the first time may take however short the run is. In a longer one it may
take SURVEY_SHARE of the overhead: many blocks, each of which runs once, are passed by until then."""
BETWEEN_LOOKS_S = 0.02
"""Between two looks at a running loop lies at least so much time,"""
SPACING = 16
"""at least this part of what the training took so far: a replay loses no more of it on its way,"""
DEAR = 50
"""and so many times what a checkpoint costs: blocks come first."""
MOST_PASSED_S = 10.0
"""A block that nobody looks at, because such looks took too much, is looked at again after so long at the latest."""
FIRST_WALK_S = 2e-3
"""First guess of how long it takes to walk a block's state."""
BACKGROUND_BYTES_PER_S = 1.0e9
"""First guess of how fast the writer hashes and writes."""
MEASURED_S = 0.05
"""How long at least is measured how many cores the training uses."""
LEAST_SHARE = 0.05
"""What background work takes on a core of its own: memory and caches are shared."""


class Pacer:
    """Measures what florc takes and what blocks compute, and answers the questions above.

    `overhead`: ε, the part of the script's time that florc may take; infinite where every checkpoint is kept. `started`: when the
    recording began. `clock` tells the time, `used` the processor time of this process, `cores` how many it may use.
    """

    def __init__(
        self,
        overhead: float,
        started: float,
        clock: Callable[[], float] = time.perf_counter,
        used: Callable[[], float] = time.process_time,
        cores: int | None = None,
    ):
        self.overhead, self._started, self._clock, self._used = overhead, started, clock, used
        self._cores = cores or _cores()
        self.policy = _native.Policy(overhead)
        self._counted = started
        self._on_main = 0.0
        """Seconds of the script's thread that the policy knows of."""
        self._share, self._measured = _first_share(self._cores), (clock(), used())
        self._looks: dict[str, tuple[int, float, float]] = {}
        """Per block: how often it was looked at without keeping it, the seconds that took, the seconds it computed."""
        self._surveys: dict[str, tuple[float, float]] = {}
        """Per block: seconds that a survey took, seconds that the block computed."""
        self._first_looks = 0.0
        self._vain = 0.0
        """Seconds of looks at blocks that were not kept."""
        self._predicted: dict[str, float] = {}
        """Per block: seconds that a checkpoint takes from the run when the main thread encodes it."""

    @property
    def is_unlimited(self) -> bool:
        """Whether every checkpoint is kept that can be made."""
        return self.overhead > 1

    # -- looking at blocks -----------------------------------------------------------------------------------------

    def is_new(self, block: str) -> bool:
        """Whether the program was never surveyed around a block."""
        return block not in self._surveys

    def passes_by(self, block: str) -> bool:
        """A block begins: whether nobody looks at it this time, because looking at blocks for the first time took enough."""
        allowed = max(FIRST_LOOKS_S, SURVEY_SHARE * self.overhead * (self._clock() - self._started))
        return self.is_new(block) and self._first_looks > allowed

    def looked_first(self, seconds: float) -> None:
        """A block was looked at for the first time: seconds of the processor."""
        self._first_looks += seconds

    def surveys(self, block: str, is_doubted: bool) -> bool:
        """Whether to survey the program around a block: the first time, as long as it is doubted, and if it computes so long that
        this costs little."""
        seconds, computed = self._surveys.get(block, (0.0, 1.0))
        is_dear = 2 * seconds > SURVEY_SHARE * self.overhead * computed  # one before, one after
        return is_doubted or not is_dear

    def surveyed(self, block: str, seconds: float) -> None:
        """That took so long, before the block ran."""
        self._surveys[block] = (seconds, self._surveys.get(block, (0.0, 1.0))[1])

    def ran(self, block: str, computed: float) -> None:
        """A block that was looked at is over."""
        if block in self._surveys:
            self._surveys[block] = (self._surveys[block][0], computed)

    def looked_in_vain(self, block: str, looking: float, computed: float) -> tuple[int, float]:
        """A block was looked at for so long, computed so long, and was not kept: how many of its next executions are passed by,
        and for how many seconds all of them are. Those that are so short that looking at each would take more than the overhead
        are passed by, but for one now and then."""
        times, looked, ran = self._looks.get(block, (0, 0.0, 0.0))
        times, looked, ran = self._looks[block] = times + 1, looked + looking, ran + computed
        self._vain += looking
        if times < LOOKS:
            return 0, 0.0
        allowed = self.overhead * max(ran, SHORTEST_S)
        passed = int(looked / allowed) if looked < allowed * times else times
        # executions that are nested in each other count what they compute several times over; the clock does not
        until = self._vain / self.overhead if self.overhead else MOST_PASSED_S
        seconds = until - (self._clock() - self._started - self._vain)
        return passed, min(max(seconds, 0.0), MOST_PASSED_S)

    # -- looking at running loops ------------------------------------------------------------------------------------

    def until_next_look(self, block: str, begun: float, looking: float = 0.0) -> float:
        """Seconds until a running loop is looked at next. `begun`: when the first loop began; the last look took `looking`."""
        if self.is_unlimited:
            return 0.0
        return max(BETWEEN_LOOKS_S, (self._clock() - begun) / SPACING, DEAR * max(looking, self.cost(block)))

    # -- checkpoints -------------------------------------------------------------------------------------------------

    def computed(self, block: str, seconds: float) -> None:
        """A block ran for so long."""
        now = self._clock()
        self.policy.elapsed(now - self._counted)
        self._counted = now
        self.policy.observe_compute(block, seconds)

    def took(self, seconds: float) -> None:
        """Florc took so much of the script's thread so far. What is not of checkpoints counts against the limit, too; what was
        taken before the first block is paid for over time."""
        others = seconds - self._on_main
        if others > 0:
            (self.policy.charge if self._on_main else self.policy.charge_once)(others)
            self._on_main = seconds

    def took_once(self, seconds: float) -> None:
        """And so much for what is done once."""
        self._on_main += seconds
        self.policy.charge_once(seconds)

    def materialized(self, block: str, seconds: float) -> None:
        """A checkpoint of a block took so much of the script's thread."""
        self._on_main += seconds
        self.policy.observe_materialize(block, seconds)

    def executions(self, block: str) -> int:
        """How often a block ran."""
        return self.policy.times(block)[0]

    def checkpoints(self, block: str) -> int:
        """How many checkpoints were taken of it."""
        return self.policy.times(block)[2]

    def cost(self, block: str) -> float:
        """Seconds that a checkpoint of the block cost the run, in the mean."""
        _, _, checkpoints, seconds = self.policy.times(block)
        return seconds / checkpoints if checkpoints else 0.0

    def admits(self, block: str, seconds: float | None = None) -> bool:
        """Whether a checkpoint of the block may be taken that will cost the run so long; None: as predicted."""
        return self.policy.admits(block, self._predicted.get(block, FIRST_WALK_S) if seconds is None else seconds)

    def foresees(self, block: str) -> bool | None:
        """Whether a checkpoint may be taken of an execution of the block that begins now, if it takes as long as those before
        it. None where there were none."""
        return self.policy.foresees(block, self._predicted.get(block, FIRST_WALK_S))

    def walked(self, block: str, walk: float, copying: float, size: int) -> None:
        """The state of a block was walked, and will be copied, for so many seconds."""
        self._predicted[block] = walk + copying + self.background(size)

    # -- what runs beside the training ---------------------------------------------------------------------------------

    def background(self, size: int) -> float:
        """Seconds that the writer will take from the run for so many bytes."""
        return self.share() * size / BACKGROUND_BYTES_PER_S

    def share(self) -> float:
        """Part of background work that training loses: hardly any of it on idle cores, all when it uses every core."""
        now = self._clock()
        seconds = now - self._measured[0]
        if seconds >= MEASURED_S:
            used = self._used()  # the kernel asks each thread
            cores = (used - self._measured[1]) / seconds
            self._share = min(1.0, max(LEAST_SHARE, cores + 1.0 - self._cores))
            self._measured = (now, used)
        return self._share


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _first_share(cores: int) -> float:
    """A guess until something was measured: torch uses as many cores as it has threads."""
    torch: Any = sys.modules.get("torch")
    threads = torch.get_num_threads() if hasattr(torch, "get_num_threads") else 1
    return 1.0 if threads >= cores else LEAST_SHARE
