"""Ranks as a launcher starts them, and a script whose ranks meet without torch."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

from workshop import Workshop

RECORD = ("-m", "florc", "record", "--checkpoint", "every", "train.py")
PLAIN = """
    import os, sys, time
    from meeting import add_up, meet, rank

    state = [rank + 1.0]

    def train(epoch):
        for step in range(6):
            state[0] = add_up(state[0] * 0.5 + step)
            state.append(round(state[0], 9))

    def look(epoch):
        for step in range(3):
            state.append(-step - epoch)
            time.sleep(0.001)

    for epoch in range(5):
        train(epoch)
        if rank == 0:
            look(epoch)
            print("epoch", epoch, state[-4])
        meet()
    print("done", rank, len(state))
"""
MEETING = """
    # A collective call that a restored block must not leave another rank waiting in.
    import os
    import socket

    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    _address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    _files = []

    def _begin():
        if rank == 0:
            with socket.create_server(_address) as server:
                for _ in range(world - 1):
                    _files.append(server.accept()[0].makefile("rw"))
            return
        while True:
            try:
                _files.append(socket.create_connection(_address, 60).makefile("rw"))
                return
            except ConnectionRefusedError:
                pass

    _begin()

    def add_up(number):
        if rank:
            print(number, file=_files[0], flush=True)
            return float(_files[0].readline())
        total = number + sum(float(file.readline()) for file in _files)
        for file in _files:
            print(total, file=file, flush=True)
        return total

    def meet():
        add_up(0.0)
"""


class Ended(NamedTuple):
    """One rank that ended."""

    out: str
    err: str
    code: int


def free_port() -> int:
    """A port of this machine where nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def told(number: int, count: int, port: int, of_machine: int | None = None) -> dict[str, str]:
    """The environment variables by which torchrun tells a rank what it is."""
    of_machine = of_machine or count
    return {
        "RANK": str(number),
        "LOCAL_RANK": str(number % of_machine),
        "GROUP_RANK": str(number // of_machine),
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(of_machine),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": "1",
    }


def ranks(
    workshop: Workshop,
    count: int,
    *words: str,
    each: dict[int, tuple[str, ...]] | None = None,
    meanwhile: Callable[[list[subprocess.Popen[str]]], None] | None = None,
    of_machine: int | None = None,
    **variables: str,
) -> list[Ended]:
    """Start so many ranks of `python words…`, as a launcher does, and wait for them. `of_machine`: how many a machine has, as they
    are told; all of them, if it is not given."""
    port, started = free_port(), list[subprocess.Popen[str]]()
    try:
        for number in range(count):
            started.append(
                subprocess.Popen(
                    [sys.executable, "-u", *((each or {}).get(number, words))],
                    cwd=workshop.path,
                    env={**workshop.environment(), **told(number, count, port, of_machine), **variables},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
            )
        if meanwhile is not None:
            meanwhile(started)
        return [Ended(*process.communicate(timeout=240), process.returncode) for process in started]
    finally:
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def probed(text: str, *probes: tuple[str, str]) -> str:
    """The script with statements added, each below some lines, side by side with the last of them."""
    for before, probe in probes:
        assert text.count(before) == 1, before
        last = before.splitlines()[-1]
        text = text.replace(before, f"{before}\n{last[: len(last) - len(last.lstrip())]}{probe}")
    return text


AFTER_EPOCH = ("        meet()", 'print("P", epoch, state[-1], len(state))')
IN_STEP = ("            state.append(round(state[0], 9))", 'print("P", step, state[-1])')


def project(workshop: Workshop, text: str = PLAIN) -> None:
    """Write the script, and what its ranks meet by."""
    workshop.write("meeting.py", MEETING)
    workshop.write("train.py", text)


def truth_of(workshop: Workshop, count: int, text: str) -> list[str]:
    """What the added statements print in each rank of a plain run of the edited script."""
    workshop.write("train.py", text)
    done = ranks(workshop, count, "train.py")
    if "torch" not in text:  # with many ranks on few cores, it may abort when a process is over
        assert [rank.code for rank in done] == [0] * count, "".join(rank.err for rank in done)
    return ["".join(line for line in rank.out.splitlines(True) if line.startswith("P ")) for rank in done]
