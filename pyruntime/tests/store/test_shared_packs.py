"""Many small checkpoints are few files, and each is as durable as before."""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from florc._native import Recorder, RunReader, gc
from recorder_scripts import RUN, checkpoints, finish, python

MANY = 400
SHIM = Path(__file__).parent.parent / "faults" / "shim.c"


@pytest.mark.parametrize("engine", ["inline", "thread", "writer"])
def test_small_checkpoints_share_packs(tmp_path: Path, engine: str) -> None:
    store = str(tmp_path)
    recorder = Recorder(store, RUN, engine=engine, max_staging=8 << 20)
    for number in range(MANY):
        leaf = os.urandom(100 + number)
        while recorder.submit("{}", b"graph %d" % number, [leaf, b"the same"]) is None:
            recorder.poll()
    totals = recorder.close(60)
    assert totals["checkpoints"] == MANY and not totals["errors"]
    names = os.listdir(tmp_path / "packs")
    assert 17 <= len(names) <= 18, len(names)
    reader, found = checkpoints(store)
    assert len(found) == MANY and reader.damaged_packs() == [] == reader.check_packs()
    for number, checkpoint in enumerate(found):
        graph, leaf, same = (reader.read_chunk(chunk["hash"]) for chunk in checkpoint["chunks"])
        assert (graph, len(leaf), same) == (b"graph %d" % number, 100 + number, b"the same")
    assert gc(store) == (0, 0), "all of it is referred to"


def test_large_ones_and_those_that_may_be_dropped_have_packs_of_their_own(tmp_path: Path) -> None:
    for name, options, size in (("large", {}, 100_000), ("dropped", {"share_packs": False}, 100)):
        recorder = Recorder(str(tmp_path / name), RUN, engine="inline", max_staging=8 << 20, **options)
        for _ in range(30):
            assert recorder.submit("{}", b"graph", [os.urandom(size)]) is not None
        recorder.close(60)
        assert len(os.listdir(tmp_path / name / "packs")) == 30, name


def test_a_reader_sees_a_pack_grow(tmp_path: Path) -> None:
    recorder = Recorder(str(tmp_path), RUN, engine="inline", max_staging=8 << 20)
    reader = None
    for number in range(40):
        assert recorder.submit("{}", b"graph %d" % number, []) is not None
        reader = reader or RunReader(str(tmp_path), RUN)
        last = [json.loads(payload) for kind, payload in reader.records() if kind == "checkpoint"][-1]
        assert reader.read_chunk(last["chunks"][0]["hash"]) == b"graph %d" % number
    recorder.close(60)


def test_what_was_acknowledged_before_a_kill_is_there(tmp_path: Path) -> None:
    process = python(
        tmp_path,
        """
        done = 0
        while True:
            submit(os.urandom(500), b"shared")
            done += sum(one.error is None for one in r.poll())
            print(done, flush=True)
        """,
    )
    acknowledged = 0
    while acknowledged < 120:
        acknowledged = int(process.stdout.readline())
    for pid in writers_of(process.pid):
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.wait()
    reader, found = checkpoints(str(tmp_path))
    assert len(found) >= acknowledged and reader.damaged_packs() == []
    assert all(len(reader.read_chunk(chunk["hash"])) > 0 for checkpoint in found for chunk in checkpoint["chunks"])
    # a writer that goes on writes nothing over
    finish(python(tmp_path, "submit(b'more'); assert r.close(60)['checkpoints'] == 1"))
    reader, again = checkpoints(str(tmp_path))
    assert len(again) == len(found) + 1 and reader.check_packs() == []


def writers_of(pid: int) -> list:
    """Children that were cloned from a process, without asking it."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                stat = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(stat[1]) == pid:
                found.append(int(name))
    return found


@pytest.mark.parametrize("what", ["sync", "write"])
def test_a_failed_sync_is_told(tmp_path: Path, what: str) -> None:
    """One checkpoint is lost, the others are in another pack, and those before it are still there."""
    if shutil.which("gcc") is None or sys.platform != "linux":
        pytest.skip("needs gcc and Linux")
    shim, counter, store = tmp_path / "shim.so", tmp_path / "counter", tmp_path / "store"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim), str(SHIM), "-ldl"], check=True)
    counter.write_bytes(bytes(mmap.PAGESIZE))
    faults = {
        "LD_PRELOAD": str(shim),
        "FAULT_UNDER": str(store),
        "FAULT_COUNTER": str(counter),
        "FAULT_AT": "3",
        "FAULT_ERRNO": str(errno.EIO),
        "FAULT_ONLY": f"{what} -16.pack",
    }
    out = finish(
        python(
            store,
            """
        r = Recorder(%r, "other", engine="inline", max_staging=MIB)
        for number in range(40):
            submit(b"leaf %%d" %% number)
        done = r.poll()
        print([one.seq for one in done if one.error], sum(one.error is None for one in done))
        """
            % str(store),
            env={**os.environ, **faults},
        )
    )
    assert out.split() == ["[18]", "39"], out
    names = sorted(os.listdir(store / "packs"))
    assert len(names) == 18 and "other-0-17.pack" in names, names
    reader = RunReader(str(store), "other")
    found = [json.loads(payload) for kind, payload in reader.records() if kind == "checkpoint"]
    assert [one["seq"] for one in found] == [number for number in range(40) if number != 18]
    assert all(reader.read_chunk(one["chunks"][1]["hash"]) == b"leaf %d" % one["seq"] for one in found)
    assert reader.damaged_packs() == []
