"""A store that cannot be written to (a mount of somebody else's, a medium) can be replayed, and stays as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import leftovers
import pytest
from workshop import Workshop

SCRIPT = """
    total = 0
    for epoch in range(3):
        for step in range(5):
            total += step
        print("epoch", epoch, total)
"""


def _can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _can_mount(), reason="no file system can be mounted in a namespace here")
def test_it_is_replayed_and_stays_as_it_is(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(workshop.path / "cache"))
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", SCRIPT.replace("        print", '        print("P", total)\n        print'))
    store = workshop.path / ".florc"
    before = leftovers.tree(store, ())
    mount = f"mount --bind {store} {store} && mount -o remount,ro,bind {store} && ! touch {store}/x 2> /dev/null && exec \"$@\""
    for command, printed in (("replay", "P 10\nP 20\nP 30\n"), ("logs", None), ("show", None), ("check", None)):
        words = ["latest"] if command == "show" else [] if printed is None else ["train.py"]
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", mount, "sh", sys.executable, "-m", "florc", command, *words],
            cwd=workshop.path,
            env=workshop.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert printed is None or done.stdout == printed and "florc: exact" in done.stderr, done.stderr
    assert leftovers.tree(store, ()) == before


def test_a_folder_that_cannot_be_made_anywhere_is_said(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "train.py")
    (run,) = (workshop.path / ".florc" / "runs").iterdir()
    Path(run, "replays").write_text("a file")
    done = workshop.florc("replay", "train.py")
    assert done.code == 2 and "where the output of the script goes" in done.said and "F206" in done.said, done
    assert os.path.isfile(Path(run, "replays"))
