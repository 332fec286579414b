"""A loop that was left, however it was, is over: what stands behind it has none of its numbers. Each program prints which loops run
where it prints, which is compared with what florc says."""

from __future__ import annotations

import json

import pytest
from workshop import Workshop

HEAD = """
import random, time
random.seed(0)
w = 0.0
class SGD:
    def step(self):
        global w
        w = 0.99 * w + random.random()
class Loss:
    def backward(self):
        time.sleep(0.002)
optimizer, loss = globals()["SGD"](), globals()["Loss"]()  # whose steps train, for all that the compiler sees
def at(where):
    print("at", "in", where or "no loop")
def some():
    for _ in range(3):
        loss.backward()
        optimizer.step()
"""
PROGRAMS = {
    "break": """
for epoch in range(9):
    some()
    at(f"epoch={epoch}")
    if epoch == 2: break
at("")
for fold in range(2):
    some()
    at(f"fold={fold}")
at("")
""",
    "return": """
def fit(most):
    for epoch in range(9):
        some()
        at(f"fold={fold},epoch={epoch}")
        if epoch == most: return w
for fold in range(2):
    fit(fold)
    at(f"fold={fold}")
    some()
at("")
""",
    "error": """
def fit(most):
    for epoch in range(9):
        some()
        at(f"fold={fold},epoch={epoch}")
        if epoch == most: raise KeyError(most)
for fold in range(2):
    try:
        fit(fold)
    except KeyError:
        at(f"fold={fold}")
    some()
    at(f"fold={fold}")
try:
    for other in range(3):
        some()
        at(f"other={other}")
        1 / 0
except ZeroDivisionError as error:
    at("")
at("")
""",
    "while": """
n = 0
while n < 3:
    some()
    at(f"n={n}")
    n += 1
else:
    at("n=3")
at("")
k = 0
while True:
    some()
    k += 1
    try:
        if k == 2: raise KeyError(k)
    except KeyError:
        continue
    at(f"k={k - 1}")
    if k > 3: break
at("")
def until(most):
    i = 0
    while i < 9:
        some()
        at(f"fold={fold},i={i}")
        i += 1
        if i == most: return i
for fold in range(2):
    until(fold + 1)
    at(f"fold={fold}")
    some()
""",
    "outer jump": """
for fold in range(3):
    n = 0
    while n < 2:
        some()
        at(f"fold={fold},n={n}")
        n += 1
    else:
        at(f"fold={fold}")
        if fold == 1: break
        some()
        continue
at("")
""",
    "outer jump and a break": """
a = 0
while a < 3:
    b = 0
    while b < 2:
        some()
        b += 1
        if b == 2:
            for z in range(3):
                if z: break
            break
    else:
        continue
    at(f"a={a}")
    a += 1
at("")
""",
    "deep": """
n = 0
while n < 2:
    some()
    with open(__file__):
        with open(__file__):
            with open(__file__):
                with open(__file__):
                    with open(__file__):
                        with open(__file__):
                            with open(__file__):
                                at(f"n={n}")
    n += 1
at("")
""",
    "recursion": """
def fit(level):
    n = 0
    while n < 2:
        some()
        n += 1
        if level and n == 2:
            fit(level - 1)
            return
fit(2)
at("")
for fold in range(2):
    some()
    at(f"fold={fold}")
""",
    "comes back": """
class Early(Exception): pass
def epochs():
    for epoch in range(5):
        some()
        at(f"trial={trial},epoch={epoch}")
        if trial == 1 and epoch == 1: raise Early()
for trial in range(3):
    try:
        epochs()
    except Early as early:
        kept = early  # its frames live on
    at(f"trial={trial}")
    some()
at("")
""",
}
NAMES = {"n": "while n < ", "k": "while True", "i": "while i < ", "a": "while a < "}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_stands_behind_a_loop_is_not_in_it(name: str, workshop: Workshop) -> None:
    workshop.write("train.py", HEAD + PROGRAMS[name])
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert (recorded.out, recorded.code) == (plain.out, 0), recorded.said
    plan = json.loads(workshop.florc("plan", "--json", "train.py").out)
    loops = {loop["header"]: loop["id"] for loop in plan["loops"]}
    named = {
        short: next((loops[header] for header in loops if header.startswith(start)), short) for short, start in NAMES.items()
    }
    rows = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl").out.splitlines()]
    for row in rows:
        told = dict(part.split("=") for part in str(row["value"]).removeprefix("in ").split(",") if "=" in part)
        wanted = {named.get(loop, loop): int(number) for loop, number in told.items()}
        if name == "while" and "n=3" in str(row["value"]):
            wanted = {}  # the condition was false: an `else` is behind the loop
        assert row["context"] == wanted, row
    assert len(rows) == plain.out.count("at"), rows
    added = PROGRAMS[name].replace("at(", 'print("asked", w); at(')
    workshop.write("train.py", HEAD + added)
    wanted_lines = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("asked")]
    replayed = workshop.florc("replay", "train.py")
    assert (replayed.out.splitlines(), replayed.code) == (wanted_lines, 0), replayed.said
    assert "florc: exact" in replayed.said, replayed.said
    assert " 0 blocks restored" not in replayed.said, replayed.said


def test_iterations_behind_a_loop_that_was_left(workshop: Workshop) -> None:
    """They can be asked for by the loop they are in, and the last iteration of the loop before has no part of them."""
    workshop.write("train.py", HEAD + PROGRAMS["break"])
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", HEAD + PROGRAMS["break"].replace("at(", 'print("asked", w); at('))
    every = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("asked")]
    for asked, wanted in (("fold=1", every[5:6]), ("fold=0:", every[4:6]), ("epoch=2", every[2:3])):
        replayed = workshop.florc("replay", "--iterations", asked, "train.py")
        assert (replayed.out.splitlines(), replayed.code) == (wanted, 0), replayed.said
        assert "florc: exact" in replayed.said, replayed.said


def test_a_traceback_out_of_a_loop_is_the_scripts_own(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        HEAD
        + """
def fit():
    n = 0
    while n < 5:
        some()
        n += 1
        if n == 3:
            raise ValueError("in the loop",
                             n)
fit()
""",
    )
    plain, recorded = workshop.plain("train.py"), workshop.florc("record", "train.py")
    trace = plain.err[plain.err.index("Traceback") :]
    assert trace in recorded.err and (recorded.out, recorded.code) == (plain.out, plain.code), recorded.err


def test_a_block_that_an_exception_left_says_so(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        HEAD
        + """
for fold in range(2):
    try:
        for step in range(9):
            loss.backward()
            w += step
            if step == 6 - fold: raise KeyError(step)
    except KeyError as error:
        print("left", error)
    some()
""",
    )
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0, recorded.said
    workshop.write(
        "train.py", (workshop.path / "train.py").read_text().replace('print("left", error)', 'print("left", error); print(w)')
    )
    wanted = workshop.plain("train.py").out.splitlines()
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == [line for line in wanted if not line.startswith("left")], replayed.said
    assert "florc: exact" in replayed.said and "an exception left it" in replayed.said, replayed.said
    assert "more than the overhead allowed" not in replayed.said, replayed.said


def test_where_the_script_raised_is_the_iteration_that_it_left(workshop: Workshop) -> None:
    workshop.write("train.py", HEAD + PROGRAMS["break"])
    workshop.florc("record", "--checkpoint", "every", "train.py")
    added = '    if epoch == 1: print(1 / (epoch - 1))\n    at(f"epoch='
    workshop.write("train.py", HEAD + PROGRAMS["break"].replace('    at(f"epoch=', added))
    replayed = workshop.florc("replay", "train.py")
    assert "raised ZeroDivisionError in epoch=1" in replayed.said, replayed.said


CONDITIONS = {
    "a method": ("while t.more():", "def more(self):\n        return t.n < 5", ""),
    "a property": ("while t.more:", "@property\n    def more(self):\n        return t.n < 5", ""),
    "a comparison": ("while t < 5:", "def __lt__(self, other):\n        return t.n < other", ""),
    "an object that is true": (
        "while Ask():",
        "def more(self): pass",
        "class Ask:\n    def __bool__(self):\n        return t.n < 5\n",
    ),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_what_a_condition_runs_sees_its_own_iteration(name: str, workshop: Workshop) -> None:
    """A replay that jumps puts state back behind the condition."""
    condition, method, more = CONDITIONS[name]
    body = f"class T:\n    n = 0\n    {method}\n{more}t = T()\n{condition}\n    some()\n    t.n += 1\n    print('n', t.n)\n"
    workshop.write("train.py", HEAD + body)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", HEAD + body.replace("return t.n <", 'print("asked", t.n)\n        return t.n <'))
    every = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("asked")]
    for options, wanted in ((), every), (("--iterations", "3:5"), every[3:5]), (("--workers", "2"), every):
        replayed = workshop.florc("replay", *options, "train.py")
        assert (replayed.out.splitlines(), replayed.code) == (wanted, 0), replayed.said
        assert "florc: exact" in replayed.said, replayed.said


@pytest.mark.parametrize("trains", [False, True])
def test_a_flat_loop_that_was_cut_off_ends_with_its_last_whole_iteration(workshop: Workshop, trains: bool) -> None:
    """It is a block, too; what a replay computes after that is not called exact."""
    step = "loss.backward(); optimizer.step()" if trains else "time.sleep(0.02)"
    script = (
        f"{HEAD}import os\nv = 1.0\nfor i in range(8):\n    {step}\n    v *= 0.9\n    print('v', i, v, flush=True)\n    # here\n"
    )
    workshop.write(
        "train.py", script.replace("# here", "time.sleep(0.3 * (i == 5)); os.kill(os.getpid(), 9) if i == 5 else None")
    )
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == -9 and len(recorded.out.splitlines()) == 6, recorded
    text = (workshop.path / "train.py").read_text()
    workshop.write("train.py", text.replace("    v *= 0.9", "    v *= 0.9\n    print('asked', i, v)"))
    done = workshop.florc("replay", "train.py")
    assert [line.split()[1] for line in done.out.splitlines()] == list("01234"), done
    assert "florc: exact" in done.said and "answered up to i=5" in done.said, done.said
