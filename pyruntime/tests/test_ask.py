"""`florc ask`: what it answers is what the statement would have printed, and no file changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from workshop import Workshop

SCRIPT = """
import time
from engine import total_of

class Optimizer:
    total = 0
    def step(self, by):
        self.total += by
        time.sleep(0.001)

optimizer = Optimizer()
for epoch in range(3):
    for step in range(4):
        optimizer.step(step * epoch)
    t = total_of(optimizer, epoch)
    print("epoch", epoch, "t", t)
"""
ENGINE = """
def total_of(model, by):
    twice = by * 2
    return twice + model.total
"""
AT_T, AT_TWICE = "14", "engine.py:2"


@pytest.fixture
def recorded(workshop: Workshop) -> Workshop:
    workshop.write("train.py", SCRIPT)
    workshop.write("engine.py", ENGINE)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    return workshop


def _contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.py")}


def test_several_places_are_asked_at_once(recorded: Workshop) -> None:
    before = _contents(recorded.path)
    questions = ["--at", AT_T, "t / 2", "--at", AT_TWICE, "twice", "--after-loop", "epoch", "optimizer.total"]
    done = recorded.florc("ask", "train.py", *questions)
    assert done.code == 0 and "exact:" in done.said and "3 blocks restored" in done.said, done.said
    assert done.out.splitlines() == [
        *("twice 0", "t / 2 0.0", "twice 2", "t / 2 4.0", "twice 4", "t / 2 11.0"),
        "optimizer.total 18",
    ]
    assert '+    t = total_of(optimizer, epoch); print("t / 2", t / 2)' in done.err.splitlines()
    assert _contents(recorded.path) == before
    assert recorded.florc("logs", "twice", "--format", "csv").out.splitlines()[1] == "0,twice,0,exact,engine.py:2"


def test_a_question_that_raises_is_shown_in_the_traceback(recorded: Workshop) -> None:
    done = recorded.florc("ask", "--quiet", "train.py", "--at", AT_T, "t.missing")
    shown = '    t = total_of(optimizer, epoch); print("t.missing", t.missing)'
    assert shown in done.err.splitlines() and "AttributeError" in done.err and done.code != 0, done


def test_a_question_that_raises_where_the_script_catches_it(workshop: Workshop) -> None:
    lines = SCRIPT.replace(
        "    print(", "    try:\n        u = t + 1\n    except TypeError:\n        print('caught')\n    print("
    )
    workshop.write("train.py", lines)
    workshop.write("engine.py", ENGINE)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    done = workshop.florc("ask", "train.py", "--at", "16", "t + ''")
    assert "the added code raises TypeError, which the script catches" in done.said and done.code == 1, done


def test_a_module_that_is_asked_is_run_as_asked_in_a_process_of_its_own(recorded: Workshop) -> None:
    done = recorded.florc("ask", "train.py", "--at", AT_TWICE, "by + model.total", "--workers", "2")
    assert done.out.splitlines() == ["by + model.total 0", "by + model.total 7", "by + model.total 20"], done


def test_a_watch_prints_at_each_step(recorded: Workshop) -> None:
    done = recorded.florc("ask", "--watch", "optimizer.total", "--last", "--quiet", "train.py")
    assert done.out.splitlines() == [f"optimizer.total {total}" for total in (6, 8, 12, 18)] and not done.err, done


def test_a_watch_knows_an_optimizer_by_what_makes_it(workshop: Workshop) -> None:
    workshop.write("optim.py", "class SGD:\n    def __init__(self): self.n = 0\n    def step(self): self.n += 1\n")
    workshop.write(
        "train.py",
        "import optim\ng, d = optim.SGD(), optim.SGD()\nfor epoch in range(2):\n    g.step()\n    d.step()\nprint(g.n)\n",
    )
    assert workshop.florc("record", "train.py").code == 0
    done = workshop.florc("ask", "--watch", "g.n + d.n", "--quiet", "train.py")
    assert [line.split()[-1] for line in done.out.splitlines()] == ["1", "2", "3", "4"] and done.code == 0, done


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "99", "t"], "train.py:99: no statement is in this line; the last statement is in line "),
        (["--at", "1", "optimizer.step(1)"], "changes what it is given, and a question only looks"),
        (["--at", "1", 'open("f", "w").write("x")'], "opens a file to write to it, and a question only looks"),
        (
            ["--at", "1", "time.sleep(1)"],
            "time.sleep() does more than look, and a question only looks; a statement in the script",
        ),
        (["--at", "1", "os.system('touch f')"], "os.system() does more than look"),
        (["--at", "1", "random.random()"], "random.random() does more than look"),
        (["--at", "1", "t = 3"], "t = 3: it is no expression"),
        (["--at", "1", "fold +"], "fold +: it ends too soon [F107]"),
        (["--after-loop", "nothing", "t"], "there is no `for` loop over nothing; there are: "),
        (["--at", "other.py:1", "t"], "the run has no such file; there are: engine.py, train.py [F101]"),
        (["--at", "x", "t"], "it takes the number of a line, or FILE:LINE [F101]"),
        (["--at", "1" * 27, "t"], "it takes the number of a line, or FILE:LINE [F101]"),
        ([], "nothing is asked"),
    ],
)
def test_what_cannot_be_asked_runs_nothing(recorded: Workshop, words: list[str], said: str) -> None:
    done = recorded.florc("ask", "train.py", *words)
    assert (done.code, done.out) == (2, "") and said in done.said, done.said
    assert not list(recorded.path.glob(".florc/runs/*/replays/*"))


BRANCHES = """
total = 0
for epoch in range(10):
    for step in range(3):
        total += step * epoch
    if epoch % 3 == 0:
        total += 1
    elif epoch == 5: total += 2
    with open("log.txt", "a") as log: log.write(str(epoch))
    print("epoch", epoch, total)
"""


@pytest.mark.parametrize(
    ("option", "line", "statement", "before"),
    [
        ("--at", 6, "if epoch % 3", "before the if in line 6"),
        ("--at", 3, "for epoch", "before the loop in line 3"),
        ("--at", 4, "for step", "before the loop in line 4"),
        ("--at", 9, "with open", "before the statement in line 9"),
        ("--inside", 6, "total += 1", ""),
        ("--inside", 8, "total += 2", ""),
        ("--inside", 3, "for step", ""),
    ],
)
def test_on_which_side_of_a_statement_with_a_body(
    workshop: Workshop, option: str, line: int, statement: str, before: str
) -> None:
    """The truth: a plain run with the question before the statement that begins so."""
    workshop.write("train.py", "#" + BRANCHES)  # a first line, which dedenting keeps
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    asked = workshop.florc(
        "ask", "train.py", option, str(line), "(epoch, total)" if line != 3 or option == "--inside" else "total"
    )
    lines = ("#" + BRANCHES).splitlines()
    (at,) = [number for number, text in enumerate(lines) if statement in text]
    question = '"(epoch, total)", (epoch, total)' if line != 3 or option == "--inside" else '"total", total'
    if lines[at].strip().startswith(statement):
        indentation = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        lines.insert(at, f"{indentation}print({question})")
    else:
        lines[at] = lines[at].replace(statement, f"print({question}); {statement}")
    workshop.write("probed.py", "\n".join(lines))
    truth = [text for text in workshop.plain("probed.py").out.splitlines() if not text.startswith("epoch")]
    assert asked.out.splitlines() == truth and truth and "exact" in asked.said, asked.said
    assert (before in asked.said) and ("--inside" in asked.said) is bool(before), asked.said


def test_a_function_and_an_elif_have_no_place_before_them(recorded: Workshop) -> None:
    done = recorded.florc("ask", "train.py", "--at", "engine.py:1", "by")
    assert done.code == 2 and "--inside 1 asks as it is called" in done.said, done.said
    assert recorded.florc("ask", "train.py", "--inside", "engine.py:1", "by").out.splitlines() == ["by 0", "by 1", "by 2"]
