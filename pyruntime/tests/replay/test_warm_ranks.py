"""Questions about a run of several ranks, one after the other: each rank is forked from a process that has done its imports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from launched import AFTER_EPOCH, PLAIN, RECORD, probed, project, ranks, truth_of
from test_warm import Prompt, prompt
from workshop import Workshop


def _asks(asked: Prompt, line: str) -> None:
    assert "exact: " in asked.ask(line, "reappeared unchanged")


def _processes(workshop: Workshop) -> list[int]:
    """Those that work in the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == os.fspath(workshop.path) and b"florc" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _servers(workshop: Workshop) -> list[int]:
    """Those from which ranks are forked; these have their environment, too."""
    own = [pid for pid in _processes(workshop) if b'"serves"' in _of(pid, "environ")]
    return [pid for pid in own if pid not in _children(workshop, own)]


def _children(workshop: Workshop, parents: list[int]) -> list[int]:
    found = [f"\nPPid:\t{pid}\n".encode() for pid in parents]
    return [pid for pid in _processes(workshop) if any(one in _of(pid, "status") for one in found)]


def _of(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_each_question_is_answered_by_all_ranks_as_the_script_is_then(workshop: Workshop) -> None:
    project(workshop)
    ranks(workshop, 2, *RECORD)
    texts = [probed(PLAIN, AFTER_EPOCH), PLAIN.replace("meet()", "meet(); print('P', rank, state[-1])")]
    truths = [truth_of(workshop, 2, text) for text in texts]
    with prompt(workshop) as asked:
        assert "2 ranks do the imports now" in asked.said("Ctrl-D ends")
        for text, line in ((texts[0], ""), (texts[1], ""), (texts[0], "--rank 1")):
            workshop.write("train.py", text)
            _asks(asked, line)
        assert asked.end() == (0, "".join(truths[0] + truths[1] + truths[0][1:]))
    _until(lambda: not _processes(workshop))


TORCH = """
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    weights = torch.zeros(4)
    for epoch in range(4):
        for step in range(8):
            gradient = torch.randn(4) @ torch.randn(4, 4)
            dist.all_reduce(gradient)
            weights -= 0.1 * gradient
        if dist.get_rank() == 0:
            print("epoch", epoch, weights.tolist(), flush=True)
        dist.barrier()
    dist.destroy_process_group()
"""


def test_torch_is_imported_once_for_all_questions(workshop: Workshop) -> None:
    workshop.write("train.py", TORCH)
    ranks(workshop, 2, *RECORD)
    before = "        dist.barrier()"
    text = probed(
        TORCH, (before, "print('P', dist.get_rank(), epoch, weights.sum().item(), torch.get_num_threads(), flush=True)")
    )
    truth = truth_of(workshop, 2, text)
    with prompt(workshop) as asked:
        asked.said("Ctrl-D ends")
        _asks(asked, "")
        servers = _servers(workshop)
        assert len(servers) == 2 and all(b"libtorch_cpu" in _of(pid, "maps") for pid in servers)
        _asks(asked, "")
        assert servers == _servers(workshop)
        assert asked.end() == (0, "".join(truth * 2))


def test_a_rank_whose_server_was_killed_starts_cold(workshop: Workshop) -> None:
    project(workshop)
    ranks(workshop, 2, *RECORD)
    text = probed(PLAIN, AFTER_EPOCH)
    truth = truth_of(workshop, 2, text)
    with prompt(workshop) as asked:
        asked.said("Ctrl-D ends")
        _asks(asked, "")
        for pid in _servers(workshop)[:1]:
            os.kill(pid, signal.SIGKILL)
        _asks(asked, "")
        assert asked.end() == (0, "".join(truth * 2))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ranks_end_with_the_question(workshop: Workshop, number: signal.Signals) -> None:
    project(workshop)
    ranks(workshop, 2, *RECORD)
    workshop.write("train.py", probed(PLAIN, ("        meet()", 'print("P"); import time; time.sleep(100)')))
    with prompt(workshop) as asked:
        asked.said("Ctrl-D ends")
        process: subprocess.Popen[str] = asked._process
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()

        def asking() -> list[int]:
            return [pid for pid in _children(workshop, [process.pid]) if pid not in _servers(workshop)]

        def answering() -> list[int]:
            return _children(workshop, _servers(workshop))

        _until(lambda: len(asking()) == 1 and len(answering()) == 2)
        os.kill(asking()[0], number)
        _until(lambda: not asking() and not answering())
        assert len(_servers(workshop)) == 2
        asked.said("ended by signal" if number == signal.SIGKILL else "interrupted")
        text = probed(PLAIN, AFTER_EPOCH)
        truth = truth_of(workshop, 2, text)
        _asks(asked, "")
        assert asked.end() == (0, "".join(truth))


DEAD = """
import json, socket
from florc.replay.parallel.served import Forked

own, other = socket.socketpair()
rank = Forked(own, {"id": "1"})
other.close()
rank.ask_to_end()
rank.end(1.0)
print(rank.poll())
"""


def test_a_server_that_ends_before_it_forks_ends_nobody_else(workshop: Workshop) -> None:
    """The number of its rank is not known then, and 0 would be the group of the process that asks."""
    workshop.write("dead.py", DEAD)
    done = workshop.run(sys.executable, "dead.py")
    assert (done.out, done.code) == ("-9\n", 0), done
