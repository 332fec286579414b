"""When `logging` was imported, from where it counts the time of its records (`relativeCreated`): that may have been before the
script began, in the recorded run or in a replay, so that it is no value of the script's."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_NS = 10**9
_AS_IMPORTED = ("time.time in logging, as it was imported", "time.time_ns in logging, as it was imported")


def now() -> int | None:
    """In nanoseconds since 1970; None where it is not imported."""
    began: Any = getattr(sys.modules.get("logging"), "_startTime", None)
    if isinstance(began, float):  # before Python 3.13
        return round(began * _NS)
    return began if type(began) is int else None


def put_back(before: int | None, inputs: Iterable[tuple[str, str, list[int], list[str]]]) -> None:
    """It is as it was when the run was recorded. `before`: if that was before the script began; else it is among the inputs."""
    import struct

    began = before
    for _, name, numbers, _ in inputs if began is None else ():
        if name in _AS_IMPORTED and numbers:
            began = round(struct.unpack("d", struct.pack("q", numbers[0]))[0] * _NS) if name == _AS_IMPORTED[0] else numbers[0]
            break
    if began is not None and now() is not None:
        module: Any = sys.modules["logging"]
        module._startTime = began / _NS if isinstance(module._startTime, float) else began
