"""Programs as people write them (testdata/programs): recorded as if plain, and each kind of question answered exactly."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cases import ENDING, missing, read
from harness import KINDS, Trial, of_kind

FOLDER = Path(__file__).resolve().parents[3] / "testdata" / "programs"
PROGRAMS = {path.name[: -len(ENDING)]: path for path in sorted(FOLDER.glob(f"*{ENDING}"))}


def test_each_program_has_a_question_of_each_kind() -> None:
    for name, path in PROGRAMS.items():
        asked = re.findall(r'^\+.*print\("PROBE (\w+)"', path.read_text(), re.MULTILINE)
        assert set(asked) == set(KINDS), name


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_those_of_a_plain_run(name: str, tmp_path: Path) -> None:
    case = read(PROGRAMS[name])
    if package := missing(case.text):
        pytest.skip(f"{package} is not installed: make test-trainers")
    trial = Trial(tmp_path, case.text, **case.options)
    outcome = trial.run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    assert "exact: " in outcome.replayed.said, told
    failures = []
    for kind in KINDS:
        wanted = [line for line in outcome.expected if line.startswith(f"PROBE {kind} ")]
        answer = trial.ask(of_kind(kind))
        assert answer.code == 0, answer.err
        *entries, last = (json.loads(line) for line in answer.out.splitlines())
        printed = [entry["text"].rstrip("\n") for entry in entries if "text" in entry]
        again = ", ".join(f"{block} {times} ×" for block, times in sorted(last["ran"].items())) or "nothing"
        print(kind, again, "|", last["skipped"], last["verdict"])
        if case.options.get("unordered"):
            printed = sorted(printed)
        if printed != wanted:
            failures.append(f"{kind}: printed\n{printed}\ninstead of\n{wanted}")
        if last["verdict"] != "exact":
            failures.append(f"{kind}: {answer.out.splitlines()[-1]}")
        if again not in case.again.get(kind, again).split(" or "):
            failures.append(f"{kind}: {again} ran again instead of {case.again[kind]}")
    assert not failures, "\n".join(failures)
