"""The script's side of the process beside it: it starts the process, hands calls over, and hears what became of them."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import subprocess
import sys
import time
import warnings
import weakref
from typing import Any

from ..support.console import say
from .arrivals import Arrivals
from .helper import ANSWER, CALL, CLOSE, ERROR, EVENT, FRAME, LENGTH, RESIZE, SET, SYNC
from .memory import REPORTS, WAITED_FOR, Place, Ring
from .snapshot import Call, NotCopied, Record

__all__ = ["CALL", "EVENT", "SET", "Link", "NotCopied"]

_START = (
    # The child of a child is nobody's to wait for.
    "import os, sys\nif os.fork(): os._exit(0)\nsys.path[:1] = []\nsys.path.append(sys.argv[1])\n"
    "from florc.writing.helper import main\nmain(*map(int, sys.argv[2:]))"
)
_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    # Arrays of up to 32 MB lie where earlier ones lay: memory that is new has to be cleared by the system.
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    # numpy's products of vectors have as many threads as in the script, since their sums depend on that; these sleep at once.
    "OPENBLAS_THREAD_TIMEOUT": "4",
}
_LARGE = 1 << 20
_PAUSE_MS = 2
_SAID_AFTER_S = 1.0
_links: weakref.WeakSet[Link] = weakref.WeakSet()


class Link:
    """To one process, which writes what one writer logs. `limit`: bytes that may wait for it."""

    def __init__(self, limit: int, about: tuple[Any, ...]):
        """`about`: what `helper.main` makes the writer of. Raises OSError where no process can be started."""
        self.waited = 0.0
        """Seconds that callers waited for room."""
        self.errors: list[tuple[BaseException, str]] = []
        self._limit = limit
        self._said_at = _SAID_AFTER_S
        self._warnings: list[tuple[str, str]] = []
        self._number = self._answered = self._heard = 0
        self._received = b""
        self._is_dead = False
        self.owner = os.getpid()
        self._ring = Ring(limit)
        self._arrivals = Arrivals(self._ring)
        self._start()
        _links.add(self)
        data = pickle.dumps((sys.path, *about))
        place = self._room(len(data))
        self._ring.mapped.bytes[place.offset : place.offset + len(data)] = data
        self._frame(CALL, place, len(data))

    def _start(self) -> None:
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        script = os.pidfd_open(os.getpid()) if hasattr(os, "pidfd_open") else -1
        passed = [requests, replies, self._ring.descriptor, script]
        try:
            root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
            subprocess.run(
                [sys.executable, "-c", _START, root, *map(str, passed)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[descriptor for descriptor in passed if descriptor >= 0],
                env={**os.environ, **_ENVIRONMENT},
                check=False,
            )
        finally:
            for descriptor in (requests, replies, script):
                if descriptor >= 0:
                    os.close(descriptor)

    def put(self, kind: int, call: Call) -> None:
        """Have a call done. What it is given may change as soon as this returns.

        Waits while there is no room. Raises NotCopied where the caller has to do it, RuntimeError where the process is gone."""
        record = Record(call)
        place = self._room(record.nbytes)
        view = self._ring.mapped.bytes[place.offset : place.offset + record.nbytes]
        if record.nbytes > _LARGE:
            self._ring.mapped.touch(place.offset + record.nbytes)
        said = (0, 0)
        if record.on_device:
            said = self._arrivals.copy(record, place.offset)
        record.write(view, self._ring.mapped.address + place.offset)
        self._frame(kind, place, record.nbytes, said)

    def sync(self, kind: int = SYNC) -> None:
        """Wait until everything that was handed over is written. Raises RuntimeError where the process is gone."""
        self._arrivals.wait()
        self._frame(kind, Place(0, 0), 0)
        number = self._number
        self._ring.mapped.words[WAITED_FOR] = 1
        try:
            while self._answered < number:
                self._hear(None)
        finally:
            self._ring.mapped.words[WAITED_FOR] = 0

    def close(self) -> None:
        """Have everything written, and the process end."""
        try:
            if self.owner == os.getpid() and not self._is_dead:
                self.sync(CLOSE)
        finally:
            self._arrivals.close()
            self.forget()

    def forget(self) -> None:
        """Give the descriptors back; the process ends when it has done what was handed over."""
        _links.discard(self)
        for descriptor in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._ring.close()
        self._is_dead = True

    def told(self) -> None:
        """Hear what the process has reported: show its warnings, raise its oldest error."""
        if self._ring.mapped.words[REPORTS] > self._heard:
            self._hear(0)
        if self._warnings:
            shown, self._warnings = self._warnings, []
            for name, text in shown:
                warnings.warn(text, getattr(__import__("builtins"), name, UserWarning), stacklevel=5)
        if self.errors:
            error, text = self.errors.pop(0)
            raise error from RuntimeError(f"in the background:\n{text}")

    def _room(self, nbytes: int) -> Place:
        place = self._ring.place(nbytes) if nbytes <= self._ring.size and self._ring.size <= max(self._limit, nbytes) else None
        if place is not None:
            return place
        begun = time.monotonic()
        if nbytes > self._ring.size or self._ring.size > max(self._limit, nbytes):
            # One call needs more than may wait: it is alone in a larger ring, which is made small again afterwards.
            self.sync()
            self._ring.resized(max(self._limit, nbytes))
            self._frame(RESIZE, Place(0, 0), 0)
        self._ring.mapped.words[WAITED_FOR] = 1
        try:
            while (place := self._ring.place(nbytes)) is None:
                self._hear(_PAUSE_MS)
        finally:
            self._ring.mapped.words[WAITED_FOR] = 0
        self.waited += time.monotonic() - begun
        if self.waited > self._said_at:
            self._said_at = 4 * self.waited
            say(
                f"logging in the background does not keep up: the script has waited {self.waited:.0f} s so far, "
                f"as {self._limit >> 20} MB may wait",
                always=True,
                code="F601",
            )
        return place

    def _frame(self, kind: int, place: Place, nbytes: int, said: tuple[int, int] = (0, 0)) -> None:
        self._number += 1
        frame = FRAME.pack(kind, self._number, place.offset, nbytes, place.end, time.time_ns(), said[1], said[0])
        try:
            os.write(self._requests, frame)
        except BrokenPipeError:
            self._is_dead = True
            self._hear(0)
            self._died()

    def _hear(self, wait_ms: int | None) -> None:
        """Take what is in the pipe; where nothing is, wait for it so long (None: as long as it takes)."""
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        while poll.poll(wait_ms):
            found = os.read(self._replies, 1 << 16)
            if not found:
                self._died()
            self._received += found
            while len(self._received) >= LENGTH.size:
                (length,) = LENGTH.unpack_from(self._received)
                if len(self._received) < LENGTH.size + length:
                    break
                what = pickle.loads(self._received[LENGTH.size : LENGTH.size + length])
                self._received = self._received[LENGTH.size + length :]
                self._take(what)
            wait_ms = 0

    def _take(self, what: tuple[Any, ...]) -> None:
        self._heard += 1
        kind, *rest = what
        if kind == ANSWER:
            self._answered = rest[0]
        elif kind == ERROR:
            name, _, pickled, text = rest
            last = text.strip().splitlines()[-1] if text.strip() else "an error without a text"
            error = pickle.loads(pickled) if pickled else RuntimeError(f"{name}: {last}" if name else last)
            self.errors.append((error, text))
        else:
            self._warnings.append((rest[2], rest[3]))

    def _died(self) -> None:
        self._is_dead = True
        if self.errors:  # it could not even begin
            error, text = self.errors.pop(0)
            raise Gone(str(error)) from RuntimeError(f"in the background:\n{text}")
        lost = self._ring.waiting()
        raise Gone(f"the process that logs in the background is gone; up to {lost} bytes of what was logged last are lost")


class Gone(RuntimeError):
    """The process that logs is gone: what it had not written is lost."""


def _in_child() -> None:
    """In a forked child of the script: the process must see that the script is gone although this child is not."""
    for link in list(_links):
        with contextlib.suppress(OSError):
            os.close(link._requests)
            os.close(link._replies)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
