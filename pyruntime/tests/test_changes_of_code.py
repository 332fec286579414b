"""Which changes of a program leave an answer exact, which make it unverified, and which are refused (docs/answers.md)."""

from __future__ import annotations

import pytest
from workshop import Done, Workshop

SCRIPT = """
    import logging, os, sys, warnings

    logging.basicConfig(format="%(process)d %(filename)s:%(lineno)d %(message)s", level=logging.INFO, stream=sys.stdout)
    log = logging.getLogger("train")

    class Model:
        def __init__(self, size):
            self.state = [0.5] * size
        def step(self, by):
            self.state[:] = [value * 1.5 + by for value in self.state]
            return sum(self.state)

    net = Model(3)
    total, rate = 0.0, 0.5
    print("process", os.getpid())
    for epoch in range(4):
        for i in range(6):
            total += net.step(rate * i)
        log.info("epoch %d total %.3f", epoch, total)
        print('epoch', epoch, "total", total, f"of {os.getpid()}")
"""
QUESTION = "        print('P', epoch, sum(net.state))\n"
EXACT = {
    "nothing": [],
    "a call over several lines": [
        (
            'log.info("epoch %d total %.3f", epoch, total)',
            'log.info(\n            "epoch %d total %.3f",\n            epoch, total,\n        )',
        ),
        ("print('epoch', epoch,", "print(\n            'epoch',\n            epoch,"),
        ("total += net.step(rate * i)", "total += net.step(\n                rate * i,\n            )"),
    ],
    "quotes": [("'epoch'", '"epoch"'), ('"total"', "'total'")],
    "parentheses": [
        ("total += net.step(rate * i)", "total += (\n                net.step(rate * i)\n            )"),
        ("return sum(self.state)", "return (sum(self.state))"),
    ],
    "comments and blanks": [("class Model:", "# a model\n\n\n    class Model:  # of numbers"), ("total +=", "total  +=")],
    "a removed line": [('log.info("epoch %d total %.3f", epoch, total)', "pass")],
    "another text": [('"epoch %d total %.3f", epoch, total', '"epoch %d", epoch')],
    "what nobody used": [
        ("class Model:", "def unused():\n        return 1\n\n    class Model:"),
        ("import logging,", "import json\n    import logging,"),
    ],
}
UNVERIFIED = {
    "a renamed class": [("Model", "Network")],
    "a constant outside": [("total, rate = 0.0, 0.5", "total, rate = 0.0, 1 / 2")],
}
REFUSED = {
    "a constant inside": [("total += net.step(rate * i)", "total += net.step(rate * i * 1)")],
    "a function that a block calls": [("value * 1.5 + by", "by + 1.5 * value")],
    "a renamed variable": [("total", "summed")],
}


def changed(how: list) -> str:
    text = SCRIPT + QUESTION
    for old, new in how:
        assert old in text
        text = text.replace(old, new)
    return text


def asked(workshop: Workshop, text: str, probed: str) -> tuple[Done, str]:
    """Record a program, whose lines have the number of the process, and replay another one; what that prints plainly."""
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", probed)
    truth = answers(workshop.plain("train.py"))
    return workshop.florc("replay", "train.py"), truth


def answers(done: Done) -> str:
    return "".join(line for line in done.out.splitlines(True) if line.startswith("P "))


@pytest.mark.parametrize("how", EXACT)
def test_what_only_looks_and_layout_leave_it_exact(workshop: Workshop, how: str) -> None:
    done, truth = asked(workshop, SCRIPT, changed(EXACT[how]))
    # a line of the script that was changed is an answer, and shows the number of the process
    verdict = "unverified: " if how == "another text" else "exact: "
    assert answers(done) == truth and done.code == 0 and verdict in done.said, done.said
    if how != "another text":
        assert done.out == truth


@pytest.mark.parametrize("how", UNVERIFIED)
def test_what_runs_otherwise_outside_is_named(workshop: Workshop, how: str) -> None:
    done, truth = asked(workshop, SCRIPT, changed(UNVERIFIED[how]))
    assert (done.out, done.code) == (truth, 0) and "unverified: " in done.said, done.said


@pytest.mark.parametrize("how", REFUSED)
def test_what_changes_a_restored_block_is_refused(workshop: Workshop, how: str) -> None:
    done, truth = asked(workshop, SCRIPT, changed(REFUSED[how]))
    assert (done.out, done.code) == ("", 2) and "F303" in done.said, done.said
    assert answers(workshop.florc("replay", "--allow-drift", "train.py")) == truth


def test_a_changed_line_that_does_more_is_called_changed(workshop: Workshop) -> None:
    script = SCRIPT.replace("import logging,", "import random, logging,")
    edited = script.replace('"total", total,', '"total", total, random.random(),')
    done, _ = asked(workshop, script, edited)
    assert done.code == 1 and "an added or changed statement does more than look" in done.said, done.said
