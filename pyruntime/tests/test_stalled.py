"""A replay that stands still says where, and Ctrl-C ends it with that place."""

from __future__ import annotations

import signal
import time

import pytest
from workshop import Workshop

SLEEPS = """
    import time

    def wait():
        time.sleep(60)

    total = 0
    for epoch in range(3):
        total += epoch
        print("epoch", epoch, total, flush=True)
"""
HOLDS = """
    import itertools

    def hold():
        max(itertools.repeat(0, 10**12))  # in C: no handler of Python's can run meanwhile
"""
CATCHES = """
    def wait():
        while True:
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                pass
"""


@pytest.mark.parametrize(
    ("helper", "statement", "function"), [("", "wait()", "wait"), (HOLDS, "hold()", "hold"), (CATCHES, "wait()", "wait")]
)
def test_where_it_stands(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, helper: str, statement: str, function: str) -> None:
    script = SLEEPS.replace("    total = 0", helper + "    total = 0")
    workshop.write("train.py", script)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write(
        "train.py", script.replace("        total += epoch", f"        if epoch == 1: {statement}\n        total += epoch")
    )
    monkeypatch.setenv("FLORC_STILL_S", "1")
    process = workshop.start("python", "-m", "florc", "replay", "train.py")
    try:
        line = "begun"
        while line and "train.py:" not in line:  # a busy machine may take longer than that to start
            line = process.stderr.readline()  # type: ignore[union-attr]
        assert "no iteration has begun for a while" in line and "train.py:" in line and f" in {function} " in line, line
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=30)
        assert time.monotonic() - begun < 20 and process.returncode == 130
        assert "interrupted at " in rest and f" in {function}" in rest, rest
    finally:
        process.kill()
        process.wait()


def test_one_that_goes_on_says_nothing(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    script = SLEEPS.replace("range(3)", "range(300)").replace("total += epoch", "total += epoch; time.sleep(0.01)")
    workshop.write("train.py", script)
    recorded = workshop.florc("record", "train.py")
    monkeypatch.setenv("FLORC_STILL_S", "1")
    workshop.write("train.py", script.replace("        print", '        print("P", total)\n        print'))
    replayed = workshop.florc("replay", "train.py")
    told = [line for line in replayed.said.splitlines() if "for a while" in line and "train.py:" in line]
    assert replayed.out.count("P ") == 300 and not told, recorded.said + replayed.said
