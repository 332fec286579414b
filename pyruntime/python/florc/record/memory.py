"""While recording: how much memory the process and its device hold, where iterations of outermost loops begin and end."""

from __future__ import annotations

import sys

from .. import _native
from ..support import mishaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BETWEEN_S = 0.05
"""Between two looks at a running loop lies at least so much time: one takes some ten microseconds, with a device some thirty."""


class Memory:
    """Looks, and says what records of the journal hold of it."""

    def __init__(self) -> None:
        self._due = 0.0

    def noted(self, path: str, now: float | None = None) -> dict[str, list[int]]:
        """What the record of an iteration has of it: `memory` (`Iteration` of `_native.pyi`), or nothing. `now`: the iteration
        begins at that time, in seconds; None: its loop, or the run, is over, so that it was the last one."""
        if path.count("=") > 1:  # of a loop inside another one
            return {}
        if now is not None:
            # before a first iteration another loop may have been left whose end nobody saw
            if now < self._due and not path.endswith("=0"):
                return {}
            self._due = now + BETWEEN_S
        held = _native.memory_held()
        return {"memory": [*held, *_on_device()]} if held else {}


def _on_device() -> list[int]:
    """Bytes that the tensors on the present CUDA device hold, and held at most. Nothing where the script has not begun to use
    CUDA: florc does not do that for it."""
    with mishaps.Swallow("looking at the device's memory"):
        cuda: Any = sys.modules.get("torch.cuda")
        if cuda is not None and cuda.is_initialized():
            held = cuda.memory_stats_as_nested_dict()["allocated_bytes"]["all"]
            return [held["current"], held["peak"]]
    return []
