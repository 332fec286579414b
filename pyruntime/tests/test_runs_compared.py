"""`florc runs --columns`, `florc diff`, `florc show`, `florc.arg`: what they say of runs is what plain runs of the programs print."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import pytest
from florc.answers.listing import sparkline
from florc.runs.commit import commit_of
from pages import Page, text_of
from workshop import Workshop

SCRIPT = """
    import random
    import sys

    class Model:
        def __init__(self):
            self.weights = [0.0] * 50

        def step(self, rate):
            self.weights = [weight + rate * (random.random() - weight) for weight in self.weights]

    random.seed(0)
    model = Model()
    other = float(sys.argv[1]) if sys.argv[1:] else 0.01
    for epoch in range(6):
        for step in range(20):
            model.step(other if epoch > 3 else 0.01)
        print("loss", sum(model.weights))
"""


@pytest.fixture
def two(workshop: Workshop) -> Workshop:
    """Two runs that part in epoch 4."""
    workshop.write("train.py", SCRIPT)
    for words in ([], ["0.02"]):
        assert workshop.florc("record", "--checkpoint", "every", "train.py", *words).code == 0
    return workshop


def _plain(workshop: Workshop, *words: str) -> list[float]:
    out = workshop.run(sys.executable, "train.py", *words).out
    return [float(line.split()[1]) for line in out.splitlines()]


def test_two_runs_part_where_their_plain_runs_do(two: Workshop) -> None:
    one, other = _plain(two), _plain(two, "0.02")
    parts = next(epoch for epoch in range(6) if one[epoch] != other[epoch])
    done = two.florc("diff", "--json")
    found = json.loads(done.out)
    (values,) = found["values"]
    assert done.code == 1 and found["differ"] and parts == 4
    assert values["first"] == {"epoch": 4, "a": one[4], "b": other[4]} and (values["both"], values["differ"]) == (6, 2)
    state = found["state"]
    assert (state["equal_up_to"], state["at"], state["compared"]) == ("L2 in epoch=3", "L2 in epoch=4", 5)
    assert state["differences"][0].startswith("model.weights"), state
    assert found["arguments"] == [[], ["0.02"]] and not found["source"] and found["environment"].keys() <= {"hash seed"}
    said = two.florc("diff", "latest~1", "latest").out
    assert "loss  differs first at epoch=4: " in said and "- \n" not in said and "+ 0.02\n" in said, said


def test_equal_runs_are_called_equal_and_changed_source_is_shown(two: Workshop) -> None:
    two.florc("record", "--checkpoint", "every", "train.py", "0.02")
    done = two.florc("diff")
    assert done.code == 0 and done.out.endswith("\nno difference was found in what both runs keep\n"), done
    two.write("train.py", SCRIPT.replace("range(6)", "range(5)"))
    two.florc("record", "--checkpoint", "every", "train.py", "0.02")
    done = two.florc("diff", "--color", "always")
    assert done.code == 1 and "\x1b[31m-for epoch in range(6):\x1b[0m\n\x1b[32m+for epoch in range(5):\x1b[0m\n" in done.out
    found = json.loads(two.florc("diff", "train.py", "--value", "loss", "--json").out)
    assert found["values"] == [{"name": "loss", "both": 5, "differ": 0, "only_in": {"a": 1}, "first": None}]
    # loops are another when their headers are: L1 was not compared with another L1
    assert not found["state"]["differences"] and found["state"]["compared"] == 5


UNSEEDED = """
    import os
    class M:
        def __init__(self):
            self.w = [0.0] * 20
        def step(self):
            self.w = [v + 0.01 * (1 - v) for v in self.w]
    m = M()
    VALUE = 0
    for epoch in range(2):
        for step in range(30):
            m.step()
            m.x = VALUE
        print("epoch", epoch)
"""


def _recorded_twice(workshop: Workshop, one: str, other: str) -> dict[str, Any]:
    for text in (one, other):
        workshop.write("train.py", text)
        assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    done = workshop.florc("diff", "--json")
    found: dict[str, Any] = json.loads(done.out)
    assert done.code == int(found["differ"]), done
    return found


def test_a_generator_that_nobody_seeds_is_no_difference(workshop: Workshop) -> None:
    found = _recorded_twice(workshop, UNSEEDED, UNSEEDED)
    assert not found["differ"] and found["state"]["generators"] == ["python"] and found["state"]["compared"] == 2, found
    assert ", but for random generators (python)\n" in workshop.florc("diff").out
    # and it does not stand before what differs
    found = _recorded_twice(workshop, UNSEEDED, UNSEEDED.replace("(1 - v)", "(1 - v + (epoch > 0))"))
    assert found["state"]["at"] == "L2 in epoch=1" and found["state"]["differences"][0].startswith("m.w"), found["state"]


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("{1: 2, 3: 4}", "{3: 4, 1: 2}", "the same in another order"),
        ("[[1], [1]]", "[[1]] * 2", "the same object as another"),
        ("[[1]] * 2", "[[1], [1]]", "not the same object"),
        ("__import__('collections').deque([1], 3)", "__import__('collections').deque([1], 4)", "of at most 3 -> 4"),
        ("0.0", "-0.0", "0.0 -> -0.0"),
        ("__import__('enum').Enum('C', 'A B').A", "__import__('enum').Enum('C', 'A B').B", "C.A -> C.B"),
    ],
)
def test_states_differ_in_what_a_program_can_see(workshop: Workshop, one: str, other: str, said: str) -> None:
    found = _recorded_twice(
        workshop, UNSEEDED.replace("VALUE = 0", f"VALUE = {one}"), UNSEEDED.replace("VALUE = 0", f"VALUE = {other}")
    )
    assert [line for line in found["state"]["differences"] if said in line and line.startswith("m.x")], found["state"]


@pytest.mark.parametrize(
    ("one", "other"), [("'fine'", "'early stop'"), ("'a', 0.0, 'z'", "'a', -0.0, 'z'"), ("'a\\nb'", "'a\\nc'")]
)
def test_other_lines_are_a_difference(workshop: Workshop, one: str, other: str) -> None:
    (workshop.path / "flag").write_text("")
    text = UNSEEDED.replace('print("epoch", epoch)', f"print({other}) if os.path.exists('flag') else print({one})")
    workshop.write("train.py", text)
    workshop.florc("record", "train.py")
    (workshop.path / "flag").unlink()
    workshop.florc("record", "train.py")
    done = workshop.florc("diff", "--json")
    lines = json.loads(done.out)["lines"]
    assert done.code == 1 and lines["differ"] == 2 and lines["first"]["epoch"] == 0, lines
    assert "standard output\n  differs first at epoch=0: " in workshop.florc("diff").out


def test_a_line_that_only_one_run_printed_is_a_difference(workshop: Workshop) -> None:
    more = UNSEEDED + "    print('that is all') if os.path.exists('flag') else None\n"
    workshop.write("train.py", more)
    workshop.florc("record", "train.py")
    (workshop.path / "flag").write_text("")
    workshop.florc("record", "train.py")
    done = workshop.florc("diff")
    assert done.code == 1 and "standard output\n  equal (2 lines); 1 line only in +\n" in done.out, done.out


def test_what_cannot_be_compared_gets_a_sentence(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "train.py")
    for words, said in (
        (["diff"], "is the only run of train.py: record it once more: florc record train.py"),
        (["diff", "nothing"], "no run nothing"),
        (["diff", "latest~9", "latest"], "no run latest~9 in"),
        (["logs", "latest~9", "loss"], "there is 1 run; `florc runs` lists them"),
        *([(["plot", "latest~9", "loss"], "no run latest~9 in")] if importlib.util.find_spec("uniplot") else []),
    ):
        done = workshop.florc(*words)
        assert (done.code, done.out) == (2, "") and said in done.said, done
    workshop.florc("record", "train.py")
    done = workshop.florc("diff", "--value", "nothing")
    assert done.code == 2 and "there are: loss" in done.said, done


def test_columns_show_settings_values_and_verdicts(two: Workshop) -> None:
    two.florc("ask", "train.py", "--after-loop", "step", "model.weights[0]")
    one, other = _plain(two), _plain(two, "0.02")
    lines = [json.loads(line) for line in two.florc("runs", "--columns", "id,loss,asked,status", "--json").out.splitlines()]
    assert [line["loss"] for line in lines] == [one, other] and [line["asked"] for line in lines] == [0, 1]
    smallest = min((one, other), key=lambda numbers: numbers[-1])
    sorted_ids = [line.split()[0] for line in two.florc("runs", "--columns", "id,loss", "--sort", "loss").out.splitlines()[1:]]
    assert sorted_ids[0] == lines[[one, other].index(smallest)]["id"]
    shown = two.florc("runs", "--columns", "asked,loss", "--last", "1").out.splitlines()
    assert len(shown) == 2 and "1, exact" in shown[1] and f"{other[-1]:.6g} {sparkline(other).split()[1]}" in shown[1], shown
    wrong = two.florc("runs", "--columns", "nothing")
    assert wrong.code == 2 and "columns are id, name, script" in wrong.said, wrong
    assert two.florc("runs", "--columns", "id, loss", "--last", "1").code == 0
    assert two.florc("runs", "--columns", "id", "--disk").code == 2
    replays = json.loads(two.florc("show", "--json").out)["replays"]
    assert [(replay["verdict"], replay["values"], replay["ran"]) for replay in replays] == [("exact", 6, 0)]
    assert not any(loop["why_not_kept"] for loop in json.loads(two.florc("show", "--json").out)["loops"])


def test_a_sparkline_says_how_numbers_went() -> None:
    assert sparkline([0.0, 1.0]) == "1 ▁█" and sparkline([2.0]) == "2 ▁" and sparkline([]) == ""
    assert sparkline([1.0, float("nan"), 3.0]) == "3 ▁·█"
    assert sparkline([float("inf")]) == "inf ·"
    assert len(sparkline([float(number) for number in range(1000)]).split()[1]) == 20


def test_the_commit_of_a_project_is_that_of_git(two: Workshop) -> None:
    def git(*words: str) -> str:
        front = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        return subprocess.run([*front, *words], cwd=two.path, check=True, capture_output=True, text=True).stdout.strip()

    assert commit_of(str(two.path)) is None
    git("init", "-q")
    assert commit_of(str(two.path)) is None  # nothing is committed yet
    git("add", "train.py")
    git("commit", "-qm", "first")
    head = git("rev-parse", "HEAD")
    assert commit_of(str(two.path)) == head
    (two.path / "sub").mkdir()
    assert commit_of(str(two.path / "sub")) == head
    git("pack-refs", "--all")
    assert commit_of(str(two.path)) == head
    git("worktree", "add", "-q", "tree")
    assert commit_of(str(two.path / "tree")) == head
    git("checkout", "-q", "--detach")
    assert commit_of(str(two.path)) == head
    two.florc("record", "train.py")
    assert json.loads(two.florc("show", "--json").out)["commit"] == head
    (two.path / ".git" / "HEAD").write_bytes(b"\xff\xfe nothing")
    assert commit_of(str(two.path)) is None and two.florc("record", "train.py").code == 0


SETTINGS = """
    import florc
    rate = florc.arg("rate", 0.5)
    count = florc.arg("count", 3)
    is_loud = florc.arg("loud", False)
    name = florc.arg("name", "plain")
    total = [0.0]
    for epoch in range(count):
        for step in range(5):
            total.append(total[-1] + rate)
        print(name, total[-1], is_loud)
"""


@pytest.mark.parametrize(
    "words", [[], ["--rate=0.25", "--loud"], ["--count", "2", "--name", "a b", "--no-loud", "other"], ["--loud", "true"]]
)
def test_settings_are_those_of_the_command_line_and_kept(workshop: Workshop, words: list[str]) -> None:
    workshop.write("train.py", SETTINGS)
    plain = workshop.run(sys.executable, "train.py", *words)
    recorded = workshop.florc("record", "train.py", *words)
    assert (recorded.out, recorded.code) == (plain.out, 0) and plain.code == 0, plain
    # a replay has the recorded values although the defaults are others now
    workshop.write(
        "train.py", SETTINGS.replace("0.5)", "0.125)").replace("        print(", '        print("asked", rate)\n        print(')
    )
    answer = workshop.florc("replay", "train.py")
    rate = 0.25 if "--rate=0.25" in words else 0.5
    count = 2 if "--count" in words else 3
    assert answer.out == f"asked {rate}\n" * count, answer
    shown = json.loads(workshop.florc("show", "--json").out)["settings"]
    assert shown == {"rate": rate, "count": count, "loud": "--loud" in words, "name": "a b" if "--name" in words else "plain"}
    assert f"rate={rate}, count={count}" in workshop.florc("show").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rate", "x"], "--rate x: it takes a number"),
        (["--count"], "--count: a value is missing"),
        (["--name", "--loud"], "--name: a value is missing"),
        (["--loud=maybe"], "true or false"),
    ],
)
def test_a_wrong_setting_ends_the_script_with_a_sentence(workshop: Workshop, words: list[str], said: str) -> None:
    workshop.write("train.py", SETTINGS)
    done = workshop.run(sys.executable, "train.py", *words)
    assert (done.code, done.out) == (2, "") and said in done.err and "Traceback" not in done.err, done


def test_a_setting_has_a_type_of_its_own() -> None:
    import florc

    with pytest.raises(TypeError, match="a bool, int, float or str"):
        florc.arg("layers", [1, 2])  # type: ignore[type-var]  # what a user may write


def test_loops_are_asked_in_sql(two: Workshop) -> None:
    sql = "SELECT loop, variable, line, memoized, iterations, executions, checkpoints FROM loops ORDER BY run, loop LIMIT 2"
    assert two.florc("query", sql, "--format", "csv").out.splitlines()[1:] == ["L1,epoch,14,0,6,0,0", "L2,step,15,1,,6,6"]


def test_what_the_documentation_says_of_runs_is_done(two: Workshop) -> None:
    """The commands of docs/answers.md about runs, over two that are equal."""
    two.florc("record", "train.py", "0.02")
    section = text_of("answers.md").split("## Runs, and two of them")[1].split("\n## ")[0]
    page = Page(two, section).do()
    assert [command.split()[1] for command, _ in page.done] == ["runs", "show", "diff"]


RESUMED = """
    import os, sys, time

    first = int(sys.argv[1])
    w = [0.5]
    if first:
        w[0] = float(open("kept").read())
    asked = os.environ.get("FLAVOUR")
    for epoch in range(first, 5):
        for i in range(4):
            time.sleep(0)
            w[0] = w[0] * 1.5 + i + float(sys.argv[2]) * (epoch == 4)
        print("epoch", epoch, w[0])
        if epoch == 1 and not first:
            with open("kept", "w") as file:
                file.write(repr(w[0]))
"""


def test_a_run_that_resumed_is_compared_epoch_by_epoch(workshop: Workshop) -> None:
    workshop.write("train.py", RESUMED)
    for words in (("0", "0"), ("2", "0"), ("2", "1")):
        assert workshop.florc("record", "--checkpoint", "every", "train.py", *words).code == 0
    same = json.loads(workshop.florc("diff", "--json", "latest~2", "latest~1").out)["state"]
    assert same["compared"] >= 3 and not same["differences"] and same["equal_up_to"].endswith("epoch=4"), same
    other = json.loads(workshop.florc("diff", "--json", "latest~2", "latest").out)["state"]
    assert other["at"].endswith("epoch=4") and "w" in other["differences"][0], other


def test_hash_seed_and_variables_are_part_of_the_environment(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop.write("train.py", RESUMED)
    for seed, flavour in (("1", "sweet"), ("2", "sweet"), ("2", "sour")):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        monkeypatch.setenv("FLAVOUR", flavour)
        assert workshop.florc("record", "--checkpoint", "every", "train.py", "0", "0").code == 0
    seeds = json.loads(workshop.florc("diff", "--json", "latest~2", "latest~1").out)
    assert seeds["environment"] == {"hash seed": ["1", "2"]} and not seeds["differ"], seeds
    variables = json.loads(workshop.florc("diff", "--json", "latest~1", "latest").out)
    assert variables["environment"] == {"FLAVOUR": ["one value", "another value"]} and variables["differ"], variables
