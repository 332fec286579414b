"""Time stamps: numbers that a clock of the process showed while a run went on.

Libraries keep such numbers, for example when an episode began or when a progress bar was drawn. They differ in every run. florc
takes a number for a time stamp only if it lies within the range that the clock had during the recording, and if the number in
its place in the replay lies within the range of the replay. For the time of day this is nearly certain, because its numbers are
like no others. `perf_counter` and `monotonic` count from the start of the machine. Their numbers must meet three more
conditions: they are whole nanoseconds, as these clocks give them; no 32-bit float could hold them; and the two runs have none
of them in common.
"""

from __future__ import annotations

import struct
import time
from typing import Any, NamedTuple

_DATETIME = 10
Span = tuple[float, float]
"""What a clock showed at first and at last, in seconds."""


class Spans(NamedTuple):
    """What the clocks showed while a run went on; None where that is not known."""

    wall: Span | None
    steady: Span | None


class Since:
    """What the clocks have shown in this process, from now on."""

    def __init__(self) -> None:
        self.wall, self.steady = time.time(), time.perf_counter()

    def spans(self) -> Spans:
        """Until now."""
        return Spans((self.wall, time.time()), (self.steady, time.perf_counter()))


def are_stamps(recorded: Any, replayed: Any, then: Spans, now: Spans) -> bool:
    """Whether two values are what the same clock showed in the recorded run and in this one."""
    is_whole = type(recorded) is int or type(replayed) is int  # a count may be like the steady clock's nanoseconds
    recorded, replayed = _seconds(recorded), _seconds(replayed)
    if recorded is None or replayed is None:
        return False
    if _holds(then.wall, recorded) and _holds(now.wall, replayed):
        return True
    return (
        not is_whole
        and _holds(then.steady, recorded)
        and _holds(now.steady, replayed)
        and _are_apart(then.steady, now.steady)
        and _is_fine(recorded)
        and _is_fine(replayed)
    )


def _seconds(value: Any) -> float | None:
    """A number, or the ten bytes of which a `datetime` without a zone is made, as seconds."""
    if type(value) is int:  # nanoseconds, as `time.time_ns` gives them
        return value / 1e9
    if type(value) is not bytes or len(value) != _DATETIME:
        return value if type(value) is float else None
    import datetime

    try:
        made: Any = datetime.datetime  # takes what its `__reduce__` gives, undocumented
        return float(made(value).timestamp())
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _holds(span: Span | None, value: float) -> bool:
    return span is not None and span[0] <= value <= span[1]


def _are_apart(one: Span | None, two: Span | None) -> bool:
    return one is not None and two is not None and (one[1] < two[0] or two[1] < one[0])


def _is_fine(value: float) -> bool:
    """Whether it is a number of nanoseconds, and no number of a tensor."""
    return round(value * 1e9) / 1e9 == value and struct.unpack("f", struct.pack("f", value))[0] != value
