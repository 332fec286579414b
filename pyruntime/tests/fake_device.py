"""A device for tests: tensors of the CPU are taken for tensors of a device whose copies to the host happen when told.

What the training launches happens at once, in its order: a copy on the device is a copy at this instant. What is put on
the side stream happens at `advance`, and reads the memory as it is then; so a copy of live memory that the training may
overwrite is torn, unless the training's own stream was made to wait for it (`hold`). Waiting for the device raises.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch


class Event:
    """Done once the side stream got there."""

    def __init__(self, device: FakeDevice):
        self.device = device
        self.done = False
        self.asked = 0

    def query(self) -> bool:
        """Whether it is done."""
        if self.device.broken:
            raise RuntimeError("CUDA error: device-side assert triggered\nmore lines")
        self.asked += 1
        if self.device.patience is not None and self.asked > self.device.patience:
            self.device.advance()
        return self.done

    def synchronize(self) -> None:
        """Training waits for nothing."""
        raise AssertionError("the training path waits for an event")


class FakeDevice:
    """`room_bytes`: what copies on the device may take. `patience`: how often an event is asked until it is done."""

    def __init__(self, room_bytes: int = 1 << 30, patience: int | None = None):
        self.room_bytes, self.patience = room_bytes, patience
        self.out_of_memory = self.broken = False
        self.side: list[Callable[[], None]] = []
        self.clones = self.held = self.pins = 0

    def room(self) -> int:
        """Bytes for copies."""
        return self.room_bytes

    def pinned(self, nbytes: int) -> Any:
        """Host memory, full of what no tensor holds."""
        self.pins += 1
        return torch.full((nbytes,), 0xAA, dtype=torch.uint8)

    def order(self) -> bool:
        """All is in order."""
        return False

    def gather(self, parts: Any, nbytes: int) -> Any:
        """A copy at this instant."""
        if self.out_of_memory:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        self.clones += 1
        buffer = torch.full((nbytes,), 0xBB, dtype=torch.uint8)
        for source, offset in parts:
            buffer[offset : offset + source.numel()] = source
        return buffer

    def drain(self, copies: Any, hold: bool) -> Event:
        """Copies at the next `advance`; the training's stream waits for them when it is held."""
        event = Event(self)
        for source, target in copies:
            assert source.dtype == target.dtype == torch.uint8 and source.shape == target.shape
        if hold:
            # What the training launches next finds them done; the host does not know yet.
            self.held += 1
            for source, target in copies:
                target.copy_(source)
        else:
            self.side += [lambda source=source, target=target: target.copy_(source) for source, target in copies]
        self.side.append(lambda: setattr(event, "done", True))
        return event

    def advance(self) -> None:
        """The side stream does everything that was put on it."""
        while self.side:
            self.side.pop(0)()


def install(device: FakeDevice, patch: Callable[[Any, str, Any], None] = setattr) -> FakeDevice:
    """Have tensors of the CPU taken for the device's. `patch` is setattr, or pytest's to take it back."""
    from florc import _native
    from florc.staging import devices
    from florc.state import kinds, tensors

    encode = sys.modules["florc.state.encode"]

    def waits(*_: Any) -> None:
        raise AssertionError("the training path waits for the device")

    # tensors of the CPU are otherwise encoded natively
    patch(encode, "_HOW", {encoder: how for encoder, how in encode._HOW.items() if how != "tensor"})
    patch(encode, "_CLASSES", _native.Classes(encode._how))
    patch(tensors, "HOST", "nowhere")
    patch(tensors, "DEFERRED", frozenset({"cpu"}))
    patch(devices, "MAKERS", {"cpu": lambda name: device})
    patch(devices, "_made", {})
    patch(kinds.DeviceLeaf, "read", waits)
    patch(torch.cuda, "synchronize", waits)
    return device
