"""Programs that leave the training to a library (testdata/programs): recorded as if plain, replayed exactly."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from cases import ENDING, read
from harness import Trial

FOLDER = Path(__file__).resolve().parents[3] / "testdata" / "programs"
PROGRAMS = {path.name[: -len(ENDING)]: path for path in sorted(FOLDER.glob(f"*{ENDING}"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_those_of_a_plain_run(name: str, tmp_path: Path) -> None:
    case = read(PROGRAMS[name])
    for package in re.findall(r"^(?:import|from) (\w+)", case.text, re.MULTILINE):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: make test-trainers")
    outcome = Trial(tmp_path, case.text, **case.options).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    assert "exact: " in outcome.replayed.said, told
    if case.restores is not None:
        assert bool(outcome.restored) == case.restores, told
