"""A state that is larger than the memory it may take is kept in pieces."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from florc._native import Recorder
from recorder_scripts import MIB, RUN, checkpoints, finish, python, read, until

pytest.importorskip("torch")

SCRIPT = """
import sys
import torch
torch.manual_seed(0)
weights = [torch.randn(1_000_000, 9), torch.randn(5_000_000), torch.zeros(3)]
for epoch in range(3):
    for step in range(2):
        for weight in weights:
            weight.mul_(1.5).add_(step)
    print("sum", epoch, float(weights[0].sum()))
{added}
"""


def test_a_state_larger_than_the_staging_memory_is_restored(tmp_path: Path) -> None:
    """It is 56 MB, the memory 20 MiB: with what a plain run prints, from checkpoints."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(added=""))
    record = ["-m", "florc", "record", "--checkpoint", "every", "--max-staging", "20", "train.py"]
    recorded = subprocess.run([sys.executable, *record], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.search(r"\b[3-9] checkpoints", recorded.stderr), recorded.stderr
    script.write_text(SCRIPT.format(added="print('asked', float(weights[1].sum()), float(weights[2][1]))"))
    plain = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    replay = [sys.executable, "-m", "florc", "replay", "train.py"]
    replayed = subprocess.run(replay, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert replayed.returncode == 0, replayed.stderr
    assert [line for line in replayed.stdout.splitlines() if "asked" in line] == plain.stdout.splitlines()[-1:]
    assert "exact" in replayed.stderr and "restored" in replayed.stderr


def test_what_arrives_in_pieces_comes_back(tmp_path: Path) -> None:
    """Chunks within a piece, over two and over many; and whole checkpoints between them."""
    recorder = Recorder(str(tmp_path), RUN, max_staging=20 * MIB)
    noise = os.urandom(45 * MIB)
    states = [[noise[: 11 * MIB], noise[1:], b"", noise[:1000]], [noise[: 30 * MIB]], [noise[5 : 9 * MIB], noise]]
    for state in states:
        assert recorder.submit_in_pieces("{}", b"graph", state) is not None
        while recorder.submit("{}", b"graph", [noise[: 9 * MIB], b"whole"]) is None:
            recorder.poll()
    totals = recorder.close(60)
    assert totals["drained"] and totals["checkpoints"] == 6 and not totals["errors"]
    reader, found = checkpoints(str(tmp_path))
    assert reader.check_packs() == []
    assert [read(reader, one)[1:] for one in found[::2]] == states
    assert all(read(reader, one)[1:] == [noise[: 9 * MIB], b"whole"] for one in found[1::2])


def test_no_more_memory_than_allowed_is_touched(tmp_path: Path) -> None:
    body = """
        r = Recorder(%r, "other", max_staging=24 * MIB)
        def shared():
            with open("/proc/self/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("RssShmem:")) >> 10
        print(r.submit_in_pieces("{}", b"graph", [os.urandom(100 * MIB)])["bytes"] >> 20, shared() <= 24)
        print(r.close(60)["checkpoints"])
    """
    assert finish(python(tmp_path, body % str(tmp_path))) == "100 True\n1\n"


def test_memory_past_the_usual_part_is_given_back(tmp_path: Path) -> None:
    """Without a limit of the user's: a quarter of the free memory is kept, the rest of a large checkpoint is not."""
    body = """
        r = Recorder(%r, "other")
        usual, whole = r.room(), r.whole()
        print(usual < whole)
        r.close(60)
    """
    assert finish(python(tmp_path, body % str(tmp_path))) == "True\n"


def test_a_kill_in_the_middle_leaves_neither_a_checkpoint_nor_a_file(tmp_path: Path) -> None:
    body = """
        submit(b"before")
        while not r.poll(): time.sleep(0.01)
        print("go", flush=True)
        r2 = Recorder(%r, "other", max_staging=16 * MIB)
        noise = os.urandom(8 * MIB)
        r2.submit_in_pieces("{}", b"graph", [noise + bytes([n]) for n in range(200)])
    """
    process = python(tmp_path, body % str(tmp_path))
    assert process.stdout.readline() == "go\n"
    folder = tmp_path / "packs"
    until(lambda: any(name.endswith(".tmp") and "other" in name for name in os.listdir(folder)))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    until(lambda: not any("other" in name for name in os.listdir(folder)))
    reader, found = checkpoints(str(tmp_path))
    assert len(found) == 1 and read(reader, found[0])[1] == b"before"


def test_a_full_disk_loses_that_checkpoint_only(tmp_path: Path) -> None:
    body = """
        resource.setrlimit(resource.RLIMIT_FSIZE, (40 * MIB, 40 * MIB))
        r = Recorder(%r, %r, max_staging=24 * MIB)
        print(r.submit_in_pieces("{}", b"graph", [os.urandom(100 * MIB)]) is not None)
        r.submit("{}", b"graph", [b"small"])
        r.close(60)
        print([(one.seq, one.errno) for one in r.poll()])
    """
    out = finish(python(tmp_path / "first", body % (str(tmp_path / "second"), "20260101-120000-abc123")))
    assert out == "True\n[(0, 27), (1, None)]\n"
    reader, found = checkpoints(str(tmp_path / "second"))
    assert [read(reader, one)[1] for one in found] == [b"small"] and MIB
