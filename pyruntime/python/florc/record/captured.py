"""CUDA graphs that the script captures.

What runs before a capture warms the device up for it: handles of libraries, kernels that are compiled, memory that the
optimizer takes. None of that is state that a checkpoint holds, and a capture without it fails. So no checkpoint of what ran
before is kept: a replay runs that again. Graphs that `torch.compile` captures are warmed up by itself, in each process.
"""

from __future__ import annotations

import sys

from .. import _native
from ..process.methods import around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WHY = "a CUDA graph was captured after it, and it may have warmed the device up for that"
_ITS_OWN = "/torch/_inductor/"


class Captures:
    """Which checkpoints were taken before the last capture; `drop` is called on the thread that takes them."""

    def __init__(self, recorder: _native.Recorder, note: _native._Note):
        self._recorder, self._note = recorder, note
        self.count = 0
        """How many there were; a checkpoint belongs to those before which it was taken."""
        self._sent: dict[int, tuple[str, int]] = {}
        """Checkpoint -> its block, and `count` when it was taken."""
        self._told: set[str] = set()
        around("torch.cuda.graphs", "CUDAGraph", "capture_begin", self._begin, "seeing a CUDA graph captured")

    def _begin(self, original: Any, *args: Any, **options: Any) -> Any:
        at = sys._getframe(1)
        while at is not None and _ITS_OWN not in at.f_code.co_filename:
            at = at.f_back  # type: ignore[assignment]  # the outermost frame has None
        if at is None:
            self.count += 1
        return original(*args, **options)

    def sent(self, seq: int, block: str, count: int) -> None:
        """The recorder has a checkpoint, which was taken when there had been so many captures."""
        self._sent[seq] = (block, count)

    def drop(self) -> None:
        """Have those dropped that a capture came after."""
        if not self.count:
            return
        gone = [seq for seq, (_, count) in self._sent.items() if count < self.count]
        for block in {self._sent.pop(seq)[0] for seq in gone} - self._told:
            self._told.add(block)
            self._note("not kept", block=block, why=WHY)
        if gone:
            self._recorder.drop_checkpoints(gone)
