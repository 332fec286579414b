"""Which blocks are encoded by a forked child; what was measured of that. What follows from it: `fork_policy.py`."""

from __future__ import annotations

import gc
import os
import sys

from ..support.static import name_of
from ..survey.files import Still
from . import fork_policy
from .checkpoint import Answer, NotKept
from .fork_policy import Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .. import _native


class Forking:
    """Per block: what the two ways of encoding cost the run. `engine`: only "auto" and "fork" ever fork."""

    def __init__(self, engine: str):
        self.engine = engine
        self.main: dict[str, Walk] = {}
        """Only blocks that a child can encode."""
        self.cost: dict[str, float] = {}
        """Seconds that the last forked checkpoint took from the run."""
        self.flights: dict[int, tuple[str, float]] = {}
        """What is on its way: block, seconds of the clone."""
        self.clone: float | None = None
        self.deaths = 0
        self.in_vain: dict[str, int] = {}

    def encoded(self, block: str, seconds: float, answer: Answer) -> None:
        """The main thread encoded a checkpoint. A child can do it next time if torch had nothing to copy.

        torch's threads do not exist there, and neither does a device."""
        walk = Walk(seconds, answer.nbytes, len(answer.encoded.leaves) + 1)
        # a child would only find out that it cannot (batches of a data loader's workers), and the checkpoint be lost
        is_shared = self.engine == "auto" and fork_policy.is_slow(walk) and _is_shared(answer.encoded.encoder.spans())
        if answer.encoded.encoder.copied or is_shared:
            self.main.pop(block, None)
        else:
            self.main[block] = walk

    def forked_cost(self, block: str, share: float) -> float:
        """Seconds that the next forked checkpoint of a block will take from the run: as many as the last one did."""
        known = self.cost.get(block)
        if known is not None:
            return known
        clone = self.clone if self.clone is not None else fork_policy.clone_of(_resident())
        return fork_policy.expected(self.main[block], clone, share)

    def prefers(self, block: str, share: float) -> bool:
        """Whether a child should encode the block's next checkpoint."""
        main = self.main.get(block)
        if main is None or self.engine not in ("auto", "fork"):
            return False
        if fork_policy.is_given_up(self.deaths, self.in_vain.get(block, 0)):
            return False
        # in this order: to ask how large the process is takes as long as to walk a small state
        is_wanted = self.engine == "fork" or (
            fork_policy.is_slow(main) and fork_policy.is_cheaper(main, self.forked_cost(block, share))
        )
        if is_wanted and _are_others_at_work():
            self.engine = "writer"  # such threads live as long as the process
        return is_wanted and self.engine != "writer"

    def room(self, block: str) -> int:
        """Bytes to keep for what a child will write."""
        return fork_policy.room(self.main[block])

    def start(self, recorder: _native.Recorder, block: str, look: Callable[[], Answer]) -> _native._Cloned | None:
        """Clone a child that looks; None when there is no room or another one lives."""
        others = len(sys._current_frames()) > 1
        with Still():
            receipt = recorder.fork(self.room(block), lambda: in_child(look), fork_policy.deadline(self.main[block]), others)
        if receipt is not None:
            self.clone = receipt["stall_s"]
            self.flights[receipt["seq"]] = (block, receipt["stall_s"])
        return receipt

    def done(self, done: _native.Done, share: float) -> float:
        """A checkpoint was dealt with. Seconds that its child and the pages copied since took from the run."""
        flight = self.flights.pop(done.seq, None)
        if flight is None:
            return 0.0
        block, clone = flight
        background = fork_policy.background(done.encode_s, done.faults, share)
        if done.error is None:
            self.cost[block] = clone + background
        else:
            self.deaths += done.refusal is None and done.errno is None
            self.in_vain[block] = self.in_vain.get(block, 0) + 1
            # The main thread looks next: it can do what a child cannot, and it sees how large the state is now.
            self.main.pop(block, None)
        return background


def in_child(look: Callable[[], Answer]) -> tuple[Any, ...]:
    """What the child answers. Nothing here may raise, print, or call the recorder."""
    from .. import state

    # For good: whatever a collection would finalize is the parent's.
    gc.disable()
    try:
        found = look()
        if _is_shared(found.encoded.encoder.spans()):
            return "elsewhere", "it holds memory that other processes share, which may change meanwhile"
    except state.NeedsCopy as error:
        return "elsewhere", str(error)
    except NotKept as error:
        return "good" if error.final else "now", error.why
    except MemoryError:
        return "elsewhere", "a child has too little memory to encode it"
    except BaseException as error:
        return "now", f"{name_of(type(error))}: {error}"
    return found.header, found.encoded.graph, found.encoded.leaves


def _is_shared(spans: list[tuple[int, int]]) -> bool:
    """Whether some of the memory (address, bytes) lies in a mapping that a child does not have a copy of."""
    if not spans:
        return False
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        fields = [line.split(maxsplit=2)[:2] for line in file]
    shared = [tuple(int(end, 16) for end in where.split("-")) for where, access in fields if access[3] == "s"]
    return any(low < address + nbytes and address < high for low, high in shared for address, nbytes in spans)


def _are_others_at_work() -> bool:
    """Whether libraries have threads of their own, to which a child that reads their objects would hand work, and wait for ever.
    The threads that BLAS and torch share loops with bear the name of the process: those are idle meanwhile, and nothing asks
    them."""
    threading = sys.modules.get("threading")
    pythons = {str(thread.native_id) for thread in threading.enumerate()} if threading is not None else set()
    try:
        names = {task: _name_of(task) for task in os.listdir(_TASKS)}
    except OSError:  # one has just ended
        return True
    own = names.get(str(os.getpid()))
    return any(name != own for task, name in names.items() if task not in pythons)


def _name_of(task: str) -> str:
    with open(f"{_TASKS}/{task}/comm", encoding="utf-8", errors="replace") as file:
        return file.read()


_TASKS = "/proc/self/task"


def _resident() -> int:
    """Bytes of this process that are in memory; 0 where that cannot be known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
