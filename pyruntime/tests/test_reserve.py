"""A block that turns out not to be restorable while it is recorded: the loops inside it are memoized in its place."""

from __future__ import annotations

import sys

from workshop import Workshop

SCRIPT = """
    import mmap, sys, time
    shared = mmap.mmap(-1, 100)
    total, best, history = 0.0, None, []
    for epoch in range(6):
        for fold in range(2):
            SENT
            for step in range(30):
                time.sleep(0.0005)
                total += (step * fold + epoch) % 7 * 0.1
            history.append(round(total, 6))
            #IN
        best = max(history)
        print("epoch", epoch, round(total, 6), len(history))
        #AFTER
"""
CANNOT = "shared[fold] = epoch"


def test_the_inner_loop_is_restored_where_the_outer_one_cannot_be(workshop: Workshop) -> None:
    text = SCRIPT.replace("SENT", CANNOT)
    for place in ("IN", "AFTER"):
        workshop.write("train.py", text)
        assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
        probed = text.replace(f"#{place}", 'print("P", fold, total, history[-1])')
        workshop.write("train.py", probed)
        truth = [line for line in workshop.run(sys.executable, "train.py").out.splitlines() if line.startswith("P")]
        replayed = workshop.florc("replay", "train.py")
        assert replayed.out.splitlines() == truth and "exact: " in replayed.said, replayed.out + replayed.said
        assert ": 0 blocks restored" not in replayed.said and "restored in" in replayed.said, replayed.said
    inner = "            total += (step * fold + epoch) % 7 * 0.1"
    workshop.write("train.py", text.replace(inner, f'{inner}\n                if step == 29: print("P", total)'))
    truth = [line for line in workshop.run(sys.executable, "train.py").out.splitlines() if line.startswith("P")]
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == truth and "exact: " in replayed.said, replayed.out + replayed.said


def test_while_the_outer_one_can_be_nothing_is_kept_of_the_inner_one(workshop: Workshop) -> None:
    text = SCRIPT.replace("SENT", "sys.intern(str(fold))")
    workshop.write("train.py", text)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    shown = workshop.florc("show").out
    outer, inner = (next(line for line in shown.splitlines() if head in line) for head in ("for fold", "for step"))
    assert "checkpoint" in outer and "left alone" in inner, shown
    workshop.write("train.py", text.replace("#IN", 'print("P", fold, total, history[-1])'))
    truth = [line for line in workshop.run(sys.executable, "train.py").out.splitlines() if line.startswith("P")]
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == truth and "exact: " in replayed.said, replayed.out + replayed.said
    assert "for step" not in replayed.said and "train.L3" not in replayed.said, replayed.said
