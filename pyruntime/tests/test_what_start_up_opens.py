"""Every file that florc opens before the script's first line, as something that it cannot be: the script runs as it does plainly."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from workshop import Workshop

SCRIPT = """
    print("begun", flush=True)
    for epoch in range(3):
        print("epoch", epoch)
    if epoch == 5:
        import other
"""


def _folder(path: Path) -> None:
    path.mkdir()


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket may have 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _unreadable(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0)


def _huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(4 << 30)


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": lambda path: os.mkfifo(path),
    "socket": _socket,
    "folder": _folder,
    "link to itself": _link_to_itself,
    "link to a device": _link_to_device,
    "unreadable": _unreadable,
    "4 GiB of zeros": _huge,
}
FILES = (
    ".florc",
    ".florc/store.json",
    ".florc/.gitignore",
    ".florc/packs",
    ".florc/runs",
    "config/florc",
    "config/florc/key",
    "other.py",
    ".git/HEAD",
    ".git/packed-refs",
    ".git",
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_script_runs_as_it_does_plainly(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    expected = "begun\nepoch 0\nepoch 1\nepoch 2\n"
    for number, name in enumerate(FILES):
        here = Workshop(workshop.path / str(number))
        here.path.mkdir()
        monkeypatch.setenv("XDG_CONFIG_HOME", str(here.path / "config"))
        here.write("train.py", SCRIPT)
        (here.path / ".git" / "refs").mkdir(parents=True)
        (here.path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (here.path / ".git" / "packed-refs").write_text("")
        assert here.florc("record", "-q", "train.py").out == expected
        path = here.path / name
        if path.is_dir() and not path.is_symlink():
            path.rename(path.with_name("away"))
        else:
            path.unlink(missing_ok=True)
        KINDS[kind](path)
        done = subprocess.run(
            [sys.executable, "-m", "florc", "record", "train.py"],
            cwd=here.path,
            env=here.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.stdout, done.returncode) == (expected, 0), (name, done.stderr)
        assert "Traceback" not in done.stderr, (name, done.stderr)
