"""How much disk a run's checkpoints may take (`--max-disk`), and which ones give way when that is used up."""

from __future__ import annotations

import sys

from .. import _native
from ..support.light import NamedTuple


class Kept(NamedTuple):
    """A checkpoint on disk: its number, which execution of its block it is of, bytes of the pack written for it."""

    seq: int
    execution: int
    nbytes: int


class Budget:
    """The bytes of the run's packs, and the spacing of its checkpoints.

    When the next checkpoint might not fit, every other one of the block that takes the most is dropped, and from then on
    the block is checkpointed at the distance that those left have. The limit is never passed: what is on its way counts
    with its full size, and nothing more is taken until the packs are gone.
    """

    def __init__(self, limit: int | None):
        self.limit = limit
        self.dropped = 0
        self.freed_bytes = 0
        self.used = 0
        self._staged: dict[int, tuple[str, int, int]] = {}
        self._kept: dict[str, list[Kept]] = {}
        self._distance: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._waiting = 0

    def is_due(self, block: str, execution: int) -> bool:
        """Whether a block's execution is far enough from the one that was kept last."""
        return block not in self._last or execution - self._last[block] >= self._distance.get(block, 1)

    def has_room(self, nbytes: int, chunks: int) -> bool:
        """Whether a checkpoint of so many bytes surely fits."""
        if self.limit is None:
            return True
        return self.used + sum(size for _, _, size in self._staged.values()) + _native.most_packed(nbytes, chunks) <= self.limit

    def staged(self, seq: int, block: str, execution: int, nbytes: int, chunks: int) -> None:
        """A checkpoint is on its way."""
        if self.limit is not None:
            self._staged[seq] = (block, execution, _native.most_packed(nbytes, chunks))
            self._last[block] = execution

    def done(self, seq: int, written: int, failed: bool) -> None:
        """It is on disk, or never will be."""
        block, execution, _ = self._staged.pop(seq, (None, 0, 0))
        if block is not None:
            self.used += written
            if not failed:
                self._kept.setdefault(block, []).append(Kept(seq, execution, written))

    def thin(self) -> list[int]:
        """The numbers of checkpoints to drop; none while earlier ones are being removed."""
        several = [kept for kept in self._kept.values() if len(kept) > 1]
        if self._waiting or self._staged or not several:
            return []
        kept = max(several, key=lambda kept: sum(one.nbytes for one in kept))
        block = next(block for block, own in self._kept.items() if own is kept)
        left, gone = kept[0::2], kept[1::2]
        gaps = [b.execution - a.execution for a, b in zip(left, left[1:])]
        self._distance[block] = min(gaps) if gaps else 2 * self._distance.get(block, gone[0].execution - left[0].execution)
        self._kept[block] = left
        self._last[block] = left[-1].execution
        self._waiting += 1
        self.dropped += len(gone)
        return [one.seq for one in gone]

    def freed(self, nbytes: int) -> None:
        """What was dropped is off the disk; less than was written for it when other checkpoints share its bytes."""
        self._waiting = max(self._waiting - 1, 0)
        self.freed_bytes += nbytes
        self.used -= nbytes

    def gives_up(self, block: str) -> bool:
        """Whether nothing is left that could give way: then the block is never due again."""
        if self._waiting or self._staged:
            return False
        self._last[block] = 0
        self._distance[block] = sys.maxsize
        return True
