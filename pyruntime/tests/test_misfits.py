"""What a replay has learned of checkpoints that do not fit, the next one does not try again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workshop import Workshop

MISFIT = """
    import time

    def made(number):
        def inner(value):
            return value + number
        return inner

    time.sleep(0.3)
    total = 0
    for epoch in range(4):
        for i in range(5):
            step = made(i + epoch)
            total = step(total)
        print("epoch", epoch, step(total))
"""
LOST = "the replay started again"
AT = 'print("epoch", epoch, step(total))\n'
QUESTION, ANOTHER = (AT + f"        print('P {text}', epoch, total)\n" for text in ("one", "two"))


def misfits(workshop: Workshop) -> list[dict]:
    return [json.loads(line) for path in Path(workshop.path).glob(".florc/*/*/misfits.jsonl") for line in path.open()]


def test_a_block_that_cannot_be_restored_is_tried_once(workshop: Workshop) -> None:
    _, first, truth = workshop.asked(MISFIT, MISFIT.replace(AT, QUESTION))
    assert first.out == truth and LOST in first.said and "recorded by reference" in first.said, first.said
    assert [found["block"] for found in misfits(workshop)] == ["L2"]
    workshop.write("train.py", MISFIT.replace(AT, ANOTHER))
    second = workshop.florc("replay", "train.py")
    assert second.out == truth.replace("one", "two") and "exact: " in second.said, second.said
    assert LOST not in second.said and "L2 ran 4 times: it cannot be restored: step: " in second.said, second.said
    dry = workshop.florc("replay", "--dry-run", "train.py")
    assert "recorded by reference" in dry.out + dry.said
    part = workshop.florc("replay", "--iterations", "2:4", "train.py")
    assert part.out == "P two 2 45\nP two 3 70\n" and LOST not in part.said, part.said


def test_another_version_of_florc_tries_again(workshop: Workshop) -> None:
    *_, truth = workshop.asked(MISFIT, MISFIT.replace(AT, QUESTION))
    (path,) = Path(workshop.path).glob(".florc/*/*/misfits.jsonl")
    path.write_text(path.read_text().replace('"by": ["', '"by": ["older than ').replace('"by":["', '"by":["older than '))
    again = workshop.florc("replay", "train.py")
    assert again.out == truth and LOST in again.said, again.said


@pytest.mark.parametrize("damage", ["", "{", '{"by": 1}\n', "[1, 2]\n", "\x00\n"])
def test_what_was_noted_may_be_cut_off(workshop: Workshop, damage: str) -> None:
    *_, truth = workshop.asked(MISFIT, MISFIT.replace(AT, QUESTION))
    (path,) = Path(workshop.path).glob(".florc/*/*/misfits.jsonl")
    path.write_text(damage)
    again = workshop.florc("replay", "train.py")
    assert (again.out, again.code) == (truth, 0), again.said


def test_where_the_program_was_changed_it_is_tried_again(workshop: Workshop) -> None:
    changed = MISFIT.replace(AT, QUESTION).replace("total = 0\n", "total = 0 * 1\n")
    workshop.write("train.py", MISFIT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", changed)
    workshop.florc("replay", "train.py")
    assert misfits(workshop) == []


OF_PROCESS = """
    import os
    import time
    import numpy as np

    seen = np.array([float(os.getpid())])
    total = 0
    for epoch in range(3):
        for i in range(4):
            time.sleep(0.02)
            total += i
        print("epoch", epoch, total)
"""
HERE = 'print("epoch", epoch, total)\n'


def test_what_differs_in_each_process_is_no_fault_of_a_restore(workshop: Workshop) -> None:
    """The first replay runs the blocks, and says so; the next one restores them, and vouches for neither."""
    pytest.importorskip("numpy")
    _, first, truth = workshop.asked(OF_PROCESS, OF_PROCESS.replace(HERE, f"{HERE}        print('P', epoch, total)\n"))
    assert first.out == truth and LOST in first.said and "L2 ran 3 times" in first.said, first.said
    assert "unverified: " in first.said and "seen: not what the recorded run had" in first.said, first.said
    assert [found.get("name") for found in misfits(workshop)] == ["seen"]
    second = workshop.florc("replay", "train.py")
    assert second.out == truth and LOST not in second.said and "3 blocks restored" in second.said, second.said
    assert "unverified: " in second.said and "seen: not what the recorded run had" in second.said, second.said
