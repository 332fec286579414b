"""A run that raised says which exception; its script can be had back; `ask` says what is missing."""

from __future__ import annotations

import json

import pytest
from workshop import Workshop

RAISES = """
    class Loud(Exception):
        def __str__(self):
            print("asked")
            return "loud"
    for epoch in range(3):
        if epoch == 2: RAISE
        print("epoch", epoch)
"""


@pytest.mark.parametrize(
    ("statement", "raised"),
    [
        ('raise ValueError("the loss is nan\\nand more")', "ValueError: the loss is nan"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise Loud()", "Loud"),
        ("{}['key']", "KeyError"),
        ("raise SystemExit(3)", None),
        ("pass", None),
    ],
)
def test_a_run_that_raised_says_what(workshop: Workshop, statement: str, raised: str | None) -> None:
    workshop.write("train.py", RAISES.replace("RAISE", statement))
    plain, recorded = workshop.plain("train.py"), workshop.florc("record", "train.py")
    assert (recorded.out, recorded.code) == (plain.out, plain.code)
    assert (f", ended by {raised}:" in recorded.said) is (raised is not None), recorded.said
    shown = workshop.florc("show")
    assert json.loads(workshop.florc("show", "--json").out)["raised"] == raised
    assert json.loads(workshop.florc("runs", "--json").out).get("raised") == raised
    assert (f"ended by {raised}" in shown.out) is (raised is not None), shown.out


def test_the_script_can_be_had_back(workshop: Workshop) -> None:
    path = workshop.write("train.py", RAISES.replace("RAISE", "pass  # é"))
    text = path.read_text()
    workshop.florc("record", "train.py")
    workshop.write("train.py", "print('gone')")
    assert workshop.florc("show", "--source").out == text
    path.unlink()
    assert workshop.florc("show", "latest", "--source").out == text


def test_a_question_without_a_place_says_what_is_missing(workshop: Workshop) -> None:
    workshop.write("train.py", RAISES.replace("RAISE", "pass"))
    workshop.florc("record", "train.py")
    for words in (["train.py", "epoch"], ["epoch", "train.py"], ["train.py", "epoch * 2"]):
        done = workshop.florc("ask", *words)
        assert done.code == 2 and "--at LINE" in done.said, done
