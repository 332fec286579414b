"""`florc logs --pivot`: every value once, none beside that of another iteration."""

from __future__ import annotations

import csv
import io

from workshop import Workshop

SCRIPT = """
for lr in [0.01, 0.1]:
    for fold in range(2):
        print("acc", lr * fold, "lr", lr)
for epoch in range(4):
    if epoch % 2 == 0: print("val", 10 * epoch)
    print("loss", epoch / 8)
def say(x):
    print("said", x)
for i in range(2):
    say(i)
    say(-i)
import time
for lr in [0.5, 0.25]:
    for step in range(4):
        time.sleep(0.01)
    print("epoch", lr, "total", 2 * lr)
"""


def test_each_value_has_a_line_or_stands_beside_its_own(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    done = workshop.florc("logs", "--pivot", "--format", "csv", "train.py")
    rows = [{name: value for name, value in row.items() if value} for row in csv.DictReader(io.StringIO(done.out))]
    assert rows == [
        {"lr": "0", "fold": "0", "acc": "0.0", "lr (value)": "0.01"},
        {"lr": "0", "fold": "1", "acc": "0.01", "lr (value)": "0.01"},
        {"lr": "1", "fold": "0", "acc": "0.0", "lr (value)": "0.1"},
        {"lr": "1", "fold": "1", "acc": "0.1", "lr (value)": "0.1"},
        {"epoch": "0", "val": "0", "loss": "0.0"},
        {"epoch": "1", "loss": "0.125"},
        {"epoch": "2", "val": "20", "loss": "0.25"},
        {"epoch": "3", "loss": "0.375"},
        *({"x": said} for said in ("0", "0", "1", "-1")),
        {"lr": "0", "lr (value)": "0.5", "total": "1.0"},
        {"lr": "1", "lr (value)": "0.25", "total": "0.5"},
    ], done.out


def test_a_loop_that_runs_twice_at_one_place(workshop: Workshop) -> None:
    script = """
        import time
        def fit(by):
            for epoch in range(2):
                for step in range(4):
                    time.sleep(0.005)
                print("epoch", epoch, "by", by)
            n = 0
            while n < 2:
                for step in range(4):
                    time.sleep(0.005)
                n += 1
                print("n", n, "times", by)
        fit(1)
        fit(2)
        """
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    done = workshop.florc("logs", "--pivot", "--format", "csv", "train.py")
    rows = [{name: value for name, value in row.items() if value} for row in csv.DictReader(io.StringIO(done.out))]
    by = [(row["epoch"], row["by"]) for row in rows if "epoch" in row]
    times = [(row["L3"], row["by"]) for row in rows if "L3" in row]
    assert by == [("0", "1"), ("1", "1"), ("0", "2"), ("1", "2")], done.out
    assert times == [("0", "1"), ("1", "1"), ("0", "2"), ("1", "2")], done.out
