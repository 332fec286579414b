"""Parallel replay on this machine: one process for each segment, and their answers put together in order."""

from __future__ import annotations

import glob
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any, Dict, List, NamedTuple, Optional

from .history import History
from .messages import duration, say
from .replay import Line, Replay, Value
from .versions import Versions
from .window import END, Window

WORKER = "_FLORC_REPLAY_WORKER"
"""What a worker is told (JSON): its window, and the file that its result goes to."""
_ATTEMPTS = 2
_LOG_LINES = 20


class Task(NamedTuple):
    """What a worker process is to do."""

    window: Window
    result: str

    def to_environment(self) -> Dict[str, str]:
        """The variable that tells a process of it."""
        return {WORKER: json.dumps({"window": self.window.to_json(), "result": self.result})}

    @classmethod
    def of_this_process(cls) -> Optional["Task"]:
        """The task of this process; None when it is no worker. Processes that the script starts are none."""
        told = os.environ.pop(WORKER, None)
        if told is None:
            return None
        read = json.loads(told)
        return cls(Window.from_json(read["window"]), read["result"])


class Merged:
    """The segments of a replay as one: what the report asks of a `Replay`."""

    def __init__(self, history: History, versions: Versions, window: Optional[Window]):
        self.history, self.versions, self.window = history, versions, window
        self.lines: List[Line] = []
        self.values: List[Value] = []
        self.differences: List[str] = []
        self.skipped: List[str] = []
        self.reasons: Dict[str, str] = {}
        self.entered: Dict[str, int] = {}
        self.verified = 0
        self.restore_seconds = 0.0
        self.jumped: Optional[int] = None
        self.failure: Optional[str] = None

    def add(self, result: Dict[str, Any]) -> None:
        """Put the next segment's result after the others."""
        self.lines += [Line(*line) for line in result["lines"]]
        self.values += [Value(*value) for value in result["values"]]
        self.differences += [found for found in result["differences"] if found not in self.differences]
        self.skipped += result["skipped"]
        self.reasons.update(result["reasons"])
        for block, times in result["entered"].items():
            self.entered[block] = self.entered.get(block, 0) + times
        self.verified += result["verified"]
        self.restore_seconds = max(self.restore_seconds, result["restore_seconds"])
        self.failure = self.failure or result["failure"]


def keep(replay: Replay, task: Task, failure: Optional[BaseException]) -> None:
    """Write a worker's result; it appears whole or not at all."""
    ended = None
    if failure is not None:
        ended = f"{type(failure).__name__}: {failure}"
    result = {
        "lines": replay.lines, "values": replay.values, "differences": replay.differences, "entered": replay.entered,
        # a block that another worker's segment holds was skipped on the way; its lines are that worker's
        "skipped": [key for key in replay.skipped if task.window.holds(key, _has_begun(key, task.window))],
        "reasons": replay.reasons, "verified": replay.verified, "restore_seconds": replay.restore_seconds, "failure": ended,
    }
    with open(task.result + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(result, file)
    os.replace(task.result + ".new", task.result)


def _has_begun(key: str, window: Window) -> bool:
    return window.after and not window.before


class _Worker:
    """A process that answers for one segment, and the attempts it takes."""

    def __init__(self, number: int, window: Window, folder: str, command: List[str], environment: Dict[str, str]):
        self.number, self.window, self._command, self._environment = number, window, command, environment
        self._base = os.path.join(folder, f"worker-{number}")
        self.task = Task(window, self._base + ".json")
        self.attempts = 0
        self.begun = time.perf_counter()
        self.process: Any = None

    @property
    def out(self) -> str:
        """The file with what its probes printed."""
        return self._base + ".out"

    @property
    def log(self) -> str:
        """The file with what it said."""
        return self._base + ".log"

    def start(self) -> None:
        self.attempts += 1
        with open(self.out, "wb") as out, open(self.log, "ab") as log:
            self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                                            env={**self._environment, **self.task.to_environment()})

    def result(self) -> Optional[Dict[str, Any]]:
        """What it found; None when it ended without."""
        try:
            with open(self.task.result, encoding="utf-8", errors="surrogateescape") as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def describe(self) -> str:
        """`worker 2, iterations 6 to 11`."""
        last = self.window.levels[-1]
        to = "the end" if last.stop == END else str(last.stop - 1)
        return f"worker {self.number}, iterations {last.start} to {to} of {last.loop}"


def run(windows: List[Window], folder: str, command: List[str], environment: Dict[str, str]) -> List[_Worker]:
    """Answer for all windows at once. A worker that dies is started once more. Ctrl-C leaves nothing running."""
    workers = [_Worker(n + 1, window, folder, command, {**environment, **_device(n)}) for n, window in enumerate(windows)]
    try:
        for worker in workers:
            worker.start()
        running = list(workers)
        while running:
            for worker in [w for w in running if w.process.poll() is not None]:
                if worker.result() is None and worker.attempts < _ATTEMPTS:
                    say(f"{worker.describe()}: {_ending(worker)}; it is started once more")
                    worker.start()
                    continue
                running.remove(worker)
                done = "done" if worker.result() is not None else f"FAILED: {_ending(worker)}"
                say(f"{worker.describe()}: {done} after {duration(time.perf_counter() - worker.begun)}")
            time.sleep(0.01)
    finally:
        _end([worker.process for worker in workers if worker.process is not None])
    return workers


def _ending(worker: _Worker) -> str:
    code = worker.process.returncode
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def _end(processes: List[Any]) -> None:
    for process in processes:
        if process.poll() is None:
            process.terminate()
    deadline = time.monotonic() + 5
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _device(number: int) -> Dict[str, str]:
    """Workers take turns with the machine's GPUs, where there are several."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = listed.split(",") if listed else [path[len("/dev/nvidia"):] for path in sorted(glob.glob("/dev/nvidia[0-9]*"))]
    return {"CUDA_VISIBLE_DEVICES": devices[number % len(devices)]} if len(devices) > 1 else {}


def merge(merged: Merged, workers: List[_Worker]) -> None:
    """Copy what the probes printed to standard output, in the order of the iterations, and put the results together."""
    sys.stdout.flush()
    for worker in workers:
        result = worker.result()
        if result is None:
            merged.differences.append(f"{worker.describe()} gave no answer; its log is {worker.log}")
            for line in _tail(worker.log):
                say(f"  {line}", always=True)
            continue
        merged.add(result)
        with open(worker.out, "rb") as out:
            while data := out.read(1 << 20):
                sys.stdout.buffer.write(data)
    sys.stdout.flush()


def _tail(path: str) -> List[str]:
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as log:
            return [line.rstrip() for line in log][-_LOG_LINES:]
    except OSError:
        return []
