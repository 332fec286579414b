"""`breakpoint()` as an added statement: it stops in the user's frame."""

from __future__ import annotations

import subprocess
import sys

import pytest
from workshop import Workshop

SCRIPT = """
    def train(epoch):
        total = 0
        for step in range(5):
            total += step * epoch
        #HERE
        return total

    for epoch in range(2):
        print("epoch", epoch, train(epoch))
"""


@pytest.mark.parametrize("statement", ["breakpoint()", "import pdb; pdb.set_trace()", "if epoch == 1: breakpoint()"])
def test_it_stops_where_names_are_known(workshop: Workshop, statement: str) -> None:
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", SCRIPT.replace("#HERE", statement))
    commands = "p ('here', epoch, total)\nn\np ('next', total)\nc\n"
    done = subprocess.run(
        [sys.executable, "-m", "florc", "replay", "train.py"],
        cwd=workshop.path,
        env=workshop.environment(),
        input=commands * 2,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    shown = done.stdout + done.stderr
    for epoch, total in ((0, 0), (1, 10))["if" in statement :]:
        assert f"('here', {epoch}, {total})" in shown and f"('next', {total})" in shown, shown
    assert "florc/replay" not in shown and "train.py(" in shown, shown
