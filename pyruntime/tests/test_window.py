"""Replays of a part of a run: which iterations are meant, and what is answered for them."""

from __future__ import annotations

import pytest
from florc.plan.window import Samples, Window
from test_parallel_replay import EARLY, FLAT, FOLDS, MODEL, NESTED, WHILE, probes_of, record, replay, version
from workshop import Workshop


def test_sides_of_a_window() -> None:
    window = Window("L1=2/L2#0/L2", 1, 3)
    sides = {
        "": None,
        "L9": None,
        "L1=1/L2#0/L2=5": -1,
        "L1=2": None,
        "L1=2/L2#0": None,
        "L1=2/L2#0/L2=0": -1,
        "L1=2/L2#0/L2=1/L3#0": 0,
        "L1=2/L2#0/L2=2": 0,
        "L1=2/L2#0/L2=3": 1,
        "L1=3": 1,
        "L1=2/L2#1/L2=1": None,
        "L11=2/L2#0/L2=1": None,
    }
    assert {path: window.side(path) for path in sides} == sides
    assert window.why_run("L1=2/L2#0") and not window.why_run("L1=1/L2#0") and not window.why_run("L1=2/L2#0/L2=1/L3#0")
    assert window.is_over("L1=3", True) and not window.is_over("L1=2", True) and not window.is_over("L5#0", False)
    assert window.is_over("L5#0", True)
    assert Window("L1", 0, 3, before=True).holds("", False) and not Window("L1", 0, 3, before=True).holds("", True)


def test_samples_are_single_iterations() -> None:
    samples = Samples("L1", [0, 3, 5])
    assert [samples.side(f"L1={n}") for n in range(7)] == [0, -1, -1, 0, -1, 0, 1]
    assert samples.why_run("L1=3/L2#0") and not samples.why_run("L1=2/L2#0")


def answers(workshop: Workshop) -> list:
    return [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A run of a script with two loops, recorded once."""
    made = Workshop(tmp_path_factory.mktemp("nested"))
    record(made, NESTED)
    return made


@pytest.mark.parametrize(
    "words, wanted",
    [
        ("2:4", slice(2, 4)),
        (":2", slice(0, 2)),
        ("4:", slice(4, 6)),
        ("3", slice(3, 4)),
        ("-1", slice(5, 6)),
        ("epoch=1:3", slice(1, 3)),
        ("L1=-2:", slice(4, 6)),
        ("0:100", slice(0, 6)),
    ],
)
def test_iterations(nested: Workshop, words: str, wanted: slice) -> None:
    kept = [probe for probe in probes_of(NESTED) if "outer" in NESTED.splitlines()[probe]]
    nested.write("train.py", version(NESTED, kept))
    every = answers(nested)
    done = replay(nested, "--iterations", words)
    assert (done.out.splitlines(), done.code) == (every[wanted], 0), done.said


IN_A_METHOD = (
    MODEL
    + """
    def evaluated(model):
        total = 0.0
        for step in map(float, range(3)):
            total += model.weight * step
        return total
    class Trainer:
        def train(self, steps):
            self.model = models["model"]()
            for step in range(steps):
                time.sleep(0.006)
                self.model.step(step)
    +           if step % 5 == 0:
    +               for name, value in vars(self.model).items():
    +                   print("PROBE", step, name, value, evaluated(self.model))
                if step % 10 == 0:
                    print(step, self.model.weight)
    trainer = Trainer()
    trainer.train(40)
    print(evaluated(trainer.model))
    +for name in sorted(vars(trainer)):
    +   print("PROBE", name, evaluated(trainer.model))
    """
)


def test_an_added_loop_changes_nothing_about_the_loop_around_it(workshop: Workshop) -> None:
    record(workshop, IN_A_METHOD)
    workshop.write("train.py", version(IN_A_METHOD, probes_of(IN_A_METHOD)))
    every = answers(workshop)
    for options, wanted in (((), every), (("--iterations", "20:26"), every[4:6]), (("--workers", "2"), every)):
        done = replay(workshop, *options)
        assert (done.out.splitlines(), done.code) == (wanted, 0), (options, done.said)


def test_epochs_from_one_and_early_stopping(workshop: Workshop) -> None:
    record(workshop, EARLY)
    workshop.write("train.py", version(EARLY, probes_of(EARLY)))
    every = [line for line in answers(workshop) if "after" not in line]
    for options, wanted in (
        (("--iterations", "epoch=2:4"), every[1:3]),
        (("--iterations", "epoch=7"), every[6:]),
        (("--last",), every[6:]),
        (("--around", "epoch=4"), every[2:5]),
        (("--around", "epoch=1", "--window", "2"), every[0:3]),
    ):
        done = replay(workshop, *options)
        assert (done.out.splitlines(), done.code) == (wanted, 0), (options, done.said)


def test_nothing_added_in_what_is_asked_for(nested: Workshop) -> None:
    kept = [probe for probe in probes_of(NESTED) if "before" in NESTED.splitlines()[probe]]
    nested.write("train.py", version(NESTED, kept))
    done = replay(nested, "--iterations", "2:4")
    assert (done.out, done.code) == ("", 0) and "no added statement ran where an answer was asked for" in done.said, done


def test_epochs_of_one_fold(workshop: Workshop) -> None:
    record(workshop, FOLDS)
    workshop.write("train.py", version(FOLDS, probes_of(FOLDS)))
    every = answers(workshop)
    done = replay(workshop, "--iterations", "fold=1,epoch=2:4")
    inside = [
        line for line in every if line.split()[1] in ("inner", "epoch") and line.split()[2] == "1" and line.split()[3] in "23"
    ]
    assert (done.out.splitlines(), done.code) == (inside, 0), done.said


def test_the_last_iteration_of_a_while_loop(workshop: Workshop) -> None:
    record(workshop, WHILE)
    probes = [probe for probe in probes_of(WHILE) if "after" not in WHILE.splitlines()[probe]]
    workshop.write("train.py", version(WHILE, probes))
    every = answers(workshop)
    done = replay(workshop, "--last")
    assert (done.out.splitlines(), done.code) == (every[-4:], 0), done.said
    done = replay(workshop, "--iterations", "1:3")
    assert (done.out.splitlines(), done.code) == (every[4:12], 0), done.said


def test_why_there_is_no_such_iteration_is_only_said_where_it_is_so(workshop: Workshop) -> None:
    """Nothing tells that the last iteration of a `while` was the last one: it is not Ctrl-C that it lacks."""
    record(workshop, WHILE)
    workshop.write("train.py", version(WHILE, probes_of(WHILE)))
    for words in ("9", "1..2"):
        done = replay(workshop, "--iterations", words)
        assert done.code == 2 and "[F104]" in done.said and "Ctrl-C" not in done.said, done.said


def test_the_last_iteration_of_a_while_loop_that_breaks(workshop: Workshop) -> None:
    text = WHILE.replace("while epoch < 6:", "while True:").replace(
        "        epoch += 1\n", "        epoch += 1\n        if epoch == 6: break\n"
    )
    record(workshop, text)
    probes = [probe for probe in probes_of(text) if "inner" in text.splitlines()[probe]]
    workshop.write("train.py", version(text, probes))
    every = answers(workshop)
    done = replay(workshop, "--last")
    assert (done.out.splitlines(), done.code) == (every[-3:], 0), done.said


@pytest.mark.parametrize("condition", ["True", "1"])
def test_the_last_iteration_of_an_endless_loop_that_prints_nothing(condition: str, workshop: Workshop) -> None:
    text = (
        MODEL
        + f"""
    model, step = models["model"](), 0
    while {condition}:
        model.step(0.5)
        time.sleep(0.004)
    +   print("PROBE", step, model.weight)
        step += 1
        if step == 20: break
    print(model.weight)
    """
    )
    record(workshop, text)
    workshop.write("train.py", version(text, probes_of(text)))
    every = answers(workshop)
    for options in (("--last",), ("--iterations", "-1"), ("--steps", "-1")):
        done = replay(workshop, *options)
        assert (done.out.splitlines(), done.code) == (every[-1:], 0), (options, done.said)


def test_the_else_of_a_while_loop_is_no_iteration(workshop: Workshop) -> None:
    text = WHILE.replace('    print("total", total)\n', '    else:\n        print("total", total)\n')
    record(workshop, text)
    probes = [probe for probe in probes_of(text) if "after" not in text.splitlines()[probe]]
    workshop.write("train.py", version(text, probes))
    every = answers(workshop)
    done = replay(workshop, "--last")
    assert (done.out.splitlines(), done.code) == (every[-4:], 0), done.said


def test_a_loop_that_is_a_block_itself(workshop: Workshop) -> None:
    record(workshop, FLAT)
    workshop.write("train.py", version(FLAT, probes_of(FLAT)[:1]))
    every = answers(workshop)
    done = replay(workshop, "--iterations", "3:5")
    assert (done.out.splitlines(), done.code) == (every[3:5], 0), done.said


def test_a_probe_before_the_window_never_raises(workshop: Workshop) -> None:
    record(workshop, NESTED)
    workshop.write(
        "train.py",
        version(NESTED, []).replace(
            '        print("epoch"', '        print("PROBE", 1 / max(0, epoch - 2))\n        print("epoch"'
        ),
    )
    done = replay(workshop, "--iterations", "4:")
    assert (done.out, done.code) == ("PROBE 0.5\nPROBE 0.3333333333333333\n", 0), done.said


@pytest.mark.parametrize(
    "options, why",
    [
        (("--iterations", "9"), "has only 6 iterations"),
        (("--iterations", "4:2"), "no iteration is in this range"),
        (("--iterations", "batch=3"), "no main loop runs over batch; there are: epoch"),
        (("--iterations", "x:y"), "is not a range of iterations"),
        (("--iterations", ""), "is not a range of iterations"),
        (("--iterations", "epoch=1,step=2"), "no main loop inside"),
        (("--around", "2:4"), "--around takes one iteration"),
        (("--iterations", "-9"), "has only 6 iterations"),
        (("--shard", "5/4"), "a shard is written I/N"),
        (("--shard", "1/2", "--workers", "2"), "cannot be used with"),
        (("--window", "2"), "required"),
        (("--emit", "slurm"), "required"),
    ],
)
def test_what_cannot_be_meant(nested: Workshop, options: tuple, why: str) -> None:
    nested.write("train.py", version(NESTED, probes_of(NESTED)))
    done = replay(nested, *options)
    assert done.code == 2 and why in done.said + done.err, done
    assert done.out == ""
