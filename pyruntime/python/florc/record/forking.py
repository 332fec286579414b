"""Which blocks are encoded by a forked child, and what that costs."""

from __future__ import annotations

import gc
import os
import sys

from ..support.light import NamedTuple
from ..support.static import name_of
from .checkpoint import Answer, NotKept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .. import _native

FORK_S_PER_BYTE = 12e-3 / 1e9
"""First guess of what a clone costs per resident byte: its pages are listed once more, not copied."""
FAULT_S = 1e-5
"""What it costs to give the parent a page of its own: 3.4 to 15.6 µs were measured."""
SLOWER = 1.5
"""First guess of how much longer a child takes to walk: counting a reference copies the page that the object is in."""
LEAST_WALK_S = 5e-3
"""State that is encoded faster is never worth a process."""
ROOM, SLACK = 1.25, 1 << 16
"""How much a checkpoint may have grown since the last one: by this factor and so many bytes."""
SHORTEST_DEADLINE_S, LONGEST_DEADLINE_S = 10.0, 60.0
PATIENCE = 20.0
"""A child may take so many times as long as the main thread did."""
DEATHS = 3
"""After so many children that ended too soon no more are started; after so many in vain for a block, none for it."""


class Main(NamedTuple):
    """The last checkpoint of a block that the main thread encoded: seconds it was held up, bytes, chunks."""

    seconds: float
    nbytes: int
    chunks: int


class Forking:
    """Per block: what the two ways of encoding cost the run. `engine`: only "auto" and "fork" ever fork."""

    def __init__(self, engine: str):
        self.engine = engine
        self.main: dict[str, Main] = {}
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
        if answer.encoded.encoder.copied:
            self.main.pop(block, None)
        else:
            self.main[block] = Main(seconds, answer.nbytes, len(answer.encoded.leaves) + 1)

    def forked_cost(self, block: str, share: float) -> float:
        """Seconds that a forked checkpoint will take from the run.

        That is: the clone, `share` of the child's processor time, and the pages that have to be copied. Before the first
        one only a guess, without the pages: they depend on how much the script writes meanwhile.
        """
        known = self.cost.get(block)
        if known is not None:
            return known
        clone = self.clone if self.clone is not None else _resident() * FORK_S_PER_BYTE
        return clone + SLOWER * self.main[block].seconds * share

    def prefers(self, block: str, share: float) -> bool:
        """Whether a child should encode the block's next checkpoint."""
        main = self.main.get(block)
        if main is None or self.engine not in ("auto", "fork"):
            return False
        if self.deaths >= DEATHS or self.in_vain.get(block, 0) >= DEATHS:
            return False
        if self.engine == "fork":
            return True
        return main.seconds >= LEAST_WALK_S and self.forked_cost(block, share) < main.seconds

    def room(self, block: str) -> int:
        """Bytes to keep for what a child will write."""
        main = self.main[block]
        # a chunk is announced by a word and begins at a multiple of 64 bytes
        return int((main.nbytes + 72 * main.chunks) * ROOM) + SLACK

    def start(self, recorder: _native.Recorder, block: str, look: Callable[[], Answer]) -> _native._Cloned | None:
        """Clone a child that looks; None when there is no room or another one lives."""
        deadline = min(max(PATIENCE * self.main[block].seconds, SHORTEST_DEADLINE_S), LONGEST_DEADLINE_S)
        others = len(sys._current_frames()) > 1
        receipt = recorder.fork(self.room(block), lambda: in_child(look), deadline, others)
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
        background = done.encode_s * share + done.faults * FAULT_S
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


def _resident() -> int:
    """Bytes of this process that are in memory; 0 where that cannot be known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
