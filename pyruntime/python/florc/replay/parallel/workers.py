"""Parallel replay on this machine: one process for each segment. Their answers are put together in order."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ...plan.window import Window
from ...support import console
from ...support.console import duration, exit_at_once, hand_on, say
from ..session.opening import WORKER
from ..session.result import ReplayResult

_ATTEMPTS = 2
_LOG_LINES = 20
_PATIENCE_S = 5
_SHOWN_EVERY_S = 0.2
_PR_SET_PDEATHSIG = 1


class Task(NamedTuple):
    """What a worker process has to do."""

    window: Window
    result: str
    progress: str | None = None
    """The file in which it says where it is, if somebody looks on."""

    def to_environment(self, parent: int) -> dict[str, str]:
        """The environment variable that gives a process its task. `parent`: the number of the process that starts it."""
        return {WORKER: json.dumps({**self._asdict(), "window": self.window.to_json(), "parent": parent})}

    @classmethod
    def of_this_process(cls) -> Task | None:
        """The task of this process; None if it is no worker. Processes that the script starts are no workers."""
        told = os.environ.pop(WORKER, None)
        if told is None:
            return None
        read = json.loads(told)
        end_with_parent(read["parent"])
        return cls(Window(**read["window"]), read["result"], read["progress"])


def end_with_parent(parent: int) -> None:
    """Ctrl-C is the parent's, as a worker has its own process group; where the parent is killed, the worker ends, too. `parent`:
    its number: it may be gone by now."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        exit_at_once(128 + signal.SIGKILL)


class Process(Protocol):
    """A command that was started."""

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""

    def ask_to_end(self) -> None:
        """Ask the command, and what it started, to end."""

    def end(self, patience: float) -> None:
        """Wait at most so many seconds for the end; then end the command, if possible."""


class Forked:
    """A process that was forked, by its number; 0 until that is known."""

    _pid = 0
    _code: int | None = None

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        raise NotImplementedError

    def _pause(self) -> None:
        """Wait a little for its end."""
        time.sleep(0.01)

    def ask_to_end(self) -> None:
        """Ask the process, and what it started, to end."""
        if self.poll() is None:
            self._signal(signal.SIGTERM)

    def end(self, patience: float) -> None:
        """Wait at most so many seconds for the end; then kill the process and what it started."""
        until = time.monotonic() + patience
        while self.poll() is None and time.monotonic() < until:
            self._pause()
        self._signal(signal.SIGKILL)
        while self.poll() is None:
            self._pause()

    def _signal(self, number: int) -> None:
        if self._pid:  # 0 is this process's own group
            for send in (os.kill, os.killpg):  # it may not have its group yet
                with contextlib.suppress(OSError):
                    send(self._pid, number)


class Local:
    """A process on this machine."""

    def __init__(self, command: list[str], environment: dict[str, str], out: str, log: str):
        import subprocess

        with open(out, "wb") as written, open(log, "ab") as said:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=written, stderr=said, env=environment, start_new_session=True
            )

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    def ask_to_end(self) -> None:
        """Ask the process, and what it started, to end."""
        if self.poll() is None:
            self._signal(signal.SIGTERM)

    def end(self, patience: float) -> None:
        """Wait at most so many seconds for the end; then kill the process and what it started."""
        import subprocess

        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, number)


class Become(BaseException):
    """Raised in a worker that was forked from this process: it goes on from here as a process of its own."""


Launch = Callable[[list[str], dict[str, str], str, str], Process]
"""Starts a command with an environment, and with two files for its output."""


class _Worker:
    """A process that answers for one segment, and the attempts it takes."""

    def __init__(self, number: int, window: Window, folder: str, command: list[str], environment: dict[str, str], launch: Launch):
        self.number, self.window, self._command, self._environment = number, window, command, environment
        self._launch = launch
        self._base = os.path.join(folder, f"worker-{number}")
        self.task = Task(window, self._base + ".json", self._base + ".progress" if console.has_lines() else None)
        self.attempts = 0
        self.begun = time.perf_counter()
        self.process: Process | None = None

    @property
    def out(self) -> str:
        """The file with what its probes printed."""
        return self._base + ".out"

    @property
    def log(self) -> str:
        """The file with its messages."""
        return self._base + ".log"

    def start(self) -> None:
        self.attempts += 1
        self.process = self._launch(
            self._command, {**self._environment, **self.task.to_environment(os.getpid())}, self.out, self.log
        )

    def code(self) -> int | None:
        """Its exit code; None while it runs."""
        return None if self.process is None else self.process.poll()

    def result(self) -> ReplayResult | None:
        """What it found; None if it ended without a result."""
        return ReplayResult.load(self.task.result)

    def describe(self) -> str:
        """`worker 2, iterations 6 to 11 of L1`."""
        return f"worker {self.number}, {self.window.describe()}"


def run(
    windows: list[Window], folder: str, command: list[str], environment: dict[str, str], launch: Launch, is_here: bool
) -> list[_Worker]:
    """Answer for all windows at once. florc starts a worker that dies once more. After a Ctrl-C no worker runs. `is_here`: the
    workers run on this machine. Raises Become in a worker that was forked."""
    workers = [
        _Worker(n + 1, window, folder, command, {**environment, **(_device(n) if is_here else {})}, launch)
        for n, window in enumerate(windows)
    ]
    try:
        for worker in workers:
            worker.start()
        running, shown = list(workers), time.perf_counter()
        while running:
            for worker in [w for w in running if w.code() is not None]:
                if worker.result() is None and worker.attempts < _ATTEMPTS:
                    say(f"{worker.describe()}: {ending(worker.code())}; florc starts it once more")
                    worker.start()
                    continue
                running.remove(worker)
                say(f"{worker.describe()}: {_outcome(worker)} after {duration(time.perf_counter() - worker.begun)}")
            if time.perf_counter() - shown > _SHOWN_EVERY_S:
                shown = time.perf_counter()
                _show(running)
            time.sleep(0.01)
    except KeyboardInterrupt:
        say("interrupted: florc ends the workers", always=True)
        raise
    except Become:
        workers.clear()  # they are another process's
        raise
    finally:
        end_all([worker.process for worker in workers if worker.process is not None])
    return workers


def _show(running: Sequence[_Worker]) -> None:
    """Where the workers are, in one line, if somebody looks on."""
    where = []
    for worker in running:
        with contextlib.suppress(OSError, TypeError), open(worker.task.progress or "", encoding="utf-8") as file:
            where.append(f"worker {worker.number}: {file.read()}")
    if where:
        console.show_line("; ".join(where))


def _outcome(worker: _Worker) -> str:
    result = worker.result()
    if result is None:
        return f"FAILED: {ending(worker.code())}"
    return "ended early" if result.ended else "done"


def ending(code: int | None) -> str:
    """How a process with this exit code ended: `ended by SIGKILL`."""
    code = code or 0
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def end_all(processes: Sequence[Process]) -> None:
    """End processes and what they started: first they are asked to."""
    for process in processes:
        process.ask_to_end()
    deadline = time.monotonic() + _PATIENCE_S
    for process in processes:
        process.end(max(0.0, deadline - time.monotonic()))


def _device(number: int) -> dict[str, str]:
    """Workers take turns with the machine's GPUs, where there are several."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = listed.split(",") if listed else [path[len("/dev/nvidia") :] for path in sorted(glob.glob("/dev/nvidia[0-9]*"))]
    return {"CUDA_VISIBLE_DEVICES": devices[number % len(devices)]} if len(devices) > 1 else {}


def merge(workers: list[_Worker]) -> ReplayResult:
    """Copy what the probes printed to the standard streams, in the order of the iterations, and merge the results.

    If the script raised in one segment, the merge ends there: a replay in one process would not have reached later segments.
    """
    sys.stdout.flush()
    whole = ReplayResult()
    for worker in workers:
        result = worker.result()
        if result is None:
            whole = whole.followed_by(ReplayResult(anomalies=[f"{worker.describe()} gave no answer; its log is {worker.log}"]))
        else:
            whole = whole.followed_by(result)
            print_file(worker.out, errors_of(worker.task.result))
        if result is None or result.ended:
            say(f"the last lines of {worker.describe()}:", always=True)
            for line in tail(worker.log, errors_of(worker.task.result)):
                hand_on(line)
        if result is not None and result.ended:
            break
    sys.stdout.flush()
    return whole


def errors_of(result: str) -> str:
    """Where a process that writes this result keeps what probes write to standard error: who started it prints that."""
    return f"{result}.errors"


def print_file(path: str, errors: str) -> None:
    """Copy what another process of florc printed to the standard streams."""
    try:
        with open(path, "rb") as out:
            shutil.copyfileobj(out, sys.stdout.buffer)
        sys.stdout.flush()
    except BrokenPipeError:  # `florc replay train.py | head`: nobody wants to know more
        os._exit(0)
    with contextlib.suppress(OSError), open(errors, "rb") as said:
        while data := said.read(1 << 16):
            while data:
                data = data[os.write(2, data) :]


def tail(path: str, errors: str) -> list[str]:
    """The last lines of a log, to which is added what probes wrote to standard error."""
    with contextlib.suppress(OSError), open(errors, "rb") as said, open(path, "ab") as whole:
        shutil.copyfileobj(said, whole)
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as log:
            return [line.rstrip() for line in log][-_LOG_LINES:]
    except OSError:
        return []
