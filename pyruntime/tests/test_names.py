"""Who called `locals()` holds a dict that Python brings up to date, before 3.13, whenever anybody reads the frame: not florc."""

from __future__ import annotations

import re
from pathlib import Path

import florc
from workshop import Workshop

SCRIPT = """
import time

class Box:
    pass

def fit(box, epochs):
    x, bar = [1], iter([1, 2, 3])
    for epoch in range(epochs):
        for step in range(3):
            x[0] += step
            box.count += 1
            time.sleep(0.01)
        print(epoch, x)
        #PROBE
    return x

def steps(box):
    box.steps = locals()
    for number in range(9):
        yield number

def main(box):
    a, gone = 5, 6
    box.kept = locals()
    a = 7
    del gone
    counting = steps(box)
    next(counting)
    fit(box, 3)
    print(sorted(box.kept), box.kept["a"], sorted(box.steps))
    box.kept["own"] = 1
    fit(box, 2)
    print(sorted(box.kept), sorted(locals()), next(counting))

box = Box()
box.count = 0
main(box)
"""


def test_a_dict_of_names_is_what_it_is_in_a_plain_run(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.out == plain.out and "5 checkpoints" in recorded.said, recorded
    workshop.write("train.py", SCRIPT.replace("#PROBE", "print('PROBE', sorted(locals()))"))
    replayed = workshop.florc("replay", "train.py")
    expected = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    assert replayed.out.splitlines() == expected and "exact:" in replayed.said, replayed


def test_frames_are_read_in_one_way() -> None:
    package = Path(florc.__file__).parent
    found = [path.name for path in package.rglob("*.py") if re.search(r"\.f_locals(?! is frame\.f_globals)", path.read_text())]
    assert not found, "use _native.names_of: to read f_locals changes what locals() returned"


LOOKED_UP = """
    def run(table):
        limit, best, other = 5.0, None, 0
        for i in range(10):
            best = model.step()
            limit = 10 * best
            other = 2 * best
        rows = table.query("a > @limit")
        return best, rows
"""


def test_names_in_a_text_that_is_looked_up_are_read(workshop: Workshop) -> None:
    workshop.write("train.py", LOOKED_UP)
    printed = workshop.florc("instrument", "train.py").out
    assert "best, limit = _florc.skipblock.restore" in printed, printed


def test_the_names_of_a_file_are_the_users_own(workshop: Workshop) -> None:
    shown = "print(sorted(globals()), dir() == sorted(locals()), sorted(vars()))"
    text = SCRIPT.replace("box = Box()\n", f"box = Box()\ndef see():\n    return sorted(globals())\n{shown}\nprint(see())\n")
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.out == workshop.plain("train.py").out and "5 checkpoints" in recorded.said, recorded
