"""docs/trainers.md: its examples, done as a user does them, and each row of its table, asked of a program of the library.

Where a library is not installed, its tests are skipped: `make test-trainers` has them all."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from pages import DOCS, Page, rows, steps, text_of
from workshop import Workshop

FOLLOWED, CALLS = text_of("trainers.md").split("**The call is the block**")
OF_THE_PAGE = "fit.py"
RAN = {
    "nothing of it": (set(), 1),
    "the evaluations; no training step": ({1}, 3),
    "the validations; no training step": ({1, 3}, 3),
    "what happens between the epochs; no training step": ({1}, 3),
    "what happens between the rollouts; no step": ({1}, 6),
    "the training": ({1, 3}, 0),
    "the rollouts; no training step": ({1, 3}, 3),
    "the rollouts, with the training": ({1}, 0),
}
"""What the table says: how often each loop of the library that ran again did, of three epochs or rollouts, and how many blocks were
restored. The steps of an epoch are a block within the loop over epochs, with Lightning
another within that; those of PPO's trainings are others than its rollouts."""


class Row(NamedTuple):
    """A statement in a function of a program, or behind its training."""

    program: str
    place: str
    runs_again: str


def _table() -> Iterator[Row]:
    program = ""
    for library, statement, again in rows(FOLLOWED):
        linked = re.search(r"\((.*?)\)", library)
        program = linked[1] if linked else OF_THE_PAGE if library else program
        for place in re.findall(r"`(\w+)`", statement) or [statement]:
            yield Row(program, place, again.partition(". ")[0])


ROWS = list(_table())


def _text(program: str) -> str:
    if program == OF_THE_PAGE:
        return next(step.text for step in steps(FOLLOWED) if step.name == program)
    return (DOCS / program).read_text(encoding="utf-8")


def _asked(program: str, *places: str) -> str:
    """The program with a statement at these places, which shows the sum of its weights."""
    text = _text(program)
    weights = "model.policy.parameters()" if "stable_baselines3" in text else "model.parameters()"
    value = f"sum(p.abs().sum().item() for p in {weights})"
    if "keras" in text:
        value = "[float(abs(p).sum()) for p in model.get_weights()]"
    for place in places:
        mark = place if place.startswith("behind") else f"in {place}"
        text, count = re.subn(f"^( *)# {mark}\n", rf'\g<0>\1print("P {place}", {value})\n', text, flags=re.M)
        assert count == 1, f"{program} has not one such place: {mark}"
    return text


def _skip_without_its_packages(text: str) -> None:
    for package in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: make test-trainers")


class Recorded(NamedTuple):
    """A program that was recorded, and the lines that statements at all its places print in a plain run."""

    workshop: Workshop
    lines: list[str]


_recorded: dict[str, Recorded] = {}


@pytest.fixture
def recorded(row: Row, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The row's program: recorded once."""
    text = _text(row.program)
    _skip_without_its_packages(text)
    if row.program not in _recorded:
        workshop = Workshop(tmp_path_factory.mktemp("trainer"))
        workshop.write("fit.py", _asked(row.program, *(other.place for other in ROWS if other.program == row.program)))
        lines = [line for line in workshop.plain("fit.py").out.splitlines() if line.startswith("P ")]
        workshop.write("fit.py", text)
        done = workshop.florc("record", "--checkpoint", "every", "fit.py")
        assert done.code == 0, done
        _recorded[row.program] = Recorded(workshop, lines)
    return _recorded[row.program]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.program}-{row.place}")
def test_what_runs_again(row: Row, recorded: Recorded) -> None:
    workshop, lines = recorded
    workshop.write("fit.py", _asked(row.program, row.place))
    done = workshop.florc("replay", "--json", "fit.py")
    *values, told = map(json.loads, done.out.splitlines())
    expected = [line for line in lines if line.startswith(f"P {row.place} ")]
    assert expected and [value["text"] for value in values] == expected
    assert told["verdict"] == "exact", told
    ran = {times for block, times in told["ran"].items() if not re.fullmatch(r"C\d+", block)}
    # of a training of 8 steps a restore may take longer on a slow machine, and is given up then
    is_given_up = "restoring it takes longer" in done.said and told["skipped"] > 0
    assert is_given_up or (ran, told["skipped"]) == RAN[row.runs_again], told


def test_the_example_of_a_trainer(workshop: Workshop) -> None:
    _skip_without_its_packages(_text(OF_THE_PAGE))
    page = Page(workshop, FOLLOWED).do()
    assert page.compared == 2
    told = page.printed("florc record")
    plain = workshop.plain("fit.py").out.splitlines()
    assert page.printed("florc replay") == [line for line in plain if line not in told]


def test_the_example_of_a_call(workshop: Workshop) -> None:
    _skip_without_its_packages(next(step.text for step in steps(CALLS)))
    page = Page(workshop, CALLS).do()
    assert page.compared == 3
    told = page.printed("florc record")
    plain = [line for line in workshop.plain("search.py").out.splitlines() if line not in told]
    assert page.done[-1][1].out.splitlines() == plain and page.printed("florc replay") == plain[-1:]
