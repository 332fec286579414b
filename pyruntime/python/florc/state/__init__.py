"""The state of named places as one object graph plus raw bytes, and back.

`encode` reads it, `restore` puts it back in place, `differences` compares two. Nothing here imports torch or numpy:
they are used when the program has them.
"""

from .alone import Holders
from .autograd import NO_HISTORY, History
from .deferred import deferred
from .differences import Difference, differences
from .encode import encode, walks
from .equal import is_value, same_value
from .grade import grade
from .kept import exchanged, held_by
from .kinds import CannotRestore, DeviceLeaf, Encoded, NeedsCopy, Unsupported, leaf_bytes, on_host
from .lapsed import Held, Lapsing, is_lapsed, lapse_workers
from .lapsed import gone_with as gone_with_lapsed
from .lapsed import watch as watch_lapsed
from .lapsed import why_missed as why_lapsed_are_missed
from .owners import owners_of
from .paths import by_reference, plain
from .restore import restore
from .sets import lost_orders

unnoticed = deferred.guard.lowered
"""Around what florc does that runs no code of the user's, and asks no tensor what it holds: what waits goes on waiting."""

__all__ = [
    "NO_HISTORY",
    "CannotRestore",
    "DeviceLeaf",
    "Difference",
    "Encoded",
    "Held",
    "History",
    "Holders",
    "Lapsing",
    "NeedsCopy",
    "Unsupported",
    "by_reference",
    "deferred",
    "differences",
    "encode",
    "exchanged",
    "gone_with_lapsed",
    "grade",
    "held_by",
    "is_lapsed",
    "is_value",
    "lapse_workers",
    "leaf_bytes",
    "lost_orders",
    "on_host",
    "owners_of",
    "plain",
    "restore",
    "same_value",
    "unnoticed",
    "walks",
    "watch_lapsed",
    "why_lapsed_are_missed",
]
