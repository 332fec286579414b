"""Trainings on a device as people write them (testdata/device), each question answered exactly. Every test here needs CUDA."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).resolve().parent / "replay"))
from cases import ENDING, missing, read  # noqa: E402
from harness import Trial, of_kind  # noqa: E402

FOLDER = Path(__file__).resolve().parents[2] / "testdata" / "device"
PROGRAMS = {path.name[: -len(ENDING)]: path for path in sorted(FOLDER.glob(f"*{ENDING}"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_those_of_a_plain_run(name: str, tmp_path: Path) -> None:
    case = read(PROGRAMS[name])
    if package := missing(case.text):
        pytest.skip(f"{package} is not installed")
    trial = Trial(tmp_path, case.text, **case.options)
    outcome = trial.run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert outcome.expected, outcome.truth
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    assert "exact: " in outcome.replayed.said, told
    print(told)
    asked = dict.fromkeys(line.split()[1] for line in outcome.expected)
    for kind in asked:
        answer = trial.ask(of_kind(kind))
        assert answer.code == 0, answer.err
        *entries, last = (json.loads(line) for line in answer.out.splitlines())
        printed = [entry["text"].rstrip("\n") for entry in entries if "text" in entry]
        print(name, kind, last["ran"], last["restored"], last["verdict"])
        wanted = [line for line in outcome.expected if line.startswith(f"PROBE {kind} ")]
        assert (sorted(printed) if case.options.get("unordered") else printed) == wanted, answer.err
        assert last["verdict"] == "exact", answer.out.splitlines()[-1]
        assert kind != "outer" or bool(last["restored"]) == case.restores, answer.out.splitlines()[-1] + told
