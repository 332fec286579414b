"""Clocks that libraries ask differ in every run: a replay that differs only there is not anomalous."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import pytest
from florc.runs.clocks import Spans, are_stamps
from workshop import Workshop

sys.path.append(str(Path(__file__).resolve().parent / "replay"))
from harness import other_day

TIMED = """
    import logging, sys, time

    class Meter:
        def __init__(self):
            self.seconds = 0.0
        def add(self, seconds):
            self.seconds += seconds

    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s,%(msecs)03d %(message)s")
    meter = Meter()
    total = 0
    for epoch in range(3):
        begun = time.time()
        for step in map(float, range(4)):
            time.sleep(0.01)
            total += step
            meter.add(time.time() - begun)
        print(f"epoch {epoch} {open('word').read()} {time.time() - begun:.6f} s", meter.seconds)
        logging.info("total %s", total)
"""


def test_timed_lines_are_compared_without_their_numbers(workshop: Workshop) -> None:
    file = workshop.write("train.py", TIMED)
    workshop.write("word", "took")
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    file.write_text(file.read_text().replace("    logging.info", "    print('PROBE', total)\n    logging.info"))
    for extra in ((), ("--step-into", "all")):
        replayed = workshop.florc("replay", *extra, "train.py")
        assert replayed.out.splitlines() == ["PROBE 6.0", "PROBE 12.0", "PROBE 18.0"]
        assert replayed.code == 0, replayed.said
        assert "exact" in replayed.said


def test_other_differences_in_timed_lines_are_seen(workshop: Workshop) -> None:
    workshop.write("train.py", TIMED)
    workshop.write("word", "took")
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("word", "lasted")
    replayed = workshop.florc("replay", "train.py")
    assert replayed.code == 1
    assert "ANOMALOUS" in replayed.said and "'epoch 0 lasted" in replayed.said


MODULE = """
    import time

    last_time = time.time()

    def progress_bar(current, total):
        global last_time
        time.sleep(0.003)
        cur_time = time.time()
        step_time = cur_time - last_time
        last_time = cur_time
        return step_time
"""
CALLS_IT = """
    from helper import progress_bar

    total = 0
    for epoch in range(3):
        for step in map(float, range(4)):
            total += step
            progress_bar(step, 4)
        print(epoch, total)
"""


def test_a_global_of_another_file_may_hold_the_time_of_day(workshop: Workshop) -> None:
    workshop.write("helper.py", MODULE)
    workshop.write("train.py", CALLS_IT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    replayed = workshop.florc("replay", "--step-into", "all", "train.py")
    assert replayed.code == 0 and "exact" in replayed.said, replayed.said
    assert "not compared" not in replayed.said  # it is given back what the clock showed then
    verified = workshop.florc("verify")
    assert verified.code == 0 and "exact" in verified.said and "not compared" not in verified.said, verified.said


STAMPED = """
    import asyncio, logging, time

    class Statistics:
        def fine(self):  # what a library waits by is not given back
            return asyncio.BaseEventLoop.time(None)
        def coarse(self):
            return logging.makeLogRecord({}).created
        def __init__(self):
            self.time_queue = [0.0]  # as gymnasium's `RecordEpisodeStatistics` keeps how long episodes took
            self.seen = {"began": 0.0, "days": [0.0], "other": 0.0}
        def update(self):
            self.seen["began"], self.seen["days"][0] = self.fine(), self.coarse()
            self.time_queue[0] = round(self.seen["began"] - self.fine(), 9)
            self.seen["other"] = float(open("number").read())

    statistics = Statistics()
    total = 0
    for epoch in range(3):
        for step in map(float, range(4)):
            time.sleep(0.003)
            total += step
            statistics.update()
        print(epoch, total)
"""


def test_time_stamps_in_objects_are_not_compared(workshop: Workshop) -> None:
    workshop.write("train.py", STAMPED)
    workshop.write("number", "0.25")
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    replayed = workshop.florc("replay", "--step-into", "all", "train.py")
    assert replayed.code == 0 and "exact" in replayed.said, replayed.said
    told = replayed.said.split("not compared, because it holds the time of day: ")[1].splitlines()[0]
    assert sorted(told.split(", ")) == ["statistics.seen['began']", "statistics.time_queue[0]"]


def test_numbers_beside_time_stamps_are_compared(workshop: Workshop) -> None:
    workshop.write("train.py", STAMPED)
    workshop.write("number", "0.25")
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("number", "0.375")
    replayed = workshop.florc("replay", "--step-into", "all", "train.py")
    assert replayed.code == 1
    assert "statistics.seen['other']: 0.25 -> 0.375" in replayed.said
    assert "began'] ->" not in replayed.said


UNSEEN = """
    import time, numpy

    print("started", int(numpy.datetime64("now").astype(int)) // 86400)  # what C code asks a clock is not given back
    for epoch in range(3):
        print("epoch", epoch, time.strftime("%Y-%m-%d"), time.process_time())
"""


def test_a_replay_on_another_day_sees_the_clocks_of_the_recorded_run(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `other_day.c` does is seen by a script; what is recorded is not touched by it."""
    file = workshop.write("train.py", UNSEEN)
    for name, value in other_day().items():
        monkeypatch.setenv(name, value)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    file.write_text(file.read_text() + "print('PROBE', epoch)\n")
    replayed = workshop.florc("replay", "--step-into", "all", "train.py")
    assert "'started" in replayed.said and "'epoch" not in replayed.said, replayed.said
    day = int(recorded.out.split()[1])
    assert f"instead of 'started {day}'" in replayed.said and replayed.code == 1, replayed.said


def day_of(seconds: float) -> bytes:
    """What a `datetime` is pickled as."""
    return datetime.datetime.fromtimestamp(seconds).__reduce__()[1][0]


THEN, NOW = Spans((1.7e9, 1.7e9 + 60), (5000.0, 5060.0)), Spans((1.8e9, 1.8e9 + 60), (6000.0, 6060.0))


@pytest.mark.parametrize(
    "then, now, recorded, replayed, expected",
    [
        (THEN, NOW, 1.7e9 + 1.5, 1.8e9 + 1.5, True),
        (THEN, NOW, 1.7e9 + 1.5, 1.8e9 + 61, False),  # later than now
        (THEN, NOW, 1.7e9 + 1.5, 1.7e9 + 2.5, False),  # of the recorded run
        (THEN, NOW, 5001.123456789, 6001.123456789, True),
        (THEN, NOW, 5001.123456789, 1.8e9 + 1.5, False),  # of two clocks
        (THEN, NOW, 5001.5, 6001.123456789, False),  # a tensor may hold it
        (THEN, NOW, 5001.0, 6001.0, False),
        (THEN, NOW, 5001, 6001, False),
        (THEN, NOW, 5001.1234567891, 6001.123456789, False),  # no number of nanoseconds
        (THEN, NOW._replace(steady=(5050.0, 6060.0)), 5001.123456789, 6001.123456789, False),  # another machine's clock
        (THEN._replace(steady=None), NOW, 5001.123456789, 6001.123456789, False),  # recorded by an earlier version
        (THEN, NOW, 0.123456789, 0.223456789, False),  # durations
        (THEN, NOW, float("nan"), 6001.123456789, False),
        (THEN, NOW, 1_700_000_001_500_000_000, 1_800_000_001_500_000_000, True),  # nanoseconds
        (THEN, NOW, 5_001_123_456_789, 6_001_123_456_789, False),  # a count may be so large
        (THEN, NOW, 1_700_000_001, 1_800_000_001, False),  # whole seconds may be anything
        (THEN, NOW, day_of(1.7e9 + 1.5), day_of(1.8e9 + 1.5), True),
        (THEN, NOW, day_of(1.7e9 + 1.5), day_of(1.7e9 + 2.5), False),
        (THEN, NOW, b"ten bytes!", b"ten others", False),
    ],
)
def test_what_is_a_time_stamp(then: Spans, now: Spans, recorded: Any, replayed: Any, expected: bool) -> None:
    assert are_stamps(recorded, replayed, then, now) is expected


SEARCHED = """
    from sklearn.datasets import load_iris
    from sklearn.metrics import accuracy_score
    from sklearn.model_selection import GridSearchCV, cross_validate
    from sklearn.tree import DecisionTreeClassifier

    def score(model, x, y):
        return accuracy_score(y, model.predict(x))

    x, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(random_state=0)
    found = cross_validate(model, x, y, cv=2, scoring=score)
    search = GridSearchCV(model, {"max_depth": [1, 3]}, cv=2, scoring=score)
    search.fit(x, y)
    print(search.best_params_, found["test_score"])
"""


def test_how_long_the_fits_of_a_search_took_is_no_anomaly(workshop: Workshop) -> None:
    pytest.importorskip("sklearn")
    _, done, truth = workshop.asked(SEARCHED, SEARCHED.replace("    return acc", "    print('P', len(x))\n        return acc"))
    assert done.out == truth and "exact: " in done.said and "1 run again" not in done.said, done.said
    assert "not compared" not in done.said, done.said
