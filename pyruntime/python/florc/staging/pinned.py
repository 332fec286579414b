"""Host memory that devices write on their own: where a checkpoint's leaves lie in it, and a pool of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

BLOCK = 64 << 20
"""Leaves are packed into blocks of at most so many bytes; a larger leaf has one for itself."""
SMALLEST = 64 << 10
ALIGNMENT = 64
"""Leaves begin at multiples of it, a line of the processor's cache: devices and copies are fastest so."""


class Block(NamedTuple):
    """`nbytes` used; `leaves`: (index of a leaf, its offset in bytes)."""

    nbytes: int
    leaves: list[tuple[int, int]]


def layout(sizes: Sequence[tuple[int, int]]) -> list[Block]:
    """Blocks for leaves given as (index, bytes), in their order."""
    blocks: list[Block] = []
    end = 0
    leaves: list[tuple[int, int]] = []
    for index, nbytes in sizes:
        start = -(-end // ALIGNMENT) * ALIGNMENT
        if leaves and start + nbytes > BLOCK:
            blocks.append(Block(end, leaves))
            start, leaves = 0, []
        leaves.append((index, start))
        end = start + nbytes
    if leaves:
        blocks.append(Block(end, leaves))
    return blocks


def rounded(nbytes: int) -> int:
    """The size of the buffer for a block: torch's allocator of pinned memory takes powers of two, too."""
    return max(SMALLEST, 1 << max(nbytes - 1, 0).bit_length())


class Pool:
    """Buffers of at most `limit` bytes together, free ones included. They are kept: pinning memory takes long."""

    def __init__(self, limit: int):
        self.limit = limit
        self.total = 0
        self._free: list[Any] = []

    def take(self, sizes: Sequence[int], make: Callable[[int], Any]) -> list[Any] | None:
        """A buffer for each size in bytes; None when they would pass the limit."""
        taken: list[Any] = []
        wanted = [rounded(nbytes) for nbytes in sizes]
        used = self.total - sum(buffer.numel() for buffer in self._free)
        if used + sum(wanted) > self.limit:
            return None
        missing = []
        for nbytes in wanted:
            fit = next((i for i, buffer in enumerate(self._free) if buffer.numel() == nbytes), None)
            taken.append(None if fit is None else self._free.pop(fit))
            if fit is None:
                missing.append(len(taken) - 1)
        while self._free and self.total + sum(wanted[i] for i in missing) > self.limit:
            self.total -= self._free.pop().numel()
        try:
            for i in missing:
                taken[i] = make(wanted[i])
                self.total += wanted[i]
        except Exception:
            self._free += [buffer for buffer in taken if buffer is not None]
            raise
        return taken

    def give(self, buffers: list[Any]) -> None:
        """Buffers that nothing writes or reads any more."""
        self._free += buffers

    def forget(self, buffers: list[Any]) -> None:
        """Buffers that a device may still write: they are not used again."""
        self.total -= sum(buffer.numel() for buffer in buffers)
