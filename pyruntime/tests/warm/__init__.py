"""Runs commands in children of a process that has imported torch (`parent.py`), in the place of `subprocess.run`."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

HASH_SEED = "PYTHONHASHSEED"
FOLDER = "FLORC_TESTS"
"""The variable that names the folder with the sockets, which is named after the process of the tests."""
HERE = Path(__file__).resolve().parent
NUMPY = ("numpy",)
TORCH = (*NUMPY, "torch", "torch._dynamo")  # the first optimizer of a process imports the last: 1.5 s
SKLEARN = ("sklearn.datasets", "sklearn.model_selection", "sklearn.preprocessing", "sklearn.metrics")
LEAKS = re.compile(r"^(nanobind: | - leaked | - \.\.\. skipped |See .*refleaks).*(\n|\Z)", re.MULTILINE)
"""What a library says where it is not taken apart."""
COLD = 60
"""One in so many cases starts cold, each day others; a cold training costs twelve seconds. In `make test-whole` all do."""


class Finished(NamedTuple):
    """As `subprocess.CompletedProcess` has it."""

    returncode: int
    stdout: str
    stderr: str


class Parent:
    """The child, for this process of tests, of a process that has imported these modules."""

    def __init__(self, modules: Sequence[str], preload: str):
        folder = Path(os.environ[FOLDER])
        path = folder / f"{zlib.crc32(repr((modules, preload)).encode()):08x}"
        with open(f"{path}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                self._start(str(path), modules, preload)
        self._requests = socket.socket(socket.AF_UNIX)
        self._requests.connect(str(path))
        self._replies = b""

    def _start(self, path: str, modules: Sequence[str], preload: str) -> None:
        env = {**os.environ, HASH_SEED: "1", "PYTHONPATH": str(HERE.parent)}
        env.pop("FLORC_DIR", None)
        if preload:
            env["LD_PRELOAD"] = preload
        tests = os.path.basename(os.environ[FOLDER])
        # What is put before a process may ask whether it is a replay (`other_day.c`): it is put before replays only.
        word = "replay" if preload else ""
        words = [sys.executable, str(HERE / "main.py"), path, ",".join(modules), tests, word]
        process = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, cwd=HERE, start_new_session=True)
        while not os.path.exists(path):
            if process.poll() is not None:
                raise RuntimeError(f"cannot import {modules} for the tests")
            time.sleep(0.05)

    def run(self, words: Sequence[str], cwd: Path, env: dict[str, str], timeout: float) -> Finished:
        """Run `python words…`. Raises subprocess.TimeoutExpired."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(os.devnull, "rb") as nothing:
            request = {"words": list(words), "cwd": str(cwd), "env": env}
            files = [nothing.fileno(), out.fileno(), err.fileno()]
            self._requests.settimeout(None)
            socket.send_fds(self._requests, [json.dumps(request).encode()], files)
            child = self._number()
            self._requests.settimeout(timeout)
            try:
                code = self._number()
            except TimeoutError:
                self._requests.settimeout(None)
                os.killpg(child, signal.SIGKILL)
                self._number()
                raise subprocess.TimeoutExpired(list(words), timeout) from None
            out.seek(0)
            err.seek(0)
            return Finished(code, out.read().decode(), LEAKS.sub("", err.read().decode()))

    def _number(self) -> int:
        """The next line of the parent's. Raises TimeoutError."""
        while b"\n" not in self._replies:
            more = self._requests.recv(64)
            if not more:
                raise RuntimeError("a warm parent of the tests has ended")
            self._replies += more
        line, _, self._replies = self._replies.partition(b"\n")
        return int(line)


_parents: dict[tuple[object, ...], Parent] = {}


def is_cold(name: str) -> bool:
    """Whether this is one of the few cases that start cold today; with FLORC_COLD all do."""
    return "FLORC_COLD" in os.environ or zlib.crc32(f"{name} {datetime.date.today()}".encode()) % COLD == 0


def is_dear(text: str) -> bool:
    """Whether a script with this text imports what takes seconds."""
    return re.search(r"\b(torch|sklearn)\b", text) is not None


def cold(words: Sequence[str], text: str, cwd: Path, env: dict[str, str], timeout: float = 120) -> Finished:
    """Run `python words…` in a process of its own."""
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=env, stdin=subprocess.DEVNULL, timeout=timeout, capture_output=True, text=True
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def run(words: Sequence[str], text: str, cwd: Path, env: dict[str, str], case: str = "", timeout: float = 120) -> Finished:
    """Run `python words…`, a script or `-m florc`, whose text says what it imports. Cold where the case is (`is_cold`), where
    the environment is one that only a process of its own can have, or for a database: its file holds what lay in memory."""
    read = {name: value for name, value in env.items() if name.startswith("PYTHON") and name not in (HASH_SEED, "PYTHONPATH")}
    is_plain = sys.platform == "linux" and env.get(HASH_SEED) == "1" and read.items() <= os.environ.items()
    is_run = words[0].endswith(".py") or list(words[:2]) == ["-m", "florc"] and words[2] in ("record", "replay", "verify")
    if is_cold(case) or "sqlite" in text or not (is_plain and is_run and FOLDER in os.environ):
        return cold(words, text, cwd, env, timeout)
    modules = TORCH * ("torch" in text) + SKLEARN * ("sklearn" in text) or NUMPY * ("numpy" in text)
    key = (modules, env.get("LD_PRELOAD", "") if "replay" in words else "")
    if key not in _parents:
        _parents[key] = Parent(*key)
    return _parents[key].run(words, cwd, env, timeout)


@contextlib.contextmanager
def house() -> Iterator[None]:
    """Where the processes of one run of the tests find these parents, which end soon after it."""
    # the name of a socket has at most 107 characters
    with tempfile.TemporaryDirectory(prefix="florc-warm-", dir="/tmp" if len(tempfile.gettempdir()) > 50 else None) as folder:
        os.environ[FOLDER] = os.path.join(folder, str(os.getpid()))
        os.mkdir(os.environ[FOLDER])
        yield
