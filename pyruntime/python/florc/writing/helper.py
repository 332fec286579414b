"""The process beside the script: calls a writer's methods with what the script has put into shared memory, in the script's order.

It ends when the script says so, and when the script is gone: then it first does what was begun. It is none of the script's
children, and hears no Ctrl-C. A thread that makes way for every other process (`nice`) does the calls, but those that the script
waits for: the main thread does these, since a thread cannot take back that it makes way.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import select
import signal
import struct
import sys
import threading
import time
import traceback
import warnings
from typing import Any

from . import bins, snapshot
from .files import Given, Helped
from .memory import DONE, REPORTS, WAITED_FOR, Mapped

FRAME = struct.Struct("<8Q")
"""What the pipe carries, written at once: kind, number, offset, bytes, end, nanoseconds since 1970; the word that a device writes
when its bytes are there, and its index (0: none)."""
CALL, EVENT, SYNC, RESIZE, CLOSE, SET = range(6)
ERROR, WARNING, ANSWER = range(3)
LENGTH = struct.Struct("<Q")
_NICE = 19
_MOST_ERRORS = 100
_LONGEST_TEXT = 4000
_PAUSE_S = 2e-4


class _Clock:
    """In the place of the module `time` in the writer's own modules: the time is that of the script's call."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class Helper:
    """`requests`, `replies`: pipes from and to the script. `memory`: the descriptor of what is shared. `script`: one that can be
    read once the script is gone, or -1."""

    def __init__(self, requests: int, replies: int, memory: int, script: int):
        self._requests, self._replies, self._descriptor, self._script = requests, replies, memory, script
        self._memory = Mapped(memory)
        self._clock = _Clock()
        self._errors = 0
        self._now = ("", 0)
        """The method that runs, and the number of its call."""
        self._helped: Helped | None = None
        self._is_gone = False
        self._todo: queue.SimpleQueue[tuple[int, int, memoryview]] = queue.SimpleQueue()
        self._did: queue.SimpleQueue[None] = queue.SimpleQueue()
        warnings.showwarning = self._warned  # type: ignore[assignment]  # of the script's process, which shows it

    def begin(self, module: str, state: dict[str, Any], given: list[Given]) -> None:
        """Make the writer."""
        self._helped = Helped(module, state, given)
        torch: Any = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(1)
        package = module.rpartition(".")[0]
        for name, found in list(sys.modules.items()):
            if (
                name.startswith(f"{package}.")
                and vars(found).get("time") is sys.modules["time"]
                and not name.endswith("event_file_writer")
            ):
                vars(found)["time"] = self._clock
        bins.install(sys.modules[f"{package}.summary"], getattr(self._helped.writer, "default_bins", None))

    def run(self) -> None:
        """Until the script says that it is over, or is."""
        threading.Thread(target=self._make_way, daemon=True).start()
        while True:
            frame = self._next()
            if frame is None:
                break
            kind, number, offset, nbytes, end, at, word, index = FRAME.unpack(frame)
            self._clock.now = at / 1e9
            if kind == RESIZE:
                self._memory = Mapped(self._descriptor)
            elif kind in (SYNC, CLOSE):
                self._flush()
                self._report(ANSWER, number)
                if kind == CLOSE:
                    return
            else:
                # The script's next records go there: what is new to the system is cleared here, and not where the script waits.
                self._memory.touch(2 * (offset + nbytes))
                if not index or self._has_arrived(index, word):
                    self._have_done(kind, number, self._memory.bytes[offset : offset + nbytes])
                self._memory.words[DONE] = end
        self._flush()

    def _next(self) -> bytes | None:
        """The next frame; None when there will be none. When there is none yet, what was written goes to the system."""
        poll = select.poll()
        poll.register(self._requests, select.POLLIN)
        if not poll.poll(0):
            if self._is_gone:
                return None
            self._flush()
            if self._script >= 0:
                poll.register(self._script, select.POLLIN)
            ready = [descriptor for descriptor, _ in poll.poll()]
            if self._requests not in ready:
                self._is_gone = True
                return self._next()
        found = os.read(self._requests, FRAME.size)
        return found if len(found) == FRAME.size else None

    def _have_done(self, kind: int, number: int, record: memoryview) -> None:
        """Do a call, in the thread that is right for it."""
        if self._memory.words[WAITED_FOR]:
            self._do(kind, number, record)
            return
        self._todo.put((kind, number, record))
        self._did.get()

    def _make_way(self) -> None:
        """The thread that makes way."""
        with contextlib.suppress(OSError):
            if sys.platform == "linux":
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        torch: Any = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(1)  # each thread has its own number
        while True:
            self._do(*self._todo.get())
            self._did.put(None)

    def _do(self, kind: int, number: int, record: memoryview) -> None:
        assert self._helped is not None
        self._now = ("", number)
        try:
            name, args, kwargs = snapshot.read(record)
            self._now = (name, number)
            if kind == EVENT:
                self._helped.appenders[name].append(*args)
            elif kind == SET:
                setattr(self._helped.writer, name, *args)
            else:
                getattr(self._helped.writer, name)(*args, **kwargs)
        except Exception as error:
            self._failed(error)

    def _has_arrived(self, index: int, word: int) -> bool:
        """Wait until a device has written what belongs to a record; False when the script went away before."""
        while self._memory.words[index] < word:
            if self._is_gone:
                return False
            if self._script >= 0 and select.select([self._script], [], [], 0)[0]:
                self._is_gone = True
            time.sleep(_PAUSE_S)
        return True

    def _flush(self) -> None:
        if self._helped is not None:
            try:
                self._helped.flush()
            except OSError as error:
                self._failed(error)

    def _failed(self, error: BaseException) -> None:
        self._errors += 1
        if self._errors <= _MOST_ERRORS:
            # The traceback's frames of this module say nothing.
            lines = traceback.format_exception(type(error), error, error.__traceback__)
            self._report(ERROR, *self._now, _pickled(error), "".join(lines)[-_LONGEST_TEXT:])

    def _warned(self, message: Any, category: type[Warning], *_: Any) -> None:
        known = category.__name__ if category.__module__ == "builtins" else "UserWarning"
        self._report(WARNING, *self._now, known, str(message)[:_LONGEST_TEXT])

    def _report(self, *what: Any) -> None:
        data = pickle.dumps(what)
        self._memory.words[REPORTS] += 1
        # Nobody reads it any more when the script is gone.
        with contextlib.suppress(OSError):
            view = memoryview(LENGTH.pack(len(data)) + data)
            while view:
                view = view[os.write(self._replies, view) :]


def _pickled(error: BaseException) -> bytes | None:
    """An exception of Python's own as it is."""
    if type(error).__module__ != "builtins":
        return None
    try:
        data = pickle.dumps(error.with_traceback(None))
        pickle.loads(data)
    except Exception:
        return None
    return data


def _be_nobodys() -> None:
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)  # a Ctrl-C is for the script
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def main(requests: int, replies: int, memory: int, script: int) -> None:
    """The whole life of the process. Its first record says which writer it is to make, and where modules are."""
    _be_nobodys()
    helper = Helper(requests, replies, memory, script)
    frame = os.read(requests, FRAME.size)
    if len(frame) < FRAME.size:
        return
    _, number, offset, nbytes, end, *_ = FRAME.unpack(frame)
    try:
        sys.path[:], module, state, given = pickle.loads(helper._memory.bytes[offset : offset + nbytes])
        helper.begin(module, state, given)
        helper._memory.words[DONE] = end
    except BaseException as error:
        helper._now = ("", number)
        helper._failed(error)
        return
    helper.run()
