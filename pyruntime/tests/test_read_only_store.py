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
    mounts = "mount -t tmpfs none $d && mount --bind $d $d && mount -o remount,ro,bind $d"
    command = ["sh", "-c", f"d=$(mktemp -d); {mounts}; code=$?; umount -l $d; umount -l $d; rmdir $d; exit $code"]
    return subprocess.run(["unshare", "-rm", *command], capture_output=True, check=False).returncode == 0


def _in_namespace(workshop: Workshop, commands: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run shell commands, for which `"$@"` is florc with these words, where they may mount what they like."""
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", commands, "sh", sys.executable, "-m", "florc", *words],
        cwd=workshop.path,
        env=workshop.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(not _can_mount(), reason="no file system can be mounted in a namespace here")
def test_it_is_replayed_and_stays_as_it_is(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(workshop.path / "cache"))
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", SCRIPT.replace("        print", '        print("P", total)\n        print'))
    store = workshop.path / ".florc"
    before = leftovers.tree(store, ())
    mount = f'mount --bind {store} {store} && mount -o remount,ro,bind {store} && ! touch {store}/x 2> /dev/null && exec "$@"'
    for command, printed in (("replay", "P 10\nP 20\nP 30\n"), ("logs", None), ("show", None), ("check", None)):
        words = ["latest"] if command == "show" else [] if printed is None else ["train.py"]
        done = _in_namespace(workshop, mount, command, *words)
        assert done.returncode == 0, done.stderr
        assert printed is None or done.stdout == printed and "florc: exact" in done.stderr, done.stderr
    assert leftovers.tree(store, ()) == before


@pytest.mark.skipif(not _can_mount(), reason="no file system can be mounted in a namespace here")
@pytest.mark.parametrize("is_cache_full", [False, True])
def test_where_the_disk_of_the_store_is_full(workshop: Workshop, is_cache_full: bool) -> None:
    """It is replayed where there is room; where there is none, a full disk is called a full disk, before anything runs."""
    workshop.write("before.py", SCRIPT)
    workshop.write("after.py", SCRIPT.replace("        print", '        print("P", total)\n        print'))
    (workshop.path / "disk").mkdir()
    cache = "disk/cache" if is_cache_full else "cache"
    commands = f"""
        mount -t tmpfs -o size=4m none disk || exit 99
        export XDG_CACHE_HOME=$PWD/{cache} FLORC_DIR=$PWD/disk/store
        cp before.py train.py && "$@" record -q --checkpoint every train.py > /dev/null || exit 98
        cat /dev/zero > disk/fill 2> /dev/null
        cp after.py train.py && "$@" replay train.py
    """
    done = _in_namespace(workshop, commands)
    if is_cache_full:
        assert done.returncode == 2 and "no space left on device; make room" in done.stderr, done.stderr
    else:
        assert (done.returncode, done.stdout) == (0, "P 10\nP 20\nP 30\n"), done.stderr


def test_a_folder_that_cannot_be_made_anywhere_is_said(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "train.py")
    (run,) = (workshop.path / ".florc" / "runs").iterdir()
    Path(run, "replays").write_text("a file")
    done = workshop.florc("replay", "train.py")
    assert done.code == 2 and "where the output of the script goes" in done.said and "F206" in done.said, done
    assert os.path.isfile(Path(run, "replays"))
