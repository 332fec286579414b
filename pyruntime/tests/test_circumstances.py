"""Where a replay does not arrive at the recorded values, what may be the reason is named."""

from __future__ import annotations

import os

import pytest
from florc.runs import circumstances
from workshop import Workshop

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


@pytest.fixture
def recorded(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    workshop.write("train.py", SCRIPT)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    done = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert done.code == 0, done
    return workshop


def test_what_is_otherwise_than_it_was_is_named(recorded: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKL_NUM_THREADS", "5")
    done = recorded.florc("replay", "train.py")
    assert done.code == 1 and "ANOMALOUS" in done.said
    assert "changed since recording: MKL_NUM_THREADS 3, now 5" in done.said


def test_an_exact_replay_says_nothing_of_it(recorded: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    done = recorded.florc("replay", "train.py")
    assert done.code == 0, done.said
    assert "not as when" not in done.said and "no run repeats" not in done.said


def test_verify_names_it_too(recorded: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKL_NUM_THREADS", "5")
    done = recorded.florc("verify", "train.py")
    assert done.code == 1, done.said
    assert "MKL_NUM_THREADS 3, now 5" in done.said


def test_versions_settings_and_devices_are_known() -> None:
    torch = pytest.importorskip("torch")
    found = circumstances.present()
    assert found["torch"] == torch.__version__
    assert found["threads of torch"] == torch.get_num_threads()
    assert found["deterministic algorithms"] is False
    assert circumstances.changed(found) == []
    assert circumstances.changed({**found, "torch": "1.0", "deterministic algorithms": True, "gone": 1}) == [
        f"torch 1.0, now {torch.__version__}",
        "deterministic algorithms on, now off",
    ]


def test_only_named_variables_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    assert "secret" not in str(circumstances.present())


def test_kernels_without_a_fixed_order_are_named() -> None:
    assert circumstances.is_undetermined_on_cuda({"CUDA devices": "H100", "deterministic algorithms": False})
    assert not circumstances.is_undetermined_on_cuda({"CUDA devices": "H100", "deterministic algorithms": True})
    assert not circumstances.is_undetermined_on_cuda({"torch": "2"})


USES = """
import json, sys
sys.path.insert(0, "../elsewhere")
import physics
state, data = 1.0, json.load(open("data.json"))
for epoch in range(3):
    for step in map(float, range(4)):
        state = physics.fall(state) + data["x"]
    print(epoch)
"""


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("../elsewhere/physics.py", "def fall(x):\n    return x * 9.82\n", "physics.py was changed after the run began"),
        ("data.json", '{"x": 0.25}', "data.json, which the run read, has changed since"),
        ("data.json", '{"x": 0.50}', ""),
        ("data.json", None, ""),
    ],
)
def test_what_the_run_came_by_must_be_what_it_was(workshop: Workshop, path: str, text: str | None, said: str) -> None:
    """The lines that the script prints do not depend on it."""
    workshop.write("train.py", USES)
    workshop.write("data.json", '{"x": 0.50}')
    (workshop.path / "../elsewhere").mkdir(exist_ok=True)
    workshop.write("../elsewhere/physics.py", "def fall(x):\n    return x * 9.81\n")
    os.utime(workshop.path / "data.json", (1, 1))
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    kept = (workshop.path / "train.py").read_text()
    workshop.write("train.py", kept.replace("    print(epoch)", "    print('PROBE', state)\n    print(epoch)"))
    if text is None:
        os.remove(workshop.path / "data.json")
        assert workshop.florc("replay", "train.py").code == 1  # the script cannot go on
        return
    workshop.write(path, text)
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.count("PROBE") == 3 and replayed.code == 0, replayed.said
    if said:
        assert "exact" not in replayed.said and "changed since recording: " in replayed.said and said in replayed.said
    else:
        assert "exact" in replayed.said, replayed.said


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [("17731", "17731", ""), ("17731", "2", "SIZE is another"), ("17731", None, "SIZE is not set"), (None, "2", "SIZE is set")],
)
def test_variables_that_the_script_names_must_be_what_they_were(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, then: str | None, now: str | None, said: str
) -> None:
    def put(value: str | None) -> None:
        monkeypatch.delenv("SIZE", raising=False)
        if value is not None:
            monkeypatch.setenv("SIZE", value)

    text = """
        import os
        size, total = int(os.environ.get("SIZE", 3)), 0
        os.environ["SET_BY_THE_SCRIPT"] = "1"
        for epoch in range(3):
            for step in map(float, range(3)):
                total += step
            print(epoch)
    """
    workshop.write("train.py", text)
    put(then)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    workshop.write(
        "train.py", text.replace("            print(epoch)", "            print('PROBE', total)\n            print(epoch)")
    )
    put(now)
    replayed = workshop.florc("replay", "train.py")
    assert replayed.code == 0 and replayed.out.count("PROBE") == 3
    assert ("exact" in replayed.said) == (not said) and said in replayed.said, replayed.said
    assert all(b"17731" not in path.read_bytes() for path in (workshop.path / ".florc" / "runs").glob("*/journal.0"))
