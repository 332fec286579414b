"""Tensors of CUDA devices: the device writes them into the shared memory on its own, and then a word that says so.

Nobody waits: the training goes on, and the process beside the script waits for the word. No call asks a device for anything, so a
graph that the script captures is not disturbed.
"""

from __future__ import annotations

import sys
from typing import Any

from ..staging import devices
from .memory import ARRIVED, HEAD, Ring, aligned
from .snapshot import NotCopied, Record

_MOST_DEVICES = HEAD // 8 - ARRIVED


class Arrivals:
    """Copies from devices to one ring."""

    def __init__(self, ring: Ring):
        self._ring = ring
        self._mapped: Any = None
        self._bytes: Any = None
        """The ring as a tensor, once devices may write to it."""
        self._is_locked = False
        self._told: dict[str, int] = {}
        """By device: the last word that it was told to write."""
        self._events: dict[str, Any] = {}

    def copy(self, record: Record, offset: int) -> tuple[int, int]:
        """Launch the copies of a record at this offset: which word will say that they are done, and what it will be.

        Raises what a device raises, and NotCopied where a graph is being captured."""
        if devices.capturing():
            raise NotCopied("a CUDA graph is being captured")
        torch: Any = sys.modules["torch"]
        names = [str(record.leaves[at].device) for at in record.on_device]
        if not self._prepared(torch) or len(set(names)) > 1:
            for at in record.on_device:
                start = offset + record.offset(at)
                _bytes_of(torch, self._whole(torch)[start : start + record.leaves[at].nbytes], record.leaves[at])
            return 0, 0
        name = names[0]
        number = list(self._told).index(name) if name in self._told else len(self._told)
        if number >= _MOST_DEVICES:
            raise NotCopied("more devices than words")
        word = self._told[name] = self._told.get(name, 0) + 1
        self._launch(torch, devices.named(name), name, record, offset, (number, word))
        return ARRIVED + number, word

    def _launch(self, torch: Any, device: devices.Device, name: str, record: Record, offset: int, said: tuple[int, int]) -> None:
        number, word = said
        whole = self._whole(torch)
        parts, end = [], 0
        for at in record.on_device:
            leaf = record.leaves[at]
            if leaf.nbytes:
                parts.append((leaf.contiguous().view(-1).view(torch.uint8), end, offset + record.offset(at)))
                end = aligned(end + leaf.nbytes)
        sources = [source for source, _, _ in parts]
        is_cloned = bool(parts) and device.room() >= end
        if is_cloned:
            clone = device.gather([(source, start) for source, start, _ in parts], end)
            sources = [clone[start : start + source.numel()] for source, start, _ in parts]
        copies = [(source, whole[target : target + source.numel()]) for source, (_, _, target) in zip(sources, parts)]
        flag = torch.full((1,), word, dtype=torch.int64, device=name).view(torch.uint8)
        at = 8 * (ARRIVED + number)
        self._events[name] = device.drain([*copies, (flag, whole[at : at + 8])], hold=not is_cloned)

    def wait(self) -> None:
        """Until every device is done. Raises what a device raises."""
        for event in self._events.values():
            event.synchronize()

    def _whole(self, torch: Any) -> Any:
        if self._mapped is not self._ring.mapped:
            self._release(torch)
            self._mapped = self._ring.mapped
            self._bytes = torch.frombuffer(self._mapped.bytes, dtype=torch.uint8)
        return self._bytes

    def _prepared(self, torch: Any) -> bool:
        """Whether devices may write to the ring: its pages are locked for them once."""
        if self._mapped is not self._ring.mapped:
            whole = self._whole(torch)
            self._is_locked = int(torch.cuda.cudart().cudaHostRegister(whole.data_ptr(), whole.numel(), 0)) == 0
        return self._is_locked

    def _release(self, torch: Any) -> None:
        if self._bytes is not None and self._is_locked:
            torch.cuda.cudart().cudaHostUnregister(self._bytes.data_ptr())

    def close(self) -> None:
        """Have the pages locked no more. Every device is done."""
        if self._bytes is not None:
            self._release(sys.modules["torch"])
            self._bytes = self._mapped = None


def _bytes_of(torch: Any, target: Any, leaf: Any) -> None:
    if leaf.nbytes:
        target.copy_(leaf.contiguous().view(-1).view(torch.uint8))
