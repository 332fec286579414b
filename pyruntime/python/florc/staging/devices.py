"""What staging needs of a device, and CUDA's way of giving it. Nothing here waits for a device. The training's work is that of
all streams that `process.streams` knows.

A device has: `room()`, bytes that copies on the device may take; `pinned(n)`, host memory that it can write on its own;
`gather`, copies on the device, in the order of the training's work; `drain`, copies to host memory beside the training,
and an event whose `query()` says that they are done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from ..process import streams

SPARE = 0.05
"""Share of a device's memory that copies leave to the training's own peaks, which the allocator may split badly."""


class Device(Protocol):
    """What staging asks of a device."""

    def room(self) -> int:
        """Bytes that copies on the device may take."""

    def pinned(self, nbytes: int) -> Any:
        """Host memory that it can write on its own, a tensor of bytes."""

    def order(self) -> bool:
        """What it copies from now on is in the order of all of the training's work. Whether that is of several streams."""

    def gather(self, parts: list[tuple[Any, int]], nbytes: int) -> Any:
        """One buffer on the device with every tensor of bytes at its offset."""

    def drain(self, copies: list[tuple[Any, Any]], hold: bool) -> Any:
        """Copies to host memory; the event of their end."""


class Cuda:
    """A device of torch.cuda."""

    def __init__(self, name: str):
        self._torch: Any = sys.modules["torch"]
        self._device = self._torch.device(name)
        self._side = streams.own(self._device)
        self._peak = 0

    def room(self) -> int:
        """Bytes that are left at the training's own peak, even when it comes while the copies live.

        The peak is remembered here, because a script may reset torch's.
        """
        cuda = self._torch.cuda
        free, total = cuda.mem_get_info(self._device)
        self._peak = max(self._peak, cuda.max_memory_allocated(self._device))
        return int(free + cuda.memory_reserved(self._device) - self._peak - SPARE * total)

    def pinned(self, nbytes: int) -> Any:
        """Page-locked host memory, a tensor of bytes."""
        return self._torch.empty(nbytes, dtype=self._torch.uint8, device="cpu", pin_memory=True)

    def order(self) -> bool:
        """The current stream waits for the others, on the device."""
        return streams.order(self._device)

    def gather(self, parts: list[tuple[Any, int]], nbytes: int) -> Any:
        """One buffer with every tensor of bytes at its offset, filled after all work that the training has launched and
        before all that it launches later. Raises when there is no memory."""
        several = self.order()
        buffer = self._torch.empty(nbytes, dtype=self._torch.uint8, device=self._device)
        targets = [buffer[offset : offset + source.numel()] for source, offset in parts]
        with self._torch.no_grad():
            self._torch._foreach_copy_(targets, [source for source, _ in parts])
            for source, _ in parts if several else ():  # memory of another stream, which that may give away
                source.record_stream(self._torch.cuda.current_stream(self._device))
        return buffer

    def drain(self, copies: list[tuple[Any, Any]], hold: bool) -> Any:
        """Copies tensors of bytes to pinned ones on a stream of its own, after what the training has launched.

        Returns the event of their end. With `hold` nothing that the training launches later begins before.
        """
        cuda = self._torch.cuda
        compute = cuda.current_stream(self._device)
        if hold:
            self.order()
        ready = compute.record_event()
        with cuda.stream(self._side), self._torch.no_grad():
            self._side.wait_event(ready)
            for source, target in copies:
                target.copy_(source, non_blocking=True)
                # The allocator must not give the memory away before the copy is done, whoever drops it.
                source.record_stream(self._side)
            done = self._side.record_event()
        if hold:
            compute.wait_event(done)
        return done


MAKERS: dict[str, Callable[[str], Device]] = {"cuda": Cuda}
"""Type of device -> what makes one of a name (`cuda:0`)."""
_made: dict[str, Device] = {}


def named(name: str) -> Device:
    """The device of this name."""
    found = _made.get(name)
    if found is None:
        found = _made[name] = MAKERS[name.split(":", 1)[0]](name)
    return found


def in_use() -> bool:
    """Whether the program computes on a device."""
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    return hasattr(cuda, "is_initialized") and bool(cuda.is_initialized())


def capturing() -> bool:
    """Whether a CUDA graph is being captured: a copy would become part of it, to ask for an event would break it."""
    try:
        return in_use() and bool(sys.modules["torch"].cuda.is_current_stream_capturing())
    except RuntimeError:  # the device failed: its events say so, too
        return False
