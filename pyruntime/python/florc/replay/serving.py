"""A process that has done the imports of a rank, and forks that rank for one question after the other (`parallel/served.py`)."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from ..process import start
from .parallel.served import SERVES
from .parallel.workers import end_with_parent
from .process import end
from .session.opening import RANK
from .session.started import STARTED
from .warm.imports import Ahead
from .world import entry as world


def next_words(import_ahead: Callable[[], Ahead], is_warm: Callable[[Ahead], bool]) -> list[str]:
    """In such a process: do the imports, and fork what is asked for. Returns in each fork: the words of its command. Ends where
    nobody asks any more."""
    task = json.loads(os.environ.pop(RANK))
    end_with_parent(task["parent"])
    way = socket.socket(fileno=task[SERVES])
    found = import_ahead()
    with way.makefile("rb") as lines:
        for line in lines:
            asked = json.loads(line)
            child = os.fork()
            if child == 0:
                _become(asked, found, is_warm(found))
                return list(asked["words"])
            told = {"id": asked["id"], "process": child}
            way.sendall(json.dumps(told).encode() + b"\n")
            told["code"] = _waited(child, asked["asks"])
            way.sendall(json.dumps(told).encode() + b"\n")
    end(0)


def _waited(child: int, asks: int) -> int:
    """The exit code of a rank. Where the process that asks for it ends before, nobody waits for the rank."""
    events = select.poll()
    own = os.pidfd_open(child)
    events.register(own, select.POLLIN)
    try:
        asking = os.pidfd_open(asks)
    except ProcessLookupError:
        asking = -1
        os.kill(child, signal.SIGKILL)
    else:
        events.register(asking, select.POLLIN)
    while own not in (ready := {found for found, _ in events.poll()}):
        if asking in ready:
            events.unregister(asking)
            for send in (os.kill, os.killpg):
                with contextlib.suppress(OSError):
                    send(child, signal.SIGKILL)
    for descriptor in {own, asking} - {-1}:
        os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _become(asked: dict[str, Any], found: Ahead, is_warm: bool) -> None:
    """Make this process, just forked, that of a rank."""
    with open(os.devnull, "rb") as nothing, open(asked["out"], "wb") as written, open(asked["log"], "ab") as said:
        for number, file in enumerate((nothing, written, said)):
            os.dup2(file.fileno(), number)
    os.setsid()
    given: dict[str, str] = {**asked["environment"], RANK: json.dumps({**asked["task"], "parent": os.getppid()})}
    world.join(given)
    if not is_warm:
        os.execve(sys.executable, start.command(*asked["words"]), given)
    os.environ.clear()
    os.environ.update({name: value for name, value in given.items() if name != start.STARTED})
    STARTED.environment = dict(os.environ)
    os.environ.pop(world.INSIDE, None)
    sys.argv[1:] = STARTED.words = list(asked["words"])
    found.go_on()
