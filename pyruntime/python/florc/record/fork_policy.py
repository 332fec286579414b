"""What it costs to have a forked child encode a checkpoint, and when that is cheaper than the main thread: arithmetic on numbers
that were measured, and nothing else. `forking.py` measures them. Times are in seconds.

A clone costs the run three things: the call itself, during which all threads stand still; the pages that the script writes while
the child lives, which are copied; and the part of the child's processor time that the training would have used. The main thread
costs it the whole walk over the state.
"""

from __future__ import annotations

from .. import _native
from ..support.light import NamedTuple

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


class Walk(NamedTuple):
    """The last checkpoint of a block that the main thread encoded: seconds it was held up, bytes, chunks."""

    seconds: float
    nbytes: int
    chunks: int


def expected(walk: Walk, clone: float, share: float) -> float:
    """Seconds that a first forked checkpoint will take from the run. A guess without the copied pages: they depend on how much
    the script writes meanwhile. `clone`: of the call; `share`: the part of background work that training loses, 0 to 1."""
    return clone + SLOWER * walk.seconds * share


def clone_of(resident: int) -> float:
    """Seconds that the first clone of a process takes which has so many bytes in memory."""
    return resident * FORK_S_PER_BYTE


def background(encode: float, faults: int, share: float) -> float:
    """Seconds that a child took from the run after its clone: of so much processor time, with so many pages copied."""
    return encode * share + faults * FAULT_S


def is_slow(walk: Walk) -> bool:
    """Whether a process may be worth its while."""
    return walk.seconds >= LEAST_WALK_S


def is_cheaper(walk: Walk, cost: float) -> bool:
    """Whether a child should encode the next checkpoint, which costs so many seconds there."""
    return is_slow(walk) and cost < walk.seconds


def is_given_up(deaths: int, in_vain: int) -> bool:
    """Whether no child is started, after so many that ended too soon, and so many that served the block nothing."""
    return deaths >= DEATHS or in_vain >= DEATHS


def room(walk: Walk) -> int:
    """Bytes of staging memory to keep for what a child will write."""
    return int(_native.most_staged(0, walk.chunks, walk.nbytes) * ROOM) + SLACK


def deadline(walk: Walk) -> float:
    """Seconds after which a child is ended."""
    return min(max(PATIENCE * walk.seconds, SHORTEST_DEADLINE_S), LONGEST_DEADLINE_S)
