"""Small tricky scripts: recorded as if plain, and replayed to exactly what the added statements would have printed."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from cases import Case, cases
from harness import Trial

SCRIPTS = cases()


def parameters() -> list:
    """One parameter per script; a known failure is marked."""
    return [
        pytest.param(case, id=name, marks=[pytest.mark.xfail(strict=True, reason=case.xfail)] if case.xfail else [])
        for name, case in SCRIPTS.items()
    ]


FLAGS = ("ANOMALOUS", "and the recorded run did not", "the replay ended early: the added statement")


@pytest.mark.parametrize("case", parameters())
def test_replay_prints_what_the_added_statements_would_have(case: Case, tmp_path: Path) -> None:
    for name in ("torch", "sklearn", "tqdm", "torchmetrics"):
        if re.search(rf"^ *(import|from) [^#]*\b{name}\b", case.text, re.MULTILINE) and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    outcome = Trial(tmp_path, case.text, **case.options).run()
    failures = outcome.failures()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    if case.flagged:
        assert outcome.replayed.code == 1 and any(words in outcome.replayed.err for words in FLAGS), told
        return
    if case.unsure and outcome.replayed.code == 0 and "unverified: " in outcome.replayed.err:
        return
    assert not failures, "\n".join(failures) + told
    assert not case.exact or "exact: " in outcome.replayed.said, told
    if case.restores is not None:
        assert bool(outcome.restored) == case.restores, f"{outcome.restored} blocks restored{told}"
