"""Loggers in a replay: a handler that writes late writes at once what added statements tell it, and the script's own records
have the numbers of the recorded lines.

`QueueHandler`, loguru's `enqueue=True` and `MemoryHandler` leave a record for later: another thread writes it, or a later record
makes room. In a replay that is too late for an answer, and it would move the script's own lines.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from typing import Any

from ...process import output
from ...process.methods import around
from ...support.console import place

_LONGEST_S = 5.0
"""So long an added statement waits for what the script has told its loggers before."""
_QUEUED = (
    "what it tells a logger goes to a queue, and no started QueueListener of this process reads that: what is made of it later "
    "has no answer"
)


class Loggers:
    """Those of one replay. `is_added`: whether an added statement runs now; `recorded_line`: the number that a line of a file had
    when it was recorded; `unanswered`: takes sentences about what has no answer."""

    def __init__(self, is_added: Callable[[], bool], recorded_line: Callable[[str, int], int], unanswered: list[str]):
        self._is_running, self._recorded_line, self._unanswered = is_added, recorded_line, unanswered
        self._listeners: dict[int, weakref.ref[Any]] = {}
        """Of `logging`, by the address of the queue, which they hold."""
        self._told: dict[int, int] = {}
        """How many records the script put into a queue that were not handled yet, by its address."""
        self._writers: list[Any] = []
        """Handlers of loguru with a thread that may have something to write."""

    def install(self) -> None:
        """From now on, in libraries that are imported later, too."""
        for module, owner, name, call in (
            ("logging", "Logger", "makeRecord", self._make),
            ("logging.handlers", "QueueListener", "start", self._start),
            ("logging.handlers", "QueueListener", "handle", self._handle),
            ("logging.handlers", "QueueHandler", "emit", self._put),
            ("logging.handlers", "BufferingHandler", "emit", self._buffer),
            ("loguru._handler", "Handler", "emit", self._write),
        ):
            around(module, owner, name, call, "hearing what loggers are told")

    def _is_added(self) -> bool:
        return self._is_running() or (output.child is not None and output.child.depth > 0)

    def settle(self) -> None:
        """An added statement begins: what the script has told its loggers is written first, as it is no answer."""
        if not (self._writers or self._told):
            return
        waiting, self._writers = self._writers, []
        for handler in waiting:
            if handler._thread is not None and handler._thread.is_alive() and not handler._stopped:
                handler.complete_queue()
        end = time.monotonic() + _LONGEST_S
        for queue in [*self._told]:
            listener = self._listener(queue)
            while listener is not None and self._told.get(queue, 0) > 0 and time.monotonic() < end:
                time.sleep(0.0005)
            self._told.pop(queue, None)

    def _listener(self, queue: int) -> Any:
        """What reads a queue now."""
        known = self._listeners.get(queue)
        found = None if known is None else known()
        return found if found is not None and found._thread is not None else None

    def _make(self, original: Any, logger: Any, name: Any, level: Any, file: Any, line: Any, *args: Any, **options: Any) -> Any:
        if type(file) is str and type(line) is int and not self._is_added():
            line = self._recorded_line(file, line)
        return original(logger, name, level, file, line, *args, **options)

    def _start(self, original: Any, listener: Any) -> Any:
        self._listeners[id(listener.queue)] = weakref.ref(listener)
        return original(listener)

    def _handle(self, original: Any, listener: Any, record: Any) -> Any:
        try:
            return original(listener, record)
        finally:
            if not self._is_added() and self._told.get(id(listener.queue), 0) > 0:
                self._told[id(listener.queue)] -= 1

    def _put(self, original: Any, handler: Any, record: Any) -> Any:
        queue = id(handler.queue)
        listener = self._listener(queue)
        if not self._is_added():
            if listener is not None:
                self._told[queue] = self._told.get(queue, 0) + 1
            return original(handler, record)
        if listener is None:
            said = f"{place(record.pathname, record.lineno, is_short=True)}: {_QUEUED}"
            self._unanswered.extend([said] * (said not in self._unanswered))
            return original(handler, record)
        try:
            listener.handle(handler.prepare(record))
        except Exception:
            handler.handleError(record)
        return None

    def _buffer(self, original: Any, handler: Any, record: Any) -> Any:
        # what is never written without a later record is left to that
        target = getattr(handler, "target", None)
        if not self._is_added() or target is None or not getattr(handler, "flushOnClose", False):
            return original(handler, record)
        target.handle(record)
        return None

    def _write(self, original: Any, handler: Any, record: Any, *args: Any, **options: Any) -> Any:
        if self._is_added():
            is_queued, handler._enqueue = handler._enqueue, False
            try:
                return original(handler, record, *args, **options)
            finally:
                handler._enqueue = is_queued
        if handler._enqueue and handler._owner_process_pid == os.getpid() and handler not in self._writers:
            self._writers.append(handler)
        line = self._recorded_line(record["file"].path, record["line"])
        return original(handler, record if line == record["line"] else {**record, "line": line}, *args, **options)
