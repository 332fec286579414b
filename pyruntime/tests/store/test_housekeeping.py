"""`florc check`, `rm`, `gc`, `runs --disk`: what a store needs, and what it must never lose."""

from __future__ import annotations

import json
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from workshop import Workshop

SHIM = Path(__file__).parent.parent / "faults" / "shim.c"
SCRIPT = """
    import random, sys, time
    random.seed(sys.argv[1])
    shared, own = [random.random() for _ in range(5000)], []
    for epoch in range(4):
        for step in map(int, range(3)):
            time.sleep(0.02)
            shared[step] += random.random()
            own.append(sys.argv[1] * 500 + str(random.random()))
        #PROBE
        print(epoch, sum(shared), len(own))
    """
PROBE = 'print("PROBE", epoch, sum(shared), own[-1][-40:])'


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: two of the same state, which share packs, and another; a statement was added since."""
    shop = Workshop(tmp_path_factory.mktemp("recorded"))
    shop.write("train.py", SCRIPT)
    for name, argument in (("one", "a"), ("two", "a"), ("three", "b")):
        assert shop.florc("record", "--overhead", "0.9", "--name", name, "train.py", argument).code == 0
    shop.write("train.py", SCRIPT.replace("#PROBE", PROBE))
    return shop.path


@pytest.fixture
def shop(recorded: Path, tmp_path: Path) -> Workshop:
    shutil.copytree(recorded, tmp_path / "shop")
    return Workshop(tmp_path / "shop")


def packs(shop: Workshop, name: str = "") -> list[Path]:
    return sorted(path for path in (shop.path / ".florc" / "packs").iterdir() if name in path.name)


def run_of(shop: Workshop, name: str) -> Path:
    [run] = (shop.path / ".florc" / "runs").glob(f"*-{name}")
    return run


def answers(shop: Workshop, name: str) -> None:
    """A replay gives what a plain run prints, from checkpoints, and all of them are there."""
    argument = "b" if name == "three" else "a"
    expected = [line for line in shop.plain("train.py", argument).out.splitlines() if line.startswith("PROBE")]
    done = shop.florc("replay", name, "train.py")
    assert done.out.splitlines() == expected and "florc: exact" in done.said and "\nflorc: 0 blocks" not in done.said, done
    checked = shop.florc("check", "--read-data", "--json", name)
    found = json.loads(checked.out)
    assert checked.code == 0 and found["restorable"] == found["checkpoints"] > 0 and found["own"], checked


def test_what_a_removed_run_shares_is_kept(shop: Workshop) -> None:
    shared = packs(shop, "-one-")
    assert shared and len(packs(shop, "-two-")) < len(shared), "the second run refers to packs of the first"
    removed = shop.florc("rm", "one")
    assert removed.code == 0 and "florc gc" in removed.said, removed
    assert shop.florc("gc").code == 0
    answers(shop, "two")
    answers(shop, "three")
    assert shop.florc("replay", "one", "train.py").code == 2
    assert shop.florc("rm", "two").code == 0
    done = shop.florc("gc")
    assert done.code == 0 and "florc: freed " in done.said and not packs(shop, "-one-") + packs(shop, "-two-"), done
    answers(shop, "three")
    assert "nothing to free" in shop.florc("gc").said
    assert shop.florc("rm", "three", "latest").code == 0 and shop.florc("gc").code == 0 and packs(shop) == []
    assert shop.florc("rm", "three").code == 2


def test_rm_and_gc_killed_anywhere(recorded: Path, tmp_path: Path) -> None:
    """Killed before each file operation in turn: what is left of the run does no harm, and goes at the next gc."""
    if shutil.which("gcc") is None or sys.platform != "linux":
        pytest.skip("needs gcc and Linux")
    shim, counter = tmp_path / "shim.so", tmp_path / "counter"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim), str(SHIM), "-ldl"], check=True)
    shop = Workshop(tmp_path / "shop")
    for command in (["rm", "one"], ["gc"]):
        killed = 0
        while True:
            shutil.rmtree(shop.path, ignore_errors=True)
            shutil.copytree(recorded, shop.path)
            if command == ["gc"]:
                assert shop.florc("rm", "one", "two").code == 0
                (shop.path / ".florc" / "packs" / ".x.pack.1-1.tmp").write_bytes(b"unfinished")
            counter.write_bytes(bytes(mmap.PAGESIZE))
            known: dict[str, str] = {
                **shop.environment(),
                "LD_PRELOAD": str(shim),
                "FAULT_UNDER": str(shop.path / ".florc"),
                "FAULT_COUNTER": str(counter),
                "FAULT_AT": str(killed + 1),
                "FAULT_ERRNO": "0",
            }
            done = subprocess.run(
                [sys.executable, "-m", "florc", *command], cwd=shop.path, env=known, capture_output=True, text=True
            )
            if not struct.unpack("qq", counter.read_bytes()[:16])[1]:
                assert done.returncode == 0, done
                break
            assert done.returncode == -signal.SIGKILL, done
            killed += 1
            listed = shop.florc("check")
            assert listed.code == 0 and "damaged" not in listed.out, (command, killed, listed)
            assert shop.florc("gc").code == 0
            if command == ["rm", "one"] and not (shop.path / ".florc" / "runs" / run_name(recorded, "one")).exists():
                assert shop.florc("replay", "one", "train.py").code == 2
            assert not list((shop.path / ".florc" / "runs").glob(".*")) and not list((shop.path / ".florc" / "packs").glob(".*"))
            if killed % 4 == 1:
                answers(shop, "three")
                if command == ["rm", "one"]:
                    answers(shop, "two")
        assert killed > 3, command


def run_name(folder: Path, name: str) -> str:
    [run] = (folder / ".florc" / "runs").glob(f"*-{name}")
    return run.name


def test_a_recording_in_progress_loses_nothing(shop: Workshop) -> None:
    waiting = (
        SCRIPT.replace("#PROBE", "while epoch == 2 and not os.path.exists('go'): time.sleep(0.01)")
        .replace("import random", "import os, random")
        .replace("print(epoch", "print('at', epoch, flush=True); print(epoch")
    )
    shop.write("waiting.py", waiting)
    process = shop.start(sys.executable, "-u", "-m", "florc", "record", "--overhead", "0.9", "--name", "four", "waiting.py", "a")
    try:
        while "at 1" not in process.stdout.readline():  # type: ignore[union-attr]
            assert process.poll() is None
        for name in ("one", "two", "three"):
            assert shop.florc("rm", name).code == 0
        before = packs(shop)
        refused = shop.florc("gc")
        assert refused.code == 2 and "a run is being recorded" in refused.said and packs(shop) >= before, refused
        running = shop.florc("rm", "four")
        assert running.code == 2 and "still being recorded" in running.said, running
        (shop.path / "go").touch()
        process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert shop.florc("gc").code == 0
    checked = shop.florc("check", "--read-data", "--json", "four")
    found = json.loads(checked.out)
    assert checked.code == 0 and found["restorable"] == found["checkpoints"] > 0, checked


def test_a_damaged_journal_stops_gc(shop: Workshop) -> None:
    """What its run refers to cannot be known."""
    journal = run_of(shop, "two") / "journal.0"
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 1
    journal.write_bytes(data)
    assert shop.florc("rm", "one").code == 0
    before = packs(shop)
    done = shop.florc("gc")
    assert done.code == 2 and str(journal) in done.said and packs(shop) == before, done
    assert shop.florc("rm", "two").code == 0 and shop.florc("gc").code == 0
    answers(shop, "three")


def test_check_names_what_is_damaged_and_what_is_left(shop: Workshop) -> None:
    whole = shop.florc("check")
    assert (whole.code, whole.said) == (0, "") and len(whole.out.splitlines()) == 3, whole
    pack = packs(shop, "-three-")[1]
    data = bytearray(pack.read_bytes())
    data[30] ^= 1
    pack.write_bytes(data)
    assert shop.florc("check").code == 0, "the data is read only when that is asked for"
    read = shop.florc("check", "--read-data")
    assert read.code == 1 and pack.name in read.out and "can still be answered: everything" in read.out, read
    pack.unlink()
    gone = shop.florc("check", "three")
    assert gone.code == 1 and "1 checkpoint of 4 cannot be read" in gone.out, gone
    assert shop.florc("check", "one").code == 0
    journal = run_of(shop, "one") / "journal.0"
    os.truncate(journal, journal.stat().st_size - 200)
    assert "up to the last whole iteration" in shop.florc("check", "one").out
    for source in (run_of(shop, "two") / "source").iterdir():
        source.write_text("x")
    lost = shop.florc("check", "two")
    assert lost.code == 1 and "can still be answered: nothing" in lost.out, lost
    (run_of(shop, "three") / "run.json").unlink()
    every = shop.florc("check", "--json")
    assert every.code == 1 and all(json.loads(line)["damage"] for line in every.out.splitlines()), every
    assert shop.florc("check", "nothing").code == 2
    shutil.rmtree(shop.path / ".florc")
    assert shop.florc("check").code == 2


def test_disk_tells_what_only_a_run_needs(shop: Workshop) -> None:
    runs = map(json.loads, shop.florc("runs", "--disk", "--json").out.splitlines())
    told = {run["name"]: run["disk"] for run in runs}
    assert told["one"]["alone"] < told["one"]["checkpoints"], "the second run has the same state"
    assert 0 < told["three"]["alone"] <= told["three"]["checkpoints"]
    shop.florc("rm", "one", "two")
    listed = shop.florc("runs", "--disk")
    assert listed.code == 0 and "no run refers to: florc gc" in listed.out, listed
    assert "of them only its own" in listed.out


@pytest.mark.parametrize("at", [30, -10], ids=["a chunk", "what lists the chunks"])
def test_damage_that_no_run_needs_is_a_note(shop: Workshop, at: int) -> None:
    pack = packs(shop, "-three-")[1]
    data = bytearray(pack.read_bytes())
    data[at] ^= 1
    pack.write_bytes(data)
    assert shop.florc("check", "--read-data").code == 1, "the third run needs it"
    assert shop.florc("gc").code == 0 and pack.exists()
    assert shop.florc("rm", "three").code == 0
    checked = shop.florc("check", "--read-data")
    [note] = [line for line in checked.out.splitlines() if pack.name in line]
    assert checked.code == 0 and note.startswith("note     ") and "no run needs that (florc gc" in note, checked
    *_, last = map(json.loads, shop.florc("check", "--read-data", "--json").out.splitlines())
    assert [*last] == ["note"] and pack.name in last["note"]
    assert "note" not in shop.florc("check", "--read-data", "one").out, "the pack is not of that run"
    journal = run_of(shop, "two") / "journal.0"
    whole = journal.read_bytes()
    journal.write_bytes(whole[: len(whole) // 2] + b"?" + whole[len(whole) // 2 + 1 :])
    assert f"damaged  {note[9:].partition(';')[0]}\n" in shop.florc("check", "--read-data").out, "who knows what that run needs"
    journal.write_bytes(whole)
    assert shop.florc("gc").code == 0 and not pack.exists()
    checked = shop.florc("check", "--read-data")
    assert checked.code == 0 and "note" not in checked.out, checked
    answers(shop, "one")
