"""Takes checkpoints, and follows those whose bytes are on their way from a device."""

from __future__ import annotations

import ctypes
import sys
import time
from _thread import get_ident
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _native
from ..process import streams
from ..state import DeviceLeaf
from ..support import static
from . import devices
from .pinned import Block, Pool, layout
from .worker import Parcel, Worker

if TYPE_CHECKING:
    from types import FrameType

    from .. import _native
    from ..state import Encoded

HOST = ""
CLONE_BYTES_PER_S = 5e11
HELD_BYTES_PER_S = 12e9
"""About what reaches the host: for so long a device stands still that has no memory for a copy."""
DRAIN_S = 60.0
"""At the end of the run a device gets so long to finish its copies."""
ROOM_S = 600.0
"""And the disk so long to make room for them."""
PIECES_BYTES_PER_S = 5e8
"""First guess of how fast a checkpoint is taken in pieces, which waits for the disk; replaced by what is measured."""
PAUSE_S = 5e-4
Staged = Callable[[int], None]
Lost = Callable[[str], None]


class Transfer(NamedTuple):
    """A checkpoint that devices are copying. `staged(seq)` and `lost(why)` are told what becomes of it."""

    parcel: Parcel
    nbytes: int
    buffers: list[Any]
    events: list[Any]
    staged: Staged
    lost: Lost


class Staging:
    """Between encoding and the recorder. Methods are for the thread that trains; only `finish` waits for devices."""

    def __init__(self, recorder: _native.Recorder, limit: int | None = None):
        self.recorder = recorder
        self.capacity = recorder.room()
        self.pool = Pool(self.capacity if limit is None else limit)
        self.waiting = 0
        """Bytes taken that the recorder does not have yet."""
        self._copying: deque[Transfer] = deque()
        self._worker = Worker(recorder)
        self._finished: list[_native.Done] = []
        self._pieces_per_s = PIECES_BYTES_PER_S

    def submit(self, header: str, encoded: Encoded, staged: Staged, lost: Lost) -> float | None:
        """Take a checkpoint as it is at this instant.

        Returns the seconds for which the training is held up; None when there is no room now. Raises what a device
        raises: then nothing was taken.
        """
        if devices.in_use():
            streams.settle(encoded.leaves)
        if encoded.device_bytes and self._needs(encoded, len(header)) <= self.capacity:
            return self._begin(header, encoded, staged, lost)
        if encoded.device_bytes:
            receipt = self._from_device_in_pieces(header, encoded)
        elif self._fits(encoded, len(header)):
            receipt = self.recorder.submit(header, encoded.graph, encoded.leaves)
        else:
            receipt = self._learn(self.recorder.submit_in_pieces(header, encoded.graph, encoded.leaves))
        if receipt is None:
            return None
        staged(receipt["seq"])
        return receipt["stall_s"]

    def _fits(self, encoded: Encoded, header: int = 0) -> bool:
        """Whether there is memory for a copy of all of it. Otherwise it is taken in pieces, which waits for the disk."""
        needed = self._needs(encoded, header)
        return needed <= self.capacity or needed <= self.recorder.whole()

    @staticmethod
    def _needs(encoded: Encoded, header: int) -> int:
        """Bytes of staging memory that the whole takes at most."""
        return _native.most_staged(header, len(encoded.leaves) + 1, encoded.nbytes + len(encoded.graph))

    def _learn(self, receipt: _native._Staged | None) -> _native._Staged | None:
        if receipt is not None:
            self._pieces_per_s = receipt["bytes"] / max(receipt["stall_s"], PAUSE_S)
        return receipt

    def _from_device_in_pieces(self, header: str, encoded: Encoded) -> _native._Staged | None:
        """What does not fit beside the training is copied while it stands still; each copy waits for the device.

        A copy lets other threads run Python. Those that run the user's code could change what is copied later: then nothing is
        taken. A library's (one that pins batches, a progress bar's) works on what it is given.
        """
        if devices.capturing() or self.waiting or _users_threads():
            return None
        leaves = list(encoded.leaves)
        for device in {leaf.device for leaf in leaves if type(leaf) is DeviceLeaf}:
            devices.named(device).order()

        def fetch(leaf: int, start: int, nbytes: int, address: int) -> None:
            torch: Any = sys.modules["torch"]
            target = torch.frombuffer((ctypes.c_uint8 * nbytes).from_address(address), dtype=torch.uint8)
            target.copy_(leaves[leaf].tensor[start : start + nbytes])

        return self._learn(self.recorder.submit_in_pieces(header, encoded.graph, leaves, fetch))

    def copy_seconds(self, encoded: Encoded, host_bytes_per_s: float) -> float:
        """A guess of how long the training will be held up by taking this checkpoint."""
        device = encoded.device_bytes
        if self._needs(encoded, 0) > self.capacity if device else not self._fits(encoded):
            return (len(encoded.graph) + encoded.nbytes) / self._pieces_per_s
        return (len(encoded.graph) + encoded.nbytes - device) / host_bytes_per_s + device / HELD_BYTES_PER_S

    def is_blocked(self) -> bool:
        """Whether nothing can be taken now, whatever it is."""
        return devices.capturing() or devices.in_use() and streams.is_any_captured()

    def _begin(self, header: str, encoded: Encoded, staged: Staged, lost: Lost) -> float | None:
        begun = time.perf_counter()
        leaves = list(encoded.leaves)
        if devices.capturing():
            return None
        blocks = _blocks(leaves)
        first = devices.named(next(name for name in blocks if name != HOST))
        buffers = self.pool.take([block.nbytes for several in blocks.values() for block in several], first.pinned)
        if buffers is None:
            return None
        events: list[Any] = []
        cost = 0.0
        try:
            rest = iter(buffers)
            for name, several in blocks.items():
                targets = [next(rest) for _ in several]
                if name == HOST:
                    _copy_host(leaves, several, targets)
                else:
                    cost += _copy_device(devices.named(name), leaves, several, targets, events)
                for block, target in zip(several, targets):
                    for index, offset in block.leaves:
                        leaves[index] = _native.MemoryLeaf.of_tensor(target, offset, leaves[index].nbytes)
        except BaseException:
            self.pool.forget(buffers)
            raise
        nbytes = encoded.nbytes + len(encoded.graph)
        parcel = Parcel(header, encoded.graph, leaves, None)
        self._copying.append(Transfer(parcel, nbytes, buffers, events, staged, lost))
        self.waiting += nbytes
        return time.perf_counter() - begun + cost

    def poll(self) -> None:
        """Hand on what has arrived, in the order in which it was taken."""
        if not self._copying and not self._worker.given:
            return
        while self._copying and not devices.capturing() and self._has_arrived():
            transfer = self._copying.popleft()
            self._worker.put(transfer.parcel._replace(transfer=transfer))
        for parcel, seq, why in self._worker.taken():
            self.pool.give(parcel.transfer.buffers)
            self.waiting -= parcel.transfer.nbytes
            parcel.transfer.lost(why) if seq is None else parcel.transfer.staged(seq)

    def _has_arrived(self) -> bool:
        """Whether the oldest transfer has; one that its device reports as failed is dropped."""
        try:
            return all(event.query() for event in self._copying[0].events)
        except Exception as error:
            self._lose(f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}")
            return False

    def _lose(self, why: str) -> None:
        """Drop the oldest transfer."""
        transfer = self._copying.popleft()
        self.pool.forget(transfer.buffers)
        self.waiting -= transfer.nbytes
        transfer.lost(why)

    def finished(self, known: Iterable[int]) -> list[_native.Done]:
        """What the recorder has finished of the checkpoints whose numbers are known.

        The thread that submits may be told a number later than the disk is done with it.
        """
        self.poll()
        self._finished += self.recorder.poll()
        known = frozenset(known)
        ready = [done for done in self._finished if done.seq in known]
        self._finished = [done for done in self._finished if done.seq not in known]
        return ready

    def finish(self, drain_s: float = DRAIN_S, room_s: float = ROOM_S) -> None:
        """Wait until the recorder has everything; what takes longer is lost."""
        until = time.monotonic() + drain_s
        while self._copying and time.monotonic() < until:
            self.poll()
            if self._copying:
                time.sleep(PAUSE_S)
        while self._copying:
            self._lose(f"its device had not copied it {drain_s:g} s after the end of the run")
        self._worker.end_within(room_s)
        until = time.monotonic() + room_s + DRAIN_S
        while self._worker.given and time.monotonic() < until:
            self.poll()
            if self._worker.given:
                time.sleep(PAUSE_S)


def _users_threads() -> bool:
    """Whether another thread runs code of the user's."""
    own = get_ident()
    for thread, top in sys._current_frames().items():
        frame: FrameType | None = None if thread == own else top
        while frame is not None:
            if static.is_users(frame.f_code.co_filename):
                return True
            frame = frame.f_back
    return False


def _blocks(leaves: list[Any]) -> dict[str, list[Block]]:
    """Where leaves will lie in pinned memory, by device; those in host memory under HOST. Bytes stay where they are."""
    sizes: dict[str, list[tuple[int, int]]] = {}
    for index, leaf in enumerate(leaves):
        if type(leaf) is not bytes:
            sizes.setdefault(leaf.device if type(leaf) is DeviceLeaf else HOST, []).append((index, leaf.nbytes))
    return {name: layout(several) for name, several in sizes.items()}


def _copy_host(leaves: list[Any], blocks: list[Block], targets: list[Any]) -> None:
    for block, target in zip(blocks, targets):
        for index, offset in block.leaves:
            ctypes.memmove(target.data_ptr() + offset, leaves[index].address, leaves[index].nbytes)


def _copy_device(device: devices.Device, leaves: list[Any], blocks: list[Block], targets: list[Any], events: list[Any]) -> float:
    """Launch the copies of one device; the seconds for which its own work stands still.

    With memory for it, everything is copied on the device first, and goes to the host while the device works on.
    """
    nbytes = sum(block.nbytes for block in blocks)
    if device.room() >= nbytes:
        copies = [
            (
                device.gather([(leaves[index].tensor, offset) for index, offset in block.leaves], block.nbytes),
                target[: block.nbytes],
            )
            for block, target in zip(blocks, targets)
        ]
        events.append(device.drain(copies, hold=False))
        return nbytes / CLONE_BYTES_PER_S
    copies = [
        (leaves[index].tensor, target[offset : offset + leaves[index].nbytes])
        for block, target in zip(blocks, targets)
        for index, offset in block.leaves
    ]
    events.append(device.drain(copies, hold=True))
    return nbytes / HELD_BYTES_PER_S
