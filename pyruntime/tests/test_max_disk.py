"""`--max-disk`: checkpoints give way, those left are spread evenly, and a replay is exact all the same."""

from __future__ import annotations

import json

import pytest
from florc._native import RunReader
from florc.record.budget import Budget
from workshop import Workshop

SCRIPT = """
    import random, time
    random.seed(1)
    noise = None
    for epoch in range(40):
        for step in map(int, range(2)):
            time.sleep(0.01)
            noise = random.randbytes(30_000)
        print(epoch, sum(noise))
"""
PROBE = "        print('PROBE', noise[7])\n"


def packs(workshop: Workshop) -> int:
    return sum(path.stat().st_size for path in (workshop.path / ".florc" / "packs").iterdir())


def records(workshop: Workshop) -> list:
    (run,) = (workshop.path / ".florc" / "runs").iterdir()
    return [(kind, json.loads(payload)) for kind, payload in RunReader(str(workshop.path / ".florc"), run.name).records()]


@pytest.mark.parametrize("engine", ["fork", "writer"])  # the others are not for users: src/materialize/tests.rs
def test_a_run_stays_within_its_disk_and_replays_exactly(workshop: Workshop, engine: str) -> None:
    file = workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py")
    limit = 400_000
    recorded = workshop.florc("record", "--overhead", "0.9", "--engine", engine, "--max-disk", str(limit), "train.py")
    assert (recorded.out, recorded.code) == (plain.out, plain.code), recorded.said
    assert 0 < packs(workshop) <= limit
    found = records(workshop)
    dropped = [number for kind, payload in found if kind == "dropped" for number in payload["seqs"]]
    kept = [payload for kind, payload in found if kind == "checkpoint" and payload["seq"] not in dropped]
    assert dropped and len(kept) >= 4 and f"{len(kept)} checkpoints" in recorded.said
    epochs = [int(one["key"].split("/")[0].split("=")[1]) for one in kept]
    gaps = [b - a for a, b in zip(epochs, epochs[1:])]
    assert epochs[0] == 0 and epochs[-1] >= 20 and max(gaps) <= 4 * min(gaps), epochs
    file.write_text(file.read_text() + PROBE.replace("        ", "    ", 1))
    expected = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == expected and len(expected) == 40, replayed.said
    assert replayed.code == 0 and "exact" in replayed.said and "--max-disk" in replayed.said


def test_a_checkpoint_larger_than_the_limit_is_never_written(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    recorded = workshop.florc("record", "--overhead", "0.9", "--max-disk", "20k", "train.py")
    assert recorded.code == 0 and "0 checkpoints" in recorded.said
    assert packs(workshop) == 0
    assert sum(kind == "not kept" and "--max-disk" in payload["why"] for kind, payload in records(workshop)) == 1


@pytest.mark.parametrize("size", ["0", "-1", "many", "3X", ""])
def test_a_size_is_a_size(workshop: Workshop, size: str) -> None:
    workshop.write("train.py", "print(1)")
    refused = workshop.florc("record", f"--max-disk={size}", "train.py")
    assert refused.code == 2 and refused.out == ""


def test_the_limit_is_never_passed_and_the_spacing_doubles() -> None:
    budget = Budget(1000)
    distances, most = set(), 0
    seq, alive = 0, {}
    for execution in range(1, 500):
        if not budget.is_due("L1", execution):
            continue
        if not budget.has_room(30, 1):
            gone = budget.thin()
            assert gone
            for one in gone:
                alive.pop(one)
            budget.freed(100 * len(gone))
            continue
        budget.staged(seq, "L1", execution, 30, 1)
        budget.done(seq, 100, False)
        alive[seq] = execution
        seq += 1
        most = max(most, 100 * len(alive))
        left = sorted(alive.values())
        distances.update(b - a for a, b in zip(left, left[1:]))
    assert most <= 1000 and len(alive) >= 4 and left[-1] > 400
    assert budget.used == 100 * len(alive)
