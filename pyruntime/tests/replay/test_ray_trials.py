"""Trials of `ray.tune`, whose processes a replay does not see: their call is restored, or the replay ends before it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from workshop import Workshop

pytest.importorskip("ray")

SCRIPT = """
import os
from ray import tune

def objective(config):
    for epoch in range(3):
        score = config["rate"] * epoch
        #INSIDE
        tune.report({"score": score})

tuner = tune.Tuner(
    objective,
    param_space={"rate": tune.grid_search([0.5, 1.5])},
    run_config=tune.RunConfig(name="trials", storage_path=os.path.abspath("results"), verbose=0),
)
results = tuner.fit()
best = results.get_best_result("score", "max")
print("best", best.config["rate"])
#BEHIND
"""


def _contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    workshop = Workshop(tmp_path_factory.mktemp("trials"))
    workshop.write("train.py", SCRIPT)
    done = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert done.code == 0 and "1 checkpoint," in done.said, done.said
    return workshop


def test_a_statement_behind_the_trials_needs_no_cluster(recorded: Workshop) -> None:
    before = _contents(recorded.path / "results")
    recorded.write("train.py", SCRIPT.replace("#BEHIND", 'print(sorted(one.metrics["score"] for one in results))'))
    done = recorded.florc("replay", "train.py")
    assert done.code == 0 and "1 block restored" in done.said and "exact:" in done.said, done.said
    assert done.out == "[1.0, 3.0]\n"
    assert _contents(recorded.path / "results") == before


def test_a_statement_in_a_trial_is_refused_before_it_changes_a_file(recorded: Workshop) -> None:
    before = _contents(recorded.path / "results")
    recorded.write("train.py", SCRIPT.replace("#INSIDE", "print(score)"))
    done = recorded.florc("replay", "train.py")
    assert done.code == 1 and "[F503]" in done.said and "trials of ray.tune" in done.said, done.said
    assert done.out == ""
    assert _contents(recorded.path / "results") == before != {}
