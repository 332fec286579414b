"""A journal that was cut between two records is one of a run that was killed there: what is not vouched for is not exact."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from workshop import Workshop

SCRIPT = """
    import random, time
    first = random.random()
    print("before", first)
    total = 0.0
    for epoch in range(3):
        for step in map(float, range(2)):
            time.sleep(0.01)
            total += random.random()
        #PROBE epoch, total
        print("epoch", epoch, total)
    import numpy
    drawn = numpy.random.rand()
    #PROBE drawn
    print("after", drawn)
    """
HEADER, FRAME, FRONT = 16, 5 + 8 + 16 + 16, 5


def ends_of(journal: bytes) -> list[int]:
    """Where each record ends, as docs/run-format.md has it."""
    ends, at = [], HEADER
    while at < len(journal):
        kind, payload = struct.unpack("<BI", journal[at : at + FRONT])
        at += FRAME + kind + payload
        ends.append(at)
    return ends


def test_nothing_after_a_cut_is_called_exact(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    recorded = workshop.florc("record", "--overhead", "0.9", "train.py")
    truth = [f"PROBE {line.split(' ', 1)[1]}" for line in recorded.out.splitlines()[1:]]
    assert recorded.code == 0 and len(truth) == 4, recorded
    workshop.write(
        "train.py",
        SCRIPT.replace("#PROBE ", "print('PROBE',")
        .replace("epoch, total\n", "epoch, total)\n", 1)
        .replace("drawn\n    print", "drawn)\n    print"),
    )
    whole = workshop.florc("replay", "train.py")
    assert whole.out.splitlines() == truth and "florc: exact" in whole.said, whole
    [journal] = (workshop.path / ".florc" / "runs").glob("*/journal.0")
    data = journal.read_bytes()
    verdicts = set()
    for end in ends_of(data)[:-1]:
        journal.write_bytes(data[:end])
        done = workshop.florc("replay", "--json", "train.py")
        assert "Traceback" not in done.err, (end, done)
        if done.code == 2:
            verdicts.add("refused")
            continue
        *values, report = map(json.loads, done.out.splitlines())
        verdicts.add(report["verdict"])
        if report["verdict"] == "exact":
            assert [value["text"].rstrip("\n") for value in values] == truth[: len(values)], (end, done)
            assert len(values) < 4, "what came after the loop is not known"
        assert "is cut off" in done.said or report["verdict"] == "anomalous", (end, done)
    assert verdicts == {"refused", "exact", "unverified"}, verdicts


def test_a_missing_end_is_told(workshop: Workshop, tmp_path: Path) -> None:
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    [journal] = (workshop.path / ".florc" / "runs").glob("*/journal.0")
    data = journal.read_bytes()
    journal.write_bytes(data[: ends_of(data)[-2]])
    done = workshop.florc("replay", "train.py")
    assert f"{journal} is cut off before the end of the run" in done.said and "unverified" in done.said, done
    assert workshop.florc("check").code == 1
