"""Where a replay does not arrive at the recorded values, what may be the reason is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from florc import circumstances

SCRIPT = """
import os, time

class Optimizer:
    def step(self, at):
        self.at = at
        time.sleep(0.005)

optimizer = Optimizer()
for epoch in range(2):
    for batch in range(3):
        optimizer.step(batch)
    print("threads", os.environ.get("MKL_NUM_THREADS"))
    print("took", time.time())
"""


def florc(folder: Path, *words: str, **variables: str) -> Any:
    environment = {**os.environ, "FLORC_DIR": str(folder / "store"), **variables}
    return subprocess.run([sys.executable, "-m", "florc", *words], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=100)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = florc(tmp_path, "record", "--overhead", "0.9", "train.py", MKL_NUM_THREADS="3")
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_what_is_otherwise_than_it_was_is_named(recorded: Path) -> None:
    done = florc(recorded, "replay", "train.py", MKL_NUM_THREADS="5")
    assert done.returncode == 1 and "ANOMALOUS" in done.stderr
    assert "it is not as when it was recorded: MKL_NUM_THREADS 3, now 5" in done.stderr
    assert "no run repeats the time of day (train.py:14)" in done.stderr


def test_an_exact_replay_says_nothing_of_it(recorded: Path) -> None:
    done = florc(recorded, "replay", "train.py", MKL_NUM_THREADS="3", OMP_NUM_THREADS="7")
    assert done.returncode == 0, done.stderr
    assert "not as when" not in done.stderr and "no run repeats" not in done.stderr


def test_verify_names_it_too(recorded: Path) -> None:
    done = florc(recorded, "verify", "train.py", MKL_NUM_THREADS="5")
    assert done.returncode == 1, done.stderr
    assert "MKL_NUM_THREADS 3, now 5" in done.stderr


def test_versions_settings_and_devices_are_known() -> None:
    torch = pytest.importorskip("torch")
    found = circumstances.present()
    assert found["torch"] == torch.__version__
    assert found["threads of torch"] == torch.get_num_threads()
    assert found["deterministic algorithms"] is False
    assert circumstances.changed(found) == []
    assert circumstances.changed({**found, "torch": "1.0", "deterministic algorithms": True, "gone": 1}) == [
        f"torch 1.0, now {torch.__version__}", "deterministic algorithms on, now off"]


def test_only_named_variables_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    assert "secret" not in str(circumstances.present())


def test_kernels_without_a_fixed_order_are_named() -> None:
    assert circumstances.is_undetermined_on_cuda({"CUDA devices": "H100", "deterministic algorithms": False})
    assert not circumstances.is_undetermined_on_cuda({"CUDA devices": "H100", "deterministic algorithms": True})
    assert not circumstances.is_undetermined_on_cuda({"torch": "2"})
