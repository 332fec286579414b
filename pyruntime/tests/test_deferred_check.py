"""The deferred check: what a replay prints, and what its blocks hold, is compared with the record."""

from __future__ import annotations

import pytest
from workshop import Done, Workshop

SCRIPT = """
    import os, sys, time
    held = []
    for epoch in range(3):
        for step in range(3):
            time.sleep(0.01)
            held.append(VALUE)
        print("epoch", epoch)
    print("at the end", LINE)
"""


def replayed(workshop: Workshop, value: str, line: str) -> Done:
    """Recorded, and every block run again by the replay."""
    workshop.write("train.py", SCRIPT.replace("VALUE", value).replace("LINE", line))
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    return workshop.florc("replay", "--step-into", "all", "train.py")


def test_what_is_the_same_is_exact(workshop: Workshop) -> None:
    done = replayed(workshop, "step", "len(held)")
    assert done.code == 0 and "exact: 4 recorded lines and the state of 3 blocks reappeared unchanged" in done.said, done.said


def test_a_line_that_differs_is_told(workshop: Workshop) -> None:
    done = replayed(workshop, "step", "'florc.record.session' in sys.modules")
    assert done.code == 1 and "differs from the record in 1 place;" in done.said, done.said
    assert "outside loops: printed 'at the end " in done.said and "instead of" in done.said, done.said


def test_a_state_that_differs_is_told(workshop: Workshop) -> None:
    done = replayed(workshop, "os.getpid()", "len(held)")
    assert done.code == 1 and "ANOMALOUS" in done.said and "held" in done.said, done.said


def test_a_state_that_cannot_be_compared_is_no_difference(workshop: Workshop) -> None:
    """It holds memory that is written through now, which nobody can compare with anything: nothing differs that anybody saw."""
    (workshop.path / "there").write_text("")
    value = "step if os.path.exists('there') else memoryview(bytearray(1))"
    workshop.write("train.py", SCRIPT.replace("VALUE", value).replace("LINE", "len(held)"))
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    (workshop.path / "there").unlink()
    done = workshop.florc("replay", "--step-into", "all", "train.py")
    assert done.code == 0 and "unverified" in done.said and "ANOMALOUS" not in done.said, done.said
    assert "is not compared with its checkpoint: " in done.said, done.said
    assert workshop.florc("replay", "--strict", "--step-into", "all", "train.py").code == 1


@pytest.mark.parametrize(
    "how", ["os._exit(0)", "os.kill(os.getpid(), 15); time.sleep(60)", "os.kill(os.getpid(), 9); time.sleep(60)"]
)
def test_an_answer_says_how_far_it_goes_of_a_run_that_was_cut_off(workshop: Workshop, how: str) -> None:
    script = SCRIPT.replace("VALUE", "step").replace("LINE", "len(held)")
    script = script.replace('print("epoch", epoch)', 'print("epoch", epoch, flush=True)\n        if epoch == 2: ' + how)
    workshop.write("train.py", script)
    workshop.florc("record", "--overhead", "0.9", "train.py")
    workshop.write(
        "train.py", script.replace("        if epoch == 2", '        print("PROBE", len(held))\n        if epoch == 2')
    )
    done = workshop.florc("replay", "train.py")
    assert done.code == 0 and done.out == "PROBE 3\nPROBE 6\n", done
    assert "; answered up to epoch=2, in which the recorded run ended" in done.said, done.said
