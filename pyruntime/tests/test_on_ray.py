"""`--ray`: the workers of a replay on a Ray cluster that the test starts. Runs where ray is installed (`make test-ray`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from workshop import Workshop

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


@pytest.fixture
def recorded(workshop: Workshop) -> Workshop:
    workshop.write("train.py", SCRIPT)
    done = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert done.code == 0, done
    return workshop


def test_the_same_bytes_come_from_a_cluster(address: str, recorded: Workshop) -> None:
    recorded.write("train.py", SCRIPT.replace("#PROBE", "print('PROBE', epoch, batch, total)"))
    alone = recorded.florc("replay", "train.py")
    shared = recorded.florc("replay", "train.py", "--workers", "2", "--ray", address)
    assert shared.code == 0, shared.said
    assert "worker 2" in shared.said and "exact:" in shared.said
    assert shared.out == alone.out != ""


def test_a_task_that_dies_is_started_once_more_and_then_reported(address: str, recorded: Workshop) -> None:
    probe = "import os; print(epoch, batch)\n        if epoch == 5: os._exit(7)"
    recorded.write("train.py", SCRIPT.replace("#PROBE", probe))
    done = recorded.florc("replay", "train.py", "--workers", "2", "--ray", address)
    assert done.code == 1
    assert "florc starts it once more" in done.said and "FAILED: ended with exit code 7" in done.said


def test_a_cluster_that_does_not_answer_is_named(recorded: Workshop) -> None:
    recorded.write("train.py", SCRIPT.replace("#PROBE", "print('PROBE', epoch, batch, total)"))
    done = recorded.florc("replay", "train.py", "--workers", "2", "--ray", "127.0.0.1:9")
    assert done.code == 2, done.said
    assert "no Ray cluster answers at 127.0.0.1:9" in done.said
