"""A replay that begins in the middle prints what the whole replay prints from there on, wherever it begins.

The small scripts are recorded with a checkpoint at every iteration of every loop that trains. `FLORC_JUMPS=all` tries
all of them, not only the few that every test run tries; `FLORC_PROGRAMS=100:200` other programs made at random.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from cases import Case
from florc.runs.catalog import find
from florc.runs.journal import History
from generated import program
from harness import Trial, after, before
from test_small_scripts import SCRIPTS

SOME = (
    "torch_basic",
    "torch_gradient_accumulation",
    "torch_dropout_batchnorm",
    "flat_while_with_return",
    "bar_with_a_name_over_a_loader",
)
FIRST, _, END = os.environ.get("FLORC_PROGRAMS", "0:4").partition(":")
MOST_PLACES = 3
CHOSEN = [
    name
    for name, case in SCRIPTS.items()
    if not case.xfail and not case.flagged and (os.environ.get("FLORC_JUMPS") == "all" or name in SOME)
]


class Jumps(Trial):
    """One script, recorded so."""

    may_differ = False

    def record_it(self) -> History:
        self._run(before, [*self._florc("record"), "--checkpoint", "every", *self.record, "train.py", *self.arguments])
        return History(find(str(self.folder / "store"), None, None))

    def values(self, *words: str) -> tuple[list[tuple[str, str]], dict[str, Any], str]:
        """Loop context and text of each value, the report, and what was said."""
        done = self._run(after, [*self._florc("replay"), *self.replay, "--json", *words, "train.py"])
        lines = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
        assert lines, done.err
        return [(line["path"], line["text"]) for line in lines[:-1]], lines[-1], done.err


def asked(place: str, index: int) -> str:
    """`L1=2,L2=5:` for iteration 5 and later of the loop at `L1=2/L2#0/L2`."""
    around = [part for part in place.split("/")[:-1] if "=" in part]
    return ",".join([*around, f"{place.rpartition('/')[2]}={index}:"])


def is_held(path: str, place: str, index: int) -> bool:
    return path.startswith(place + "=") and int(path[len(place) + 1 :].split("/")[0]) >= index


CLOCK = """
Clock = type("Clock", (), {"step": staticmethod(lambda seconds: time.sleep(seconds / 4))})
clock = Clock()
"""
"""Whose `step` is a stranger's: it might be a training step."""


def training(seed: int) -> str:
    """A program made at random whose loops take steps."""
    head, import_, rest = program(seed).partition("import numpy as np\n")
    return head + import_ + CLOCK.lstrip() + rest.replace("time.sleep(", "clock.step(")


HARD = {
    "a dead name holds what two others share": """
def main():
    one, two = [1], [2]
    three = one
    box = {"k": two, "j": one}
    for step in range(5):
        clock.step(0.04)
        one = two
        box["k"] = three
        two.append(step)
+        print("PROBE", step, box, box["j"] is three, box["k"] is three, one)
    print(one)
main()
""",
    "a loop that runs twice": """
def train(data):
    done = 0
    while done < 4:
        clock.step(0.04)
        data.append(done)
        done += 1
+        print("PROBE", done, data)
    return done
total = []
train(total)
train(total)
""",
    "a condition that binds": """
def main():
    source, seen, last = iter(range(100)), [], 0
    counts = [5, 4, 3, 2, 1, 0]
    while (left := counts[len(seen)]) > 0:
        clock.step(0.04)
        seen.append(left)
        last = last * 2 + left
+        print("PROBE", left, seen, last)
    print(left, last)
main()
""",
    "steps inside try, with and else": """
def main():
    seen, best = [], None
    for fold in range(2):
        try:
            for step in range(5):
                clock.step(0.04)
                if best is None or step > best:
                    best = step
                seen.append((fold, best))
+                print("PROBE", fold, step, best, seen[-2:])
            else:
                best = best - 3
        finally:
            seen.append(fold)
main()
""",
}


@pytest.mark.parametrize("name", HARD)
def test_hard_cases(name: str, tmp_path: Path) -> None:
    jump_everywhere(Jumps(tmp_path, "import time\n" + CLOCK.lstrip() + HARD[name].lstrip()), must=True)


def test_a_while_loop_that_runs_again_is_another_one(tmp_path: Path) -> None:
    jumps = Jumps(tmp_path, "import time\n" + CLOCK.lstrip() + HARD["a loop that runs twice"].lstrip())
    jumps.record_it()
    whole, _, _ = jumps.values()
    assert [path for path, _ in whole] == [f"L1#{run}/L1={index}" for run in range(2) for index in range(4)]


def test_a_while_loop_around_blocks_that_runs_again_is_another_one(tmp_path: Path) -> None:
    jumps = Jumps(
        tmp_path,
        "import time\n"
        + CLOCK.lstrip()
        + """
def train(data):
    done = 0
    while done < 3:
        for i in range(3):
            clock.step(0.02)
            data.append(i)
        done += 1
+        print("PROBE", done, len(data))
total = []
train(total)
train(total)
""",
    )
    jumps.record_it()
    whole, _, _ = jumps.values()
    assert [path.rpartition("=")[2] for path, _ in whole] == list("012012")
    assert len({path for path, _ in whole}) == 6


@pytest.mark.parametrize("seed", range(int(FIRST), int(END)))
def test_random_programs_jump_right_or_say_that_they_differ(seed: int, tmp_path: Path) -> None:
    jumps = Jumps(tmp_path, training(seed))
    jumps.may_differ = True
    jump_everywhere(jumps)


@pytest.mark.parametrize("case", [pytest.param(SCRIPTS[name], id=name) for name in CHOSEN])
def test_what_comes_after_a_jump_is_what_comes_without(case: Case, tmp_path: Path) -> None:
    jump_everywhere(Jumps(tmp_path, case.text, **case.options))


def jump_everywhere(jumps: Jumps, must: bool = False) -> None:
    """Begin in the middle of each of the loops that most checkpoints are of; there `must` be one."""
    history = jumps.record_it()
    # --iterations names the first run of a loop
    places = sorted(
        (place for place in history.boundaries if not re.search("#[1-9]", place)),
        key=lambda place: -len(history.boundaries[place]),
    )[:MOST_PLACES]
    if not places and not must:
        pytest.skip("no iteration of it begins with a checkpoint")
    assert places
    whole, report, told = jumps.values()
    if report["anomalies"]:  # a fault of another kind, and flagged
        return
    for place in places:
        held = sorted(history.boundaries[place])
        index = held[len(held) // 2]
        part, report, told = jumps.values("--iterations", asked(place, index))
        expected = [value for value in whole if is_held(value[0], place, index)]
        told = f"from {index} of {place}: {told}"
        assert part == expected or report["anomalies"], told
        assert jumps.may_differ or not report["anomalies"], told
        assert not must or report["began_with"], told
