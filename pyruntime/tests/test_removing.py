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


def test_a_store_that_the_script_removes_is_gone(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT + '\nimport shutil\nshutil.rmtree(".florc")\n')
    plain = "0\n1\n"
    done = workshop.florc("record", "train.py")
    assert (done.out, done.code) == (plain, 0), done
    assert "was removed while the script ran: nothing of it is left" in done.said and "Errno" not in done.said, done
    assert not (workshop.path / ".florc").exists()


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
