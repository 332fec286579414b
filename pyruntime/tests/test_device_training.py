"""A training on a device is recorded with a stand-in for the device, and replayed exactly."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from florc._native import RunReader  # noqa: E402
from recorder_scripts import until  # noqa: E402
from workshop import Workshop  # noqa: E402

SCRIPT = """
    import time, torch
    torch.set_num_threads(1)  # under load, plain runs of two threads differ from one another now and then
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(20, 50), torch.nn.Tanh(), torch.nn.Linear(50, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for epoch in range(6):
        total = 0.0
        for step in range(4):
            x = torch.randn(64, 20)
            loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            time.sleep(0.01)
        print(epoch, total)
"""
SITE = """
    import os, sys
    if "_FLORC_STARTED" in os.environ and sys.argv[1:2] == ["record"]:
        sys.path.insert(0, {tests!r})
        import fake_device
        from florc.staging import staging
        device = fake_device.install(fake_device.FakeDevice({options}))
        {more}
        sys.path.remove({tests!r})
"""


def record(workshop: Workshop, monkeypatch: Any, options: str, more: str = "") -> Any:
    """`florc record train.py` with the fake device, which the process that florc starts for the script finds installed."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    site = workshop.path.parent / f"{workshop.path.name}-site"
    site.mkdir(exist_ok=True)
    text = textwrap.dedent(SITE).format(
        tests=str(Path(__file__).parent), options=options, more=textwrap.indent(textwrap.dedent(more), "    ").strip()
    )
    (site / "sitecustomize.py").write_text(text)
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]))
        return workshop.florc("record", "--checkpoint", "every", "train.py")


@pytest.mark.parametrize("options", ["patience=3", "room_bytes=0, patience=3"])
def test_a_recorded_training_replays_exactly(workshop, monkeypatch, options):
    file = workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py")
    recorded = record(workshop, monkeypatch, options)
    assert (recorded.out, recorded.code) == (plain.out, 0), recorded.said
    kept = re.search(r"(\d+) checkpoints", recorded.said)  # of the six blocks, and of some steps
    assert kept and int(kept.group(1)) >= 6, recorded.said
    file.write_text(file.read_text() + "    print('PROBE', net[0].weight.double().sum().item())\n")
    expected = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == expected and replayed.code == 0 and "exact" in replayed.said, replayed.said


def test_a_training_whose_device_never_finishes_ends_as_it_would(workshop, monkeypatch):
    workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py")
    recorded = record(workshop, monkeypatch, "patience=None", "staging.Staging.finish.__defaults__ = (0.5, 1.0)")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, 0)
    assert "0 checkpoints" in recorded.said and "0.5 s after the end of the run" in recorded.said


def test_a_training_on_a_full_device_ends_as_it_would(workshop, monkeypatch):
    workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py")
    recorded = record(workshop, monkeypatch, "patience=1", "device.out_of_memory = True")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, 0)
    assert "0 checkpoints" in recorded.said and "out of memory" in recorded.said


def test_a_killed_training_loses_only_what_was_on_its_way(workshop, monkeypatch):
    file = workshop.write("train.py", SCRIPT)
    file.write_text(
        f"import os, signal\n{file.read_text()}    if epoch == 4:\n        time.sleep(1)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # three checkpoints come through, then the device stands still
    more = textwrap.dedent("""
        advance, count = device.advance, [0]
        def some():
            count[0] += 1
            return advance() if count[0] <= 3 else None
        device.advance = some
    """)
    recorded = record(workshop, monkeypatch, "patience=0", more)
    assert recorded.code == -9
    store = workshop.path / ".florc"
    (run,) = (store / "runs").iterdir()

    def kept() -> int:
        return sum(kind == "checkpoint" for kind, _ in RunReader(str(store), run.name).records())

    until(lambda: kept() >= 3)
    assert kept() == 3 and RunReader(str(store), run.name).damaged_packs() == []
