"""Who does the work of a writer: another process where one can make such a writer, else a thread; in a replay, the caller."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from .. import session
from ..support import console
from .files import Given, hand_over, known_class, path_of
from .link import CALL, EVENT, SET, Gone, Link, NotCopied
from .snapshot import Record
from .thread import Thread

_OWN_THREAD = frozenset({"add_embedding", "add_graph", "add_onnx_graph", "add_openvino_graph"})
"""Methods that run a model, or use other files: they run in the caller's thread, and their events go the way of all."""
_BESIDE = frozenset({"export_scalars_to_json"})
"""Methods with another name than `add_…` that have to run where the events are made."""
_KEPT = frozenset({"file_writer", "all_writers"})


class Logging:
    """Who does the work of one writer."""

    def __init__(self, writer: Any, limit: int):
        self.writer, self.limit = writer, limit
        self.lock = threading.RLock()
        self.owner = os.getpid()
        self.base = known_class(writer)
        self.link: Link | None = None
        self.thread: Thread | None = None
        self.is_direct = bool(getattr(session.current, "restore", None))
        self._given: list[Given] = []
        self.is_registered = False
        self.waited = 0.0
        """Seconds that callers waited for room."""
        if not self.is_direct:
            self.begin()

    def begin(self) -> None:
        """Start what does the work, unless it is there."""
        if self.link is not None or self.thread is not None:
            return
        about = self._about()
        if about is not None:
            self._given = hand_over(self.writer, self._send_event, self.flush)
            try:
                self.link = Link(self.limit, (*about, self._given))
            except OSError:  # no further process can be had here: the writer begins a file of its own
                self.writer.file_writer = self.writer.all_writers = None
        if self.link is None:
            self.thread = Thread(self.writer, self.limit)
        if not self.is_registered:
            self.is_registered = True
            atexit.register(self._at_exit)

    def _about(self) -> tuple[str, dict[str, Any]] | None:
        """What another process makes this writer of; None where it cannot."""
        if self.base is None or not sys.executable or not hasattr(os, "fork"):
            return None
        writer = self.writer
        if getattr(writer, "_comet_config", None) and not writer._comet_config.get("disabled"):
            return None
        writer._get_file_writer()
        if any(path_of(getattr(one, "event_writer", None)) is None for one in writer.all_writers.values()):
            return None  # S3, a writer that writes nothing
        about = self._state()
        try:
            Record(about)
        except NotCopied:
            return None
        return about

    def is_beside(self, name: str) -> bool:
        """Whether a method runs elsewhere: not one that the script has written itself."""
        if self.is_direct or not (name.startswith("add_") or name in _BESIDE):
            return False
        if self.base is None or self.thread is not None:
            return name.startswith("add_")
        is_own = name in vars(self.writer) or getattr(type(self.writer), name, None) is not getattr(self.base, name, None)
        return not is_own and name not in _OWN_THREAD and name != "add_figure"

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Have a method called; raises what an earlier one has raised."""
        with self.lock:
            self._check()
            self.begin()
            try:
                if getattr(getattr(self.writer, "file_writer", None), "_default_metadata", None):
                    raise NotCopied("inside `use_metadata`")
                if self.link is not None:
                    self._guarded(lambda link: link.put(CALL, (name, args, kwargs)))
                elif self.thread is not None:
                    self.thread.put((name, args, kwargs))
            except NotCopied:
                self.flush_thread()
                getattr(self.writer, name)(*args, **kwargs)
            self._told()

    def flush_thread(self) -> None:
        """Let the thread finish: what is called next comes after it."""
        if self.thread is not None:
            self.thread.sync()

    def _guarded(self, do: Callable[[Link], None]) -> None:
        link = self.link
        assert link is not None
        try:
            do(link)
        except Gone:
            link.forget()
            self.link = Link(self.limit, (*self._state(), self._given))
            raise

    def _state(self) -> tuple[str, dict[str, Any]]:
        """Where the writer's class is, and its attributes but for what writes files."""
        return self.base.__module__, {name: value for name, value in vars(self.writer).items() if name not in _KEPT}

    def _check(self) -> None:
        if self.owner != os.getpid():
            raise RuntimeError("this writer belongs to the process that this one was forked from; make one of its own here")

    def _told(self) -> None:
        worker = self.link or self.thread
        if worker is not None:
            worker.told()

    def _send_event(self, key: str, event: bytes) -> None:
        with self.lock:
            self._check()
            if self.link is not None:
                self._guarded(lambda link: link.put(EVENT, (key, (event,), {})))

    def set(self, name: str, value: Any) -> None:
        """Set an attribute of the writer, there and here."""
        with self.lock:
            setattr(self.writer, name, value)
            if self.link is not None and name not in _KEPT:
                self._guarded(lambda link: link.put(SET, (name, (value,), {})))

    def flush(self) -> None:
        """Wait until everything is in the file."""
        with self.lock:
            self._check()
            if self.link is not None:
                self._guarded(lambda link: link.sync())
            self.flush_thread()
            if self.link is None and hasattr(self.writer, "flush"):
                self.writer.flush()
            self._told()

    def close(self) -> None:
        """Wait until everything is in the file, and let the other process end."""
        with self.lock:
            self._check()
            worker, is_beside = self.link or self.thread, self.link is not None
            if worker is None:
                self.writer.close()
                return
            try:
                worker.close()
            finally:
                self.waited += worker.waited
                self.link = self.thread = None
                if is_beside:
                    for one in (self.writer.all_writers or {}).values():
                        one.event_writer.close()
                    self.writer.file_writer = self.writer.all_writers = None
                elif hasattr(self.writer, "close"):
                    self.writer.close()
                worker.told()

    def _at_exit(self) -> None:
        if self.owner != os.getpid() or (self.link is None and self.thread is None):
            return
        worker: Any = self.link or self.thread
        try:
            self.close()
        except Exception as error:
            worker.errors.insert(0, (error, ""))
        for failure, _ in worker.errors:
            console.say(f"logging in the background: {type(failure).__name__}: {failure}", always=True, code="F601")
