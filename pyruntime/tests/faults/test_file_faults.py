"""R0 with a file operation that fails, for every such operation of a recorded run.

The script ends as it does on its own; what is in the store can be read; a replay answers right or says that it cannot.
`FLORC_TORTURE=1` (`make torture`) tries every operation with every error, once and for good.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from florc._native import RunReader

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
    done = subprocess.run([sys.executable, *words], cwd=folder, env=known, capture_output=True, text=True, timeout=300)
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

    def record(self, at: int, error: int = errno.ENOSPC, sticky: bool = False, only: str = "") -> tuple[Ended, int, int]:
        """A recorded run in a fresh store; how many operations (of those, `only`) were counted and how many failed."""
        shutil.rmtree(self.folder / "store", ignore_errors=True)
        counter = self.folder / "counter"
        counter.write_bytes(bytes(mmap.PAGESIZE))
        ended = run(
            self.folder,
            "-m",
            "florc",
            "record",
            "--checkpoint",
            "every",
            "train.py",
            LD_PRELOAD=str(self.shim),
            FAULT_UNDER=str(self.folder / "store"),
            FAULT_COUNTER=str(counter),
            FAULT_AT=str(at),
            FAULT_ERRNO=str(error),
            FAULT_STICKY=str(int(sticky)),
            FAULT_ONLY=only,
        )
        return (ended, *struct.unpack("qq", counter.read_bytes()[:16]))

    def trace(self) -> list:
        """What was done to the store's files, in order: (what, file's name)."""
        log = self.folder / "trace"
        log.unlink(missing_ok=True)
        os.environ["FAULT_TRACE"] = str(log)
        try:
            self.record(0)
        finally:
            del os.environ["FAULT_TRACE"]
        return [(line.split(" ", 1)[0], os.path.basename(line.split(" ", 1)[1])) for line in log.read_text().splitlines()]

    def check(self, at: int, error: int, sticky: bool, replay: bool) -> None:
        what = f"operation {at}, {errno.errorcode[error]}, {'for good' if sticky else 'once'}"
        ended, _, failed = self.record(at, error, sticky)
        assert failed or at > 1, what
        assert (ended.code, ended.out) == (self.plain.code, self.plain.out), f"{what}\n{ended.err}"
        assert "Traceback" not in ended.err, f"{what}\n{ended.err}"
        assert len(ended.about_faults) <= 1, f"{what}\n{ended.err}"
        self.check_store(what)
        if replay:
            self.check_replay(what)

    def check_store(self, what: str) -> None:
        """Every checkpoint that the journal names is whole; an error that was swallowed would leave one that is not."""
        for run in (self.folder / "store" / "runs").glob("*"):
            if not (run / "journal.0").exists():
                continue
            reader = RunReader(str(self.folder / "store"), run.name)
            found = [json.loads(payload) for kind, payload in reader.records() if kind == "checkpoint"]
            assert reader.damaged is None and reader.damaged_packs() == [], what
            assert all(reader.read_chunk(chunk["hash"]) is not None for one in found for chunk in one["chunks"]), what

    def check_replay(self, what: str) -> None:
        """The right answer, or none and a reason; never a wrong one."""
        (self.folder / "train.py").write_text(PROBED)
        try:
            ended = run(self.folder, "-m", "florc", "replay", "train.py")
        finally:
            (self.folder / "train.py").write_text(SCRIPT)
        got = [line for line in ended.out.splitlines() if line]
        assert "Traceback" not in ended.err, f"{what}\n{ended.err}"
        assert got == self.answer[: len(got)], f"{what}\n{got}\n{ended.err}"
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


@pytest.mark.parametrize(
    "what", ["write .pack.", "sync .pack.", "rename .pack", "sync packs", "write journal.0", "sync journal.0"]
)
def test_what_could_not_be_kept_is_told(bench, what):
    """An error that is swallowed would leave a run that claims more than it has."""
    ended, counted, failed = bench.record(2, errno.EIO, only=what)
    assert failed == 1 and counted >= 2, what
    assert (ended.code, ended.out) == (bench.plain.code, bench.plain.out)
    assert len(ended.about_faults) == 1 and "Input/output error" in ended.about_faults[0], ended.err
    if what == "sync journal.0":  # the first one of a checkpoint: neither that nor any later one is certain
        assert " 0 checkpoints" in ended.err, ended.err
    bench.check_store(what)


def written_by_name(trace: list) -> list:
    """Small files that a crash could leave half written: they are not written aside, synced, and renamed."""
    wrong, unsynced = [], set()
    for what, name in trace:
        if name in ("store.json", ".gitignore", "run.json") and what in ("create", "write"):
            wrong.append(f"{name} is written under its own name")
        elif what == "write":
            unsynced.add(name)
        elif what == "sync":
            unsynced.discard(name)
        elif what == "rename" and any(name in other for other in unsynced):
            wrong.append(f"{name} is named before it is synced")
    return wrong


def test_small_files_are_written_whole(bench):
    trace = bench.trace()
    assert written_by_name(trace) == []
    assert {name for what, name in trace if what == "rename"} >= {"store.json", ".gitignore", "run.json"}


def broken_order(trace: list) -> list:
    """Where a power cut could leave a record of a checkpoint whose bytes are gone.

    A pack is written under a hidden name, synced, renamed, and its folder synced, before the journal is written again; the
    n-th record of a checkpoint comes after the n-th pack; and the journal is synced after its last write.
    """
    wrong, state, unsynced, records = [], {}, False, 0
    for what, name in trace:
        pack = name.lstrip(".").split(".pack")[0] if ".pack" in name else None
        if pack is not None and what in ("create", "write"):
            if not name.startswith("."):
                wrong.append(f"{name} is written under its own name")
            state[pack] = "written"
        elif pack is not None and what == "sync" and state.get(pack) == "written":
            state[pack] = "synced"
        elif what == "rename" and pack is not None:
            if state.get(pack) != "synced":
                wrong.append(f"{name} is named before it is synced")
            state[pack] = "named"
        elif what == "sync" and name == "packs":
            state = {pack: "durable" if how == "named" else how for pack, how in state.items()}
        elif name.startswith("journal.") and what == "write":
            wrong += [f"the journal is written while {pack} is only {how}" for pack, how in state.items() if how != "durable"]
            unsynced = True
        elif name.startswith("journal.") and what == "sync":
            unsynced = False
        elif what == "record":
            records += 1
            if list(state.values()).count("durable") < records:
                wrong.append(f"record {records} is written before the pack that it names")
    return wrong + ["the journal's last records are not synced"] * unsynced


def test_bytes_are_durable_before_the_record_and_seeded_bugs_are_seen(bench):
    trace = [step for step in bench.trace() if ".pack" in step[1] or step[1] == "packs" or step[1].startswith("journal")]
    assert broken_order(trace) == []
    assert [sum(step == what for step, _ in trace) for what in ("rename", "record")] == [4, 4]
    seeded = {
        "no fsync of packs": [step for step in trace if step[0] != "sync" or ".pack" not in step[1]],
        "no rename": [
            (what, name.lstrip(".").split(".pack")[0] + ".pack" if ".pack" in name else name)
            for what, name in trace
            if what != "rename"
        ],
        "no sync of the folder": [step for step in trace if step != ("sync", "packs")],
        "no sync of the journal": [step for step in trace if step[0] != "sync" or not step[1].startswith("journal.")],
        "the record before the bytes": [
            step for one in trace for step in ([("write", "journal.0"), one] if one[0] == "rename" else [one])
        ],
        "the record before the pack": [("record", "journal"), *(step for step in trace if step[0] != "record")],
    }
    missed = [name for name, steps in seeded.items() if not broken_order(steps)]
    assert missed == []
