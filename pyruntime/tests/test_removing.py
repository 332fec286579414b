"""`florc rm`: what is in use stays, and what cannot be read can still be removed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from workshop import Workshop

SCRIPT = """
import os, sys
for epoch in range(2):
    print(epoch, flush=True)
"""


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    made = Workshop(tmp_path)
    made.write("train.py", SCRIPT)
    assert made.florc("record", "train.py").code == 0
    return made


def _run(workshop: Workshop) -> Path:
    return next(path for path in (workshop.path / ".florc" / "runs").iterdir() if not path.name.startswith("."))


def test_a_run_that_is_being_replayed_stays(workshop: Workshop) -> None:
    run = _run(workshop)
    workshop.write("train.py", SCRIPT + '\nprint("PROBE", flush=True)\nsys.stdin.readline()\n')
    replay = workshop.start("florc", "replay", "train.py", stdin=-1)
    try:
        assert replay.stdout.readline() == "PROBE\n"  # type: ignore[union-attr]
        done = workshop.florc("rm", run.name)
        assert done.code == 2 and "is being replayed" in done.said and run.is_dir(), done
    finally:
        replay.communicate("\n", timeout=60)
    assert workshop.florc("rm", run.name).code == 0 and not run.exists()


def test_a_replay_that_was_killed_keeps_no_run(workshop: Workshop) -> None:
    run = _run(workshop)
    workshop.write("train.py", SCRIPT + '\nprint("PROBE", flush=True)\nsys.stdin.readline()\n')
    replay = workshop.start("florc", "replay", "train.py", stdin=-1)
    assert replay.stdout.readline() == "PROBE\n"  # type: ignore[union-attr]
    os.kill(replay.pid, signal.SIGKILL)
    replay.communicate(timeout=60)
    assert workshop.florc("rm", run.name).code == 0 and not run.exists()


@pytest.mark.parametrize("text", [None, "", '{"format": 2'])
def test_a_run_without_a_description_can_be_removed(workshop: Workshop, text: object) -> None:
    run = _run(workshop)
    (run / "run.json").unlink()
    if isinstance(text, str):
        (run / "run.json").write_text(text)
    told = workshop.florc("runs")
    assert f"florc rm {run.name}" in told.said, told
    assert workshop.florc("rm", run.name).code == 0 and not run.exists()
