"""`--ray`: the workers of a replay on a Ray cluster that the test starts. Runs where ray is installed (`make test-ray`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

ray = pytest.importorskip("ray")

SCRIPT = """
import time
total = 0.0
weights = [0.0] * 4
class Optimizer:
    def step(self, at):
        for i in range(4):
            weights[i] += 0.5 * at + i
optimizer = Optimizer()
for epoch in range(6):
    for batch in range(10):
        optimizer.step(batch)
        total += sum(weights)
        time.sleep(0.01)
        #PROBE
    print(epoch, total)
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    cluster = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield cluster.address_info["address"]
    ray.shutdown()


def florc(folder: Path, *words: str) -> Any:
    environment = {**os.environ, "FLORC_DIR": str(folder / "store")}
    return subprocess.run([sys.executable, "-m", "florc", *words], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=200)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = florc(tmp_path, "record", "--overhead", "0.9", "train.py")
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_the_same_bytes_come_from_a_cluster(address: str, recorded: Path) -> None:
    (recorded / "train.py").write_text(SCRIPT.replace("#PROBE", "print('PROBE', epoch, batch, total)"))
    alone = florc(recorded, "replay", "train.py")
    shared = florc(recorded, "replay", "train.py", "--workers", "2", "--ray", address)
    assert shared.returncode == 0, shared.stderr
    assert "worker 2" in shared.stderr and "exact:" in shared.stderr
    assert shared.stdout == alone.stdout != ""


def test_a_task_that_dies_is_started_once_more_and_then_reported(address: str, recorded: Path) -> None:
    probe = "import os; print(epoch, batch)\n        if epoch == 5: os._exit(7)"
    (recorded / "train.py").write_text(SCRIPT.replace("#PROBE", probe))
    done = florc(recorded, "replay", "train.py", "--workers", "2", "--ray", address)
    assert done.returncode == 1
    assert "it is started once more" in done.stderr and "FAILED: ended with exit code 7" in done.stderr


def test_a_cluster_that_does_not_answer_is_named(recorded: Path) -> None:
    (recorded / "train.py").write_text(SCRIPT.replace("#PROBE", "print('PROBE', epoch, batch, total)"))
    done = florc(recorded, "replay", "train.py", "--workers", "2", "--ray", "127.0.0.1:9")
    assert done.returncode == 2, done.stderr
    assert "no Ray cluster answers at 127.0.0.1:9" in done.stderr
