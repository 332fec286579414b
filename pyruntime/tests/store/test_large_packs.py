"""Packs of many megabytes are written past the page cache, by a thread: they are as durable as others, and its errors are told."""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from florc._native import Recorder, RunReader
from recorder_scripts import MIB, RUN, checkpoints, finish, python, read

SHIM = Path(__file__).parent.parent / "faults" / "shim.c"


@pytest.mark.parametrize("engine", ["inline", "thread", "writer"])
def test_what_is_in_large_packs_comes_back(tmp_path: Path, engine: str) -> None:
    recorder = Recorder(str(tmp_path), RUN, engine=engine, max_staging=128 * MIB)
    noise, zeros = os.urandom(21 * MIB + 17), bytes(9 * MIB)
    kept = [[noise, zeros, b"short"], [noise, b"another"], [noise[1:], noise, zeros, b""]]
    for leaves in kept:
        assert recorder.submit("{}", b"graph", leaves) is not None
    totals = recorder.close(60)
    assert totals["checkpoints"] == 3 and totals["errors"] == []
    reader, found = checkpoints(str(tmp_path))
    assert [read(reader, one)[1:] for one in found] == kept
    assert reader.check_packs() == []
    assert sum(path.stat().st_size for path in tmp_path.glob("packs/*")) < 44 * MIB, "equal chunks are kept once"


@pytest.fixture
def shimmed(tmp_path: Path) -> dict[str, str]:
    """An environment in which file operations below `store` are counted."""
    if shutil.which("gcc") is None or sys.platform != "linux":
        pytest.skip("needs gcc and Linux")
    shim, counter = tmp_path / "shim.so", tmp_path / "counter"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim), str(SHIM), "-ldl"], check=True)
    counter.write_bytes(bytes(mmap.PAGESIZE))
    return {**os.environ, "LD_PRELOAD": str(shim), "FAULT_UNDER": str(tmp_path / "store"), "FAULT_COUNTER": str(counter)}


def test_a_large_pack_is_durable_before_its_record(tmp_path: Path, shimmed: dict[str, str]) -> None:
    trace = tmp_path / "trace"
    body = "submit(os.urandom(20 * MIB)); print(r.close(60)['checkpoints'])"
    assert finish(python(tmp_path / "store", body, env={**shimmed, "FAULT_TRACE": str(trace), "FAULT_AT": "0"})) == "1\n"
    steps = [line.split(maxsplit=1)[0] for line in trace.read_text().splitlines() if ".pack" in line or line.startswith("record")]
    written, synced = [at for at, step in enumerate(steps) if step == "write"], steps.index("sync")
    assert len(written) >= 5 and written[-1] < synced < steps.index("rename") < steps.index("record")


@pytest.mark.parametrize("at", range(1, 7))
def test_an_error_of_a_write_is_told(tmp_path: Path, shimmed: dict[str, str], at: int) -> None:
    """Each write of a pack in turn: its checkpoint is lost and no file of it is left, the next one is kept."""
    faults = {"FAULT_AT": str(at), "FAULT_ERRNO": str(errno.ENOSPC), "FAULT_ONLY": "write -0.pack"}
    body = """
        submit(os.urandom(20 * MIB))
        submit(b"next")
        r.close(60)
        print([(one.seq, one.errno) for one in r.poll()])
    """
    out = finish(python(tmp_path / "store", body, env={**shimmed, **faults}))
    assert out == f"[(0, {errno.ENOSPC}), (1, None)]\n"
    assert os.listdir(tmp_path / "store" / "packs") == [f"{RUN}-0-1.pack"]
    records = RunReader(str(tmp_path / "store"), RUN).records()
    assert [json.loads(payload)["seq"] for kind, payload in records if kind == "checkpoint"] == [1]
