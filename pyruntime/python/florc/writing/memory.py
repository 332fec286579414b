"""Memory that the script and the process beside it share: records in the order of their calls, a ring in one file without a name.

The script puts records in, the other process says up to where it is done. Positions only grow; a record lies in one piece at its
position modulo the ring's size. Whenever the ring is empty the next record goes to its beginning: memory that was touched is used
again, and no more is touched than ever waited.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from typing import NamedTuple

HEAD = 4096
"""Bytes before the ring: words of 8 bytes that one side writes and the other reads."""
DONE, REPORTS, WAITED_FOR, ARRIVED = 0, 1, 2, 3
"""Words: up to which position records are done; how many reports there were; whether the script waits; from `ARRIVED` on, by
device, the last record whose bytes it has written."""
ALIGNMENT = 64
DEFAULT = 512 << 20
LEAST = 1 << 20
_POPULATE_WRITE = 23
"""`MADV_POPULATE_WRITE` of Linux."""


def limit_of(memory: int | None) -> int:
    """How many bytes may wait. By default 512 MiB, or a quarter of the free memory where that is less."""
    if memory is not None:
        return max(aligned(memory), LEAST)
    return max(min(DEFAULT, _free() // 4), LEAST) // ALIGNMENT * ALIGNMENT


def _free() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = dict(line.split(":", 1) for line in file)
        return int(found["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return 4 * DEFAULT


def aligned(size: int) -> int:
    """The next multiple of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def file_without_name() -> int:
    """The descriptor of memory that other processes can map."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("florc-logging")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Mapped:
    """The file as this process sees it."""

    def __init__(self, descriptor: int):
        self._map = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
        self.bytes = memoryview(self._map)
        self.words = self.bytes[:HEAD].cast("Q")
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._touched = 0

    def touch(self, end: int) -> None:
        """Have the memory up to this offset at hand: page by page, when it is first written to, that takes five times as long."""
        end = min(end, len(self.bytes))
        if end > self._touched:
            start = self._touched // mmap.PAGESIZE * mmap.PAGESIZE
            with contextlib.suppress(OSError, ValueError, AttributeError):  # an older kernel, another system
                self._map.madvise(_POPULATE_WRITE, start, end - start)
            self._touched = end


class Place(NamedTuple):
    """Where a record goes: its offset in the file, and the position at which the ring is free again once it is done."""

    offset: int
    end: int


class Ring:
    """The script's side. `limit`: bytes that may wait."""

    def __init__(self, limit: int):
        self.limit = self.size = limit
        self.descriptor = file_without_name()
        os.ftruncate(self.descriptor, HEAD + limit)
        self.mapped = Mapped(self.descriptor)
        self._head = 0
        """The end of the last record."""
        self._floor = 0
        """What lies before this position is free, whatever the other side has said."""

    def waiting(self) -> int:
        """Bytes of records that are not done."""
        return self._head - max(self.mapped.words[DONE], self._floor)

    def place(self, nbytes: int) -> Place | None:
        """A place for a record, from now on its own; None while there is no room."""
        nbytes = aligned(nbytes)
        if self.waiting() <= 0:
            self._head = self._floor = -(-self._head // self.size) * self.size
        start = self._head
        if start % self.size + nbytes > self.size:
            start = -(-start // self.size) * self.size
        if start + nbytes - max(self.mapped.words[DONE], self._floor) > self.size:
            return None
        self._head = start + nbytes
        return Place(HEAD + start % self.size, self._head)

    def resized(self, size: int) -> None:
        """Have another size. Nothing may wait."""
        os.ftruncate(self.descriptor, HEAD + size)
        self.size = size
        self.mapped = Mapped(self.descriptor)
        self._head = self._floor = -(-self._head // size) * size

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)
