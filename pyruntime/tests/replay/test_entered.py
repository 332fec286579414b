"""A statement added to a function that nobody calls by name makes exactly those blocks run again that entered it in the recorded run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from entered_commands import COMMANDS
from entered_generated import generated
from entered_programs import DOUBTFUL, FLAT, LIBRARY, WAYS
from harness import Outcome, Trial


@pytest.mark.parametrize("text, again", COMMANDS.values(), ids=COMMANDS)
def test_what_a_library_starts_is_no_reason_to_run_the_rest(text: str, again: dict[str, int], tmp_path: Path) -> None:
    outcome = trial(tmp_path, text).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert outcome.expected and not outcome.failures(), "\n".join(outcome.failures()) + told
    assert times(outcome) == again, told
    assert outcome.restored > 0, told


def times(outcome: Outcome) -> dict[str, int]:
    """How often blocks ran again because something was added."""
    found = re.findall(r"(L\d+) ran (\d+) times?: (.*)", outcome.replayed.said)
    return {block: int(number) for block, number, why in found if "added" in why or "entered" in why}


def ran(outcome: Outcome) -> dict[str, str]:
    """The blocks that the replay ran again, and why."""
    return dict(re.findall(r"(L\d+) ran \d+ times?: (.*)", outcome.replayed.said))


def trial(folder: Path, text: str, **options: object) -> Trial:
    """A script beside a library that is none of its project."""
    library = folder / "library"
    library.mkdir()
    (library / "stand_ins.py").write_text(LIBRARY)
    made = Trial(folder, text, **options)  # type: ignore[arg-type]
    made.env["PYTHONPATH"] = str(library)
    return made


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_the_loops_that_did_not_enter_it_are_restored(text: str, tmp_path: Path) -> None:
    outcome = trial(tmp_path, text).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert outcome.expected, "the probe must run"
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    ((block, why),) = [(block, why) for block, why in ran(outcome).items() if block in times(outcome)]
    assert 0 < times(outcome)[block] <= 3, told
    assert why.startswith("entered ") and why.endswith(" in the recorded run"), told
    assert outcome.restored >= outcome.kept - 3 > 0, told
    assert "exact: " in outcome.replayed.said, told


@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL)
def test_where_it_cannot_be_known_what_entered_a_function_every_loop_runs_again(text: str, tmp_path: Path) -> None:
    outcome = trial(tmp_path, text, replay=["--allow-drift"]).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    inner = list(ran(outcome))
    assert outcome.restored == 0 and len(inner) == 3, told
    if "fork" not in text and "register" not in text:
        assert outcome.printed == outcome.expected, told


def test_a_flat_loop_begins_before_the_first_iteration_that_entered_it(tmp_path: Path) -> None:
    outcome = trial(tmp_path, FLAT).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert len(outcome.expected) == 10 and not outcome.failures(), "\n".join(outcome.failures()) + told
    began = re.search(r"L1(?:#0/L1)? began with iteration (\d+)", outcome.replayed.said)
    assert began and 1 < int(began.group(1)) <= 50, told


@pytest.mark.parametrize("seed", range(24))
def test_generated_programs_run_exactly_what_entered_it(seed: int, tmp_path: Path) -> None:
    text, again = generated(seed)
    outcome = trial(tmp_path, text).run()
    told = f"\n{text}\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    if "no checkpoint was kept" not in outcome.replayed.said:
        assert times(outcome) == again, told
