"""Loops inside libraries (knowledge/followed.toml), with a library of the same names that is a few lines long."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import Outcome, Trial

MODULE = "stable_baselines3.common.on_policy_algorithm"
LIBRARY = """
import random
import time


class OnPolicyAlgorithm:
    def __init__(self):
        self.num_timesteps, self.weights, self.seen = 0, [0.0] * 50, {}

    def collect_rollouts(self, callback):
        self.num_timesteps += 10
        self.weights = [weight + random.gauss(0.0, 1.0) for weight in self.weights]
        if callback is not None:
            callback.on_rollout_end(self)

    def learn(self, total_timesteps, callback=None):
        begun = time.time()
        iteration = 0
        while self.num_timesteps < total_timesteps:
            self.collect_rollouts(callback)
            iteration += 1
            if iteration == 4:
                break
            self.seen[iteration] = sum(self.weights)
        self.took = time.time() - begun
        self.iteration = iteration
        return self
"""
SCRIPT = """
import random
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

random.seed(3)


class Seen:
    def __init__(self):
        self.steps = []

    def on_rollout_end(self, model):
        self.steps.append(model.num_timesteps)
        # IN CALLBACK


model, seen = OnPolicyAlgorithm(), Seen()
model.learn(total_timesteps=60, callback=seen)
print(sum(model.weights), model.iteration, seen.steps)
# BEHIND
model.learn(total_timesteps=20)
print(sum(model.weights), model.iteration)
# AT THE END
"""
LOOK = 'print("PROBE", sum(model.weights), model.seen, model.num_timesteps, seen.steps)'


def answered(folder: Path, added: dict[str, str], version: str = "2.3.0", library: str = LIBRARY) -> Outcome:
    """The script with statements added at these places, beside an installed library."""
    there = folder / "lib"
    package = there / "stable_baselines3" / "common"
    package.mkdir(parents=True)
    for init in (package / "__init__.py", package.parent / "__init__.py"):
        init.write_text("")
    (package / "on_policy_algorithm.py").write_text(library)
    (there / f"stable_baselines3-{version}.dist-info").mkdir()
    about = f"Metadata-Version: 2.1\nName: stable-baselines3\nVersion: {version}\n"
    (there / f"stable_baselines3-{version}.dist-info" / "METADATA").write_text(about)
    lines = []
    for line in SCRIPT.strip().splitlines():
        place = line.strip().removeprefix("# ")
        lines.append("+" + line.replace(f"# {place}", added[place]) if place in added else line)
    trial = Trial(folder, "\n".join(lines) + "\n")
    trial.env["PYTHONPATH"] = os.pathsep.join([str(there), *filter(None, [trial.env.get("PYTHONPATH")])])
    outcome = trial.run()
    assert not outcome.failures(), "\n".join(outcome.failures()) + outcome.recorded.err + outcome.replayed.err
    assert "exact: " in outcome.replayed.said, outcome.replayed.err
    return outcome


@pytest.mark.parametrize("place", ["BEHIND", "AT THE END"])
def test_behind_a_training_its_loop_is_restored(place: str, tmp_path: Path) -> None:
    outcome = answered(tmp_path, {place: LOOK})
    assert outcome.restored == 2 and "C1 ran 1 time" in outcome.replayed.said, outcome.replayed.err


def test_a_statement_in_a_callback_runs_what_entered_it(tmp_path: Path) -> None:
    in_callback = 'print("PROBE", sum(model.weights), self.steps)'
    outcome = answered(tmp_path, {"IN CALLBACK": in_callback})
    assert len(outcome.expected) == 4
    assert f"{MODULE}.L1 ran 1 time: entered Seen.on_rollout_end" in outcome.replayed.said, outcome.replayed.err
    assert outcome.restored == 1, outcome.replayed.err  # the second training has no callback


def test_another_version_is_left_to_the_call(tmp_path: Path) -> None:
    outcome = answered(tmp_path, {"BEHIND": LOOK}, version="3.0.1")
    assert outcome.restored == 2 and MODULE not in outcome.replayed.said + outcome.recorded.said
    said = "no loop is followed inside stable-baselines3 3.0.1 (from 2.0 to before 3 they are)"
    assert said in outcome.recorded.said


def test_a_loop_that_returns_runs_again(tmp_path: Path) -> None:
    library = LIBRARY.replace(
        "                break\n", "                self.took = self.iteration = 4\n                return self\n"
    )
    assert library != LIBRARY
    answered(tmp_path, {"BEHIND": LOOK, "AT THE END": LOOK}, library=library)


def test_a_library_that_changed_is_run_again(tmp_path: Path) -> None:
    """Another text than the recorded one: nothing of its loops is restored."""
    outcome = answered(tmp_path, {"BEHIND": LOOK})
    changed = tmp_path / "lib" / "stable_baselines3" / "common" / "on_policy_algorithm.py"
    changed.write_text(LIBRARY.replace("gauss(0.0, 1.0)", "gauss(0.0, 2.0)"))
    trial = Trial(tmp_path, "")
    trial.env["PYTHONPATH"] = str(tmp_path / "lib")
    done = subprocess.run(
        [sys.executable, "-m", "florc", "replay", "train.py"],
        cwd=tmp_path / "work",
        env=trial.env,
        capture_output=True,
        text=True,
    )
    assert "exact: " not in done.stderr and "0 blocks restored" in done.stderr, done.stderr
    assert done.stdout != outcome.replayed.out
