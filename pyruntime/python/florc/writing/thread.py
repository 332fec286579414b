"""A thread in the place of the process, for writers that only this process has. It takes turns with the script's threads."""

from __future__ import annotations

import ctypes
import inspect
import threading
import time
from collections import deque
from typing import Any

from .snapshot import Call, NotCopied, Record, read

__all__ = ["NotCopied", "Thread"]


class Thread:
    """Calls the writer's methods, one after the other. `limit`: bytes that may wait for it."""

    def __init__(self, writer: Any, limit: int):
        self.waited = 0.0
        self.errors: list[tuple[BaseException, str]] = []
        self._writer, self._limit = writer, limit
        self._waiting: deque[tuple[float, Any]] = deque()
        self._bytes = self._at_work = 0
        self._changed = threading.Condition()
        self._is_over = False
        self._time_at: dict[str, int | None] = {}
        """By method: at which position it takes a time."""
        self._thread = threading.Thread(target=self._run, name="florc-logging", daemon=True)
        self._thread.start()

    def put(self, call: Call) -> None:
        """Have a call done. Waits while there is no room. Raises NotCopied."""
        record = Record(call)
        for at in record.on_device:
            record.leaves[at] = record.leaves[at].cpu()
        record.on_device = []
        data = bytearray(record.nbytes)
        view = memoryview(data)
        record.write(view, ctypes.addressof(ctypes.c_char.from_buffer(data)))
        with self._changed:
            begun = time.monotonic()
            while self._bytes and self._bytes + len(data) > self._limit:
                self._changed.wait()
            self.waited += time.monotonic() - begun
            self._bytes += len(data)
            self._waiting.append((time.time(), view))
            self._changed.notify_all()

    def sync(self) -> None:
        """Wait until every call is done."""
        with self._changed:
            while self._waiting or self._at_work:
                self._changed.wait()

    def close(self) -> None:
        """Wait until every call is done; take no more."""
        self.sync()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._thread.join()

    def forget(self) -> None:
        """Nothing is to be given back."""

    def told(self) -> None:
        """Raise the oldest error."""
        if self.errors:
            error, _ = self.errors.pop(0)
            raise error

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    if self._is_over:
                        return
                    self._changed.wait()
                at, record = self._waiting.popleft()
                self._at_work = 1
            try:
                name, args, kwargs = read(record)
                self._call(at, name, args, kwargs)
            except BaseException as error:
                self.errors.append((error, ""))
            with self._changed:
                self._at_work = 0
                self._bytes -= len(record)
                self._changed.notify_all()

    def _call(self, at: float, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Call a method; where it takes a time and is given none, that of the script's call."""
        method = getattr(self._writer, name)
        if name not in self._time_at:
            try:
                names = list(inspect.signature(method).parameters)
            except (TypeError, ValueError):
                names = []
            self._time_at[name] = names.index("walltime") if "walltime" in names else None
        position = self._time_at[name]
        if position is not None and len(args) <= position and "walltime" not in kwargs:
            kwargs = {**kwargs, "walltime": at}
        method(*args, **kwargs)
