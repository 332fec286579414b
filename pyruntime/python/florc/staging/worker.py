"""The thread that hands over checkpoints whose bytes have arrived.

Copying them to the recorder's memory takes as long as reading them, and needs neither the GIL nor a device: a thread
that made CUDA calls could break a graph that the script captures meanwhile.
"""

from __future__ import annotations

import _thread
import time
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .. import _native

PAUSE_S = 5e-3
"""Between two attempts, while the recorder's memory is full of what the disk has not taken yet."""


class Parcel(NamedTuple):
    """A checkpoint in host memory: JSON, object graph, and `MemoryLeaf` or bytes for each leaf."""

    header: str
    graph: bytes
    leaves: list[Any]
    transfer: Any
    """What `Staging` knows it by (`staging.Transfer`)."""


class Result(NamedTuple):
    """What became of a parcel: its number at the recorder, or why it is lost."""

    parcel: Parcel
    seq: int | None
    why: str


class Worker:
    """Submits parcels one after the other."""

    def __init__(self, recorder: _native.Recorder):
        self.results: deque[Result] = deque()
        self.given = 0
        """Parcels whose result was not taken yet."""
        self._recorder = recorder
        self._waiting: SimpleQueue[Parcel] = SimpleQueue()
        self.running = False
        self._ends_at = float("inf")

    def put(self, parcel: Parcel) -> None:
        """Have it submitted. The thread is none of `threading.enumerate()`: the script's count is its own."""
        self.given += 1
        if not self.running:
            try:
                _thread.start_new_thread(self._run, ())
                self.running = True
            except RuntimeError:  # no thread can be had, or Python is ending
                self.results.append(self._deliver(parcel))
                return
        self._waiting.put(parcel)

    def taken(self) -> list[Result]:
        """The results since the last call."""
        found = []
        while self.results:
            found.append(self.results.popleft())
        self.given -= len(found)
        return found

    def end_within(self, seconds: float) -> None:
        """What the recorder has no room for after so long is lost."""
        self._ends_at = time.monotonic() + seconds

    def _run(self) -> None:
        while True:
            self.results.append(self._deliver(self._waiting.get()))

    def _deliver(self, parcel: Parcel) -> Result:
        try:
            while True:
                receipt = self._recorder.submit(parcel.header, parcel.graph, parcel.leaves)
                if receipt is not None:
                    return Result(parcel, receipt["seq"], "")
                dead = self._recorder.dead
                if dead or time.monotonic() > self._ends_at:
                    return Result(parcel, None, dead or "the disk did not keep up until the end of the run")
                time.sleep(PAUSE_S)
        except Exception as error:
            return Result(parcel, None, f"{type(error).__name__}: {error}")
