"""A process that waits for questions about one run."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, Any

from ..replay.session.live import END_OF_ERRORS, OPTION

_PATIENCE_S = 5.0
"""A replay that was interrupted gets so long to end by itself."""
_AGAIN_S = 0.5
_MOST = 5_000
"""Events that are taken together, at most."""
_TOGETHER_S = 0.03
"""What comes within this time is."""
Event = dict[str, Any]
_SAID_ALL, _GONE = {"": "errors"}, {"": "gone"}
"""What its threads note beside events: all lines of a question were said; the process has ended."""


class Child:
    """`florc ask --interactive --json RUN`. It ends with this process, also where that is killed: its standard input ends
    then."""

    def __init__(self, store: str, run: str):
        self.code = 0
        """The exit code of the last question."""
        self.is_warm = True
        """Whether it has done the imports of the script, for all questions."""
        self._answering: int | None = None
        self._missing = 0
        self._told = 0.0
        self._asks, self._writes = Lock(), Lock()
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "florc", "ask", "--interactive", "--json", run],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, OPTION: "1", "FLORC_DIR": store},
            start_new_session=True,
        )
        self._readers = [
            Thread(target=read, args=(stream,), daemon=True)
            for read, stream in ((self._read_answers, self._process.stdout), (self._read_errors, self._process.stderr))
        ]
        for reader in self._readers:
            reader.start()
        Thread(target=self._wait, daemon=True).start()

    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def is_busy(self) -> bool:
        """Whether it answers a question."""
        return self._asks.locked()

    def ask(self, words: list[str], waiting: float) -> Generator[list[Event], None, None]:
        """What happens while it answers, in batches of what came together; an empty one after each `waiting` seconds without
        a word. Where nobody takes them any more, the question is ended."""
        with self._asks:
            self._put(shlex.join(words).encode("utf-8", "replace") + b"\n")
            self._missing = 2  # the end of both streams
            try:
                while self._missing > 0:
                    yield self._batch(waiting)
            finally:
                self._give_up()
                self._answering = None

    def _give_up(self) -> None:
        """End the question, if it is not answered: what is said of it must not be taken for an answer to the next one."""
        until = time.monotonic() + _PATIENCE_S
        while self._missing > 0 and time.monotonic() < until:
            self.stop()
            self._batch(_AGAIN_S)
        if self._missing > 0:
            self.close()

    def stop(self) -> bool:
        """End the replay that answers now, as Ctrl-C does; whether there was one."""
        process = self._answering
        if process is None or not self.is_busy():
            return False
        with suppress(OSError):
            os.kill(process, signal.SIGINT)
        return True

    def close(self) -> None:
        """End it, and everything that it has started."""
        with self._writes, suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGTERM if self._answering is None else signal.SIGKILL)
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _put(self, line: bytes) -> None:
        with self._writes, suppress(OSError, ValueError):  # that it has ended is noted by `_wait`
            if self._process.stdin is not None:
                self._process.stdin.write(line)
                self._process.stdin.flush()

    def _batch(self, waiting: float) -> list[Event]:
        try:
            found = [self._events.get(timeout=waiting)]
        except Empty:
            return []
        time.sleep(max(0.0, self._told + _TOGETHER_S - time.monotonic()))
        self._told = time.monotonic()
        with suppress(Empty):
            while len(found) < _MOST:
                found.append(self._events.get_nowait())
        for event in found:
            if event is _GONE:
                self._missing, self.code = 0, self._process.returncode or 2
            elif event is _SAID_ALL or "done" in event:
                self._missing -= 1
                self.code = event.get("done", self.code)
        return [event for event in found if event is not _SAID_ALL and event is not _GONE and "done" not in event]

    def _read_answers(self, stream: IO[bytes]) -> None:
        for line in stream:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                self.is_warm = event.get("warm", self.is_warm)
                if "process" in event:
                    self._answering = event["process"]
                self._events.put(event)

    def _read_errors(self, stream: IO[bytes]) -> None:
        for line in stream:
            is_end = line == END_OF_ERRORS
            self._events.put(_SAID_ALL if is_end else {"said": line.decode(errors="replace").rstrip("\n")})

    def _wait(self) -> None:
        self._process.wait()
        for reader in self._readers:
            reader.join(_PATIENCE_S)
        self._events.put(_GONE)
