"""R0 with a file operation that fails, for every such operation of a recorded run.

The script ends as it does on its own; what is in the store can be read; a replay answers right or says that it cannot.
`FLORC_TORTURE=1` (`make torture`) tries every operation with every error, once and for good.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

SHIM = Path(__file__).with_name("shim.c")
TORTURE = bool(os.environ.get("FLORC_TORTURE"))
SCRIPT = """
import hashlib, random, sys, time
random.seed(3)
weights = [0.0] * 200
history = {}
for epoch in range(4):
    for step in map(int, range(4)):
        time.sleep(0.01)
        weights[step] += random.random()
    history[epoch] = sum(weights)
    print("epoch", epoch, history[epoch])#PROBE
print("final", hashlib.sha256(repr((weights, history, random.random())).encode()).hexdigest())
sys.exit(3)
"""
PROBED = SCRIPT.replace("#PROBE", '\n    print("probe", epoch, weights[3])')
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EDQUOT": errno.EDQUOT}
IN_THE_SUITE = 24
"""How many single faults are tried when it is not torture: spread over all operations."""


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def about_faults(self) -> list:
        """What florc said besides the lines that it always says."""
        usual = ("florc: recorded ", "florc: next: ", "florc: replayed", "florc:   ")
        return [line for line in self.err.splitlines() if line.startswith("florc: ") and not line.startswith(usual)]


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    if shutil.which("gcc") is None or sys.platform != "linux":
        pytest.skip("needs gcc and Linux")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SHIM), "-ldl"], check=True)
    return library


def run(folder: Path, *words: str, **environment: str) -> Ended:
    known = {**os.environ, "FLORC_DIR": str(folder / "store"), "PYTHONHASHSEED": "0", **environment}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=known, capture_output=True, text=True, timeout=60)
    return Ended(done.returncode, done.stdout, done.stderr)


class Bench:
    """A folder with the script, and what it does on its own."""

    def __init__(self, folder: Path, shim: Path):
        self.folder, self.shim = folder, shim
        (folder / "train.py").write_text(SCRIPT)
        self.plain = run(folder, "train.py")
        (folder / "train.py").write_text(PROBED)
        out = run(folder, "train.py").out
        self.answer = [line for line in out.splitlines() if line.startswith("probe")]
        (folder / "train.py").write_text(SCRIPT)

    def record(self, at: int, error: int = errno.ENOSPC, sticky: bool = False) -> "tuple[Ended, int, int]":
        """A recorded run in a fresh store; how many operations were counted and how many failed."""
        shutil.rmtree(self.folder / "store", ignore_errors=True)
        counter = self.folder / "counter"
        counter.write_bytes(bytes(mmap.PAGESIZE))
        ended = run(self.folder, "-m", "florc", "record", "--overhead", "0.9", "train.py", LD_PRELOAD=str(self.shim),
                    FAULT_UNDER=str(self.folder / "store"), FAULT_COUNTER=str(counter), FAULT_AT=str(at),
                    FAULT_ERRNO=str(error), FAULT_STICKY=str(int(sticky)))
        return (ended, *struct.unpack("qq", counter.read_bytes()[:16]))

    def check(self, at: int, error: int, sticky: bool, replay: bool) -> None:
        what = f"operation {at}, {errno.errorcode[error]}, {'for good' if sticky else 'once'}"
        ended, _, failed = self.record(at, error, sticky)
        assert failed or at > 1, what
        assert (ended.code, ended.out) == (self.plain.code, self.plain.out), f"{what}\n{ended.err}"
        assert "Traceback" not in ended.err, f"{what}\n{ended.err}"
        assert len(ended.about_faults) <= 1, f"{what}\n{ended.err}"
        if replay:
            self.check_replay(what)

    def check_replay(self, what: str) -> None:
        """The right answer, or none and a reason; never a wrong one."""
        (self.folder / "train.py").write_text(PROBED)
        try:
            ended = run(self.folder, "-m", "florc", "replay", "train.py")
        finally:
            (self.folder / "train.py").write_text(SCRIPT)
        got = [line for line in ended.out.splitlines() if line]
        assert "Traceback" not in ended.err, f"{what}\n{ended.err}"
        assert got == self.answer[:len(got)], f"{what}\n{got}\n{ended.err}"
        if len(got) < len(self.answer):
            refused = not got and ended.code == 2 and "florc: " in ended.err
            assert refused or "ends with its last whole iteration" in ended.err, f"{what}\n{ended.err}"


@pytest.fixture(scope="module")
def bench(tmp_path_factory, shim):
    return Bench(tmp_path_factory.mktemp("faults"), shim)


def test_the_shim_counts_and_the_recording_is_sound_without_a_fault(bench):
    ended, counted, failed = bench.record(0)
    assert (ended.code, ended.out) == (bench.plain.code, bench.plain.out) and failed == 0 and ended.about_faults == []
    assert counted > 30 and ended.code == 3
    assert "4 checkpoints" in ended.err, ended.err
    bench.check_replay("no fault")


def test_one_operation_fails(bench):
    _, counted, _ = bench.record(0)
    errors = list(ERRORS.values())
    step = 1 if TORTURE else max(1, counted // IN_THE_SUITE)
    for number, at in enumerate(range(1, counted + 1, step)):
        for error in errors if TORTURE else [errors[number % len(errors)]]:
            bench.check(at, error, sticky=False, replay=TORTURE or number % 3 == 0)


@pytest.mark.parametrize("name", list(ERRORS))
def test_every_operation_fails_from_some_point_on(bench, name):
    _, counted, _ = bench.record(0)
    points = range(1, counted + 1) if TORTURE else (1, counted // 3, counted * 2 // 3)
    for at in points:
        bench.check(at, ERRORS[name], sticky=True, replay=TORTURE or at != 1)
