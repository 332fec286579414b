"""Ranks that are forked from processes which have done the imports (`replay/serving.py`): one such process for each rank, as
libraries read which rank they are in when they are imported.

`florc replay --interactive` starts these processes, and talks with each through a pair of sockets, a line of JSON at a time: the
command of a rank, its environment and its files; then the number of its process, and its exit code. Each of these lines names the
question, as one that was ended may not have read all that was for it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from typing import Any

from ...process import launcher, start
from ...runs.catalog import of_rank
from ...runs.run import Run
from ..session.opening import RANK
from ..session.started import STARTED
from . import workers

SERVES = "serves"
"""In the task of a process (`opening.RANK`): it does not replay a rank, but waits for the commands of one."""
_NO_PORT = 1
"""Of the place where the ranks meet: none has been asked yet."""
_served: dict[tuple[str, int], socket.socket] = {}
"""The folder of a run and the number of a rank -> the way to the process from which that rank is forked."""


def serve(run: Run) -> None:
    """Start a process for each rank of a run; they do the imports beside this one, and end with it."""
    if sys.platform != "linux":  # nobody knows there whether a process can be forked
        return
    for number in range(run.ranks):
        own, other = socket.socketpair()
        task = {"rank": number, "parent": os.getpid(), SERVES: other.fileno()}
        given = {**STARTED.environment, **launcher.again(of_rank(run, number).info["ranks"], _NO_PORT), RANK: json.dumps(task)}
        with other, tempfile.TemporaryFile() as said:
            subprocess.Popen(
                start.command(*STARTED.words),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=start.environment(run.info["hash_seed"], given),
                start_new_session=True,
                pass_fds=(other.fileno(),),
            )
        _served[run.path, number] = own


def process(
    run: Run, number: int, words: list[str], environment: dict[str, str], out: str, log: str, task: dict[str, Any]
) -> workers.Process | None:
    """A rank, forked; None where there is nothing from which it could be. `task`: what RANK says in its environment."""
    way = _served.get((run.path, number))
    if way is None:
        return None
    asked = {
        "words": words,
        "environment": environment,
        "out": out,
        "log": log,
        "task": task,
        "asks": os.getpid(),
        "id": os.urandom(8).hex(),
    }
    try:
        return Forked(way, asked)
    except OSError:  # it has ended: its imports do
        del _served[run.path, number]
        return None


class Forked(workers.Forked):
    """A rank that another process has forked."""

    def __init__(self, way: socket.socket, asked: dict[str, Any]):
        self._way, self._id, self._rest = way, asked["id"], b""
        way.sendall(json.dumps(asked).encode() + b"\n")

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        self._hear(0.0)
        return self._code

    def _hear(self, patience: float) -> None:
        while self._code is None and select.select([self._way], [], [], patience)[0]:
            try:
                data = self._way.recv(1 << 12)
            except ConnectionResetError:  # it ended before it had read what is asked
                data = b""
            if not data:
                self._code = -signal.SIGKILL
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                told = json.loads(line)
                if told["id"] == self._id:
                    self._pid, self._code = told["process"], told.get("code")

    def _pause(self) -> None:
        self._hear(0.05)

    def _signal(self, number: int) -> None:
        while not self._pid and self._code is None:  # a process that still imports forks it later
            self._pause()
        super()._signal(number)


def is_server() -> bool:
    """Whether this process waits for the commands of a rank."""
    return RANK in os.environ and SERVES in json.loads(os.environ[RANK])
