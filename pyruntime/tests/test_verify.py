"""`florc verify`: sampled iterations run again and must be what they were."""

from __future__ import annotations

import json
import random
import re
import struct
import sys

import pytest
from florc.state import grade
from test_parallel_replay import EARLY, NESTED, probes_of, record, version
from workshop import Workshop

DIFFERS = """
    import os, time
    total = [0.0]
    for epoch in range(6):
        for step in map(float, range(3)):
            time.sleep(0.02)
            total[0] += step + (epoch >= 3 and os.path.exists("later"))
        print("epoch", epoch)
"""


SLOW = NESTED.replace("0.004", "0.02")


def test_sampled_iterations_are_as_recorded_whatever_the_file_holds_now(workshop: Workshop) -> None:
    file = record(workshop, SLOW)
    file.write_text("print('something else')\n")
    done = workshop.florc("verify")
    assert (done.out, done.code) == ("", 0), done.said
    assert "iterations 0, 2, 5 of L1 ran again" in done.said and "exact: 3 recorded lines" in done.said
    assert "state of 3 blocks" in done.said
    done = workshop.florc("verify", "--samples", "100", "--json", "-q", "train.py")
    found = json.loads(done.out)
    assert found["verdict"] == "exact" and found["iterations"] == list(range(6)) and found["blocks"] == 6
    assert done.said == ""


def test_the_first_difference_is_named(workshop: Workshop) -> None:
    workshop.write("train.py", DIFFERS)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    assert workshop.florc("verify").code == 0
    workshop.write("later", "")
    done = workshop.florc("verify", "--samples", "6")
    assert done.code == 1 and "DIFFERS" in done.said
    found = re.search(r"first in L1=(\d)/L2#0: total\[0\]: ([\d.]+) -> ([\d.]+)", done.said)
    assert found is not None, done.said
    epoch = int(found.group(1))  # the first of those from 3 on whose checkpoint was kept
    assert epoch >= 3 and float(found.group(2)) == 3 * (epoch + 1), done.said
    assert float(found.group(3)) - float(found.group(2)) in (3, 6, 9), done.said


def test_a_probe_that_stands_there_now_does_not_matter(workshop: Workshop) -> None:
    record(workshop, EARLY)
    workshop.write("train.py", version(EARLY, probes_of(EARLY)))
    done = workshop.florc("verify", "train.py", "--samples", "1")
    assert (done.out, done.code) == ("", 0) and "iteration 0 of L1 ran again" in done.said, done.said


def test_a_run_without_checkpoints_cannot_be_verified(workshop: Workshop) -> None:
    workshop.write("train.py", version(NESTED, []))
    assert workshop.florc("record", "--overhead", "0.0001", "train.py").code == 0
    done = workshop.florc("verify")
    assert done.code == 2 and "nothing to compare with" in done.said


@pytest.mark.parametrize("dtype, code", [("float32", "f"), ("float64", "d"), ("float16", "e")])
def test_grades(dtype: str, code: str) -> None:
    def pack(*values: float) -> bytes:
        return struct.pack(f"{len(values)}{code}", *values)

    one = pack(1.0, -2.0, 0.0)
    integer = {"f": "i", "d": "q", "e": "h"}[code]
    bits = list(struct.unpack(f"3{integer}", one))
    near = struct.pack(f"3{integer}", bits[0] + 3, bits[1] - 1, bits[2])
    assert grade(dtype, one, near) == "within 3 ulp"
    assert grade(dtype, pack(0.0), pack(-0.0)) == "in the sign of a zero"
    assert grade(dtype, pack(1.0), pack(2.0)).startswith("different (up to ")
    assert grade("int64", one, near) == "" and grade(dtype, one, pack(1.0)) == ""


def test_numpy_grades_as_plain_python_does(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    draw = random.Random(1)
    for _ in range(50):
        one, two = (struct.pack("5f", *(draw.choice([-1, 1]) * draw.random() for _ in range(5))) for _ in range(2))
        fast = grade("float32", one, two)
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "numpy", None)
            assert grade("float32", one, two) == fast
