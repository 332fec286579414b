"""Who opens a file decides what happens to it, and never where it lies: places x ways to write and to read.

In each place a script writes in every way, in a loop that a replay runs again. Then the user edits each file. After the replay every
byte, mode and time there is what it was. What was edited and is read by the script is given as it was, or the answer is unverified.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from workshop import Workshop

SCRIPT = """
    import mmap, os, pathlib, shutil
    place = pathlib.Path(PLACE)
    at = os.open(place, os.O_RDONLY)
    total = 0
    for epoch in range(3):
        for step in range(5):
            total += step
        (place / "written").write_text(f"e{epoch}")
        with open(place / "appended", "a") as file:
            file.write(f"e{epoch} ")
        with open(place / "renamed.new", "w") as file:
            file.write(f"e{epoch}")
        os.replace(place / "renamed.new", place / "renamed")
        (place / "removed").write_text("x")
        if epoch == 2:
            os.remove(place / "removed")
        with open(place / "mapped", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            mapped[0] = 65 + epoch
        here = os.getcwd()
        os.chdir(place)
        with open("relative", "w") as file:
            file.write(f"e{epoch}")
        os.chdir(here)
        with open(os.open("by_folder", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, dir_fd=at), "w") as file:
            file.write(f"e{epoch}")
        os.chmod(place / "changed", 0o600 + epoch)
        os.utime(place / "changed", (epoch + 1, epoch + 1))
        os.truncate(place / "truncated", 5 - epoch)
        shutil.rmtree(place / "folder", ignore_errors=True)
        os.makedirs(place / "folder")
        (place / "folder" / "inner").write_text(f"e{epoch}")
        print("epoch", epoch, total, (place / "given").read_text())
    os.close(at)
"""
GIVEN = {"mapped": "0" * 64, "changed": "x", "truncated": "x" * 10, "given": "7", "appended": "before "}
PREFIX, OTHER = Path(sys.prefix), Path(f"{sys.prefix}-data")


def _named(above: Path) -> Path:
    return above / f"florc-places-{os.getpid()}"


PLACES = {
    "project": Path("data"),
    "bytecode": Path("__pycache__"),
    "hidden in the project": Path(".data"),
    "temporary": _named(Path(tempfile.gettempdir())),
    "temporary of the system": _named(Path("/var/tmp")),
    "shared memory": _named(Path("/dev/shm")),
    "prefix": _named(PREFIX / "share"),
    "top of the prefix": _named(PREFIX),
    "beside the prefix": _named(OTHER),
    "packages": _named(Path(sysconfig.get_path("purelib"))),
    "standard library": _named(Path(sysconfig.get_path("stdlib"))),
    "commands": _named(Path(sysconfig.get_path("scripts"))),
    "home": Path("HOME/data"),
    "cache": Path("HOME/.cache/data"),
    "settings": Path("HOME/.config/data"),
    "data of programs": Path("HOME/.local/share/data"),
    "hidden at home": Path("HOME/.data"),
    "like the cache": Path("HOME/.cache-data"),
}
LINKED = ("temporary", "shared memory", "prefix", "packages", "home", "cache")


@pytest.fixture
def made() -> Iterator[list[Path]]:
    """Folders outside the test's own, which are removed."""
    found: list[Path] = []
    yield found
    for path in found:
        shutil.rmtree(path, ignore_errors=True)
    if OTHER.is_dir() and not any(OTHER.iterdir()):
        OTHER.rmdir()


def _tree(folder: Path) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        held = path.read_bytes() if stat.S_ISREG(about.st_mode) else None
        times = about.st_mtime_ns if held is not None else None
        found[str(path.relative_to(folder))] = (stat.filemode(about.st_mode), held, times)
    return found


def _begin(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, made: list[Path], name: str) -> tuple[Path, str]:
    """The folder, and the script's word for it."""
    home = workshop.path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    linked = name.startswith("link to ")
    place = PLACES[name.removeprefix("link to ")]
    if place.parts[0] == "HOME":
        place = home.joinpath(*place.parts[1:])
    folder = workshop.path / place
    folder.mkdir(parents=True)
    made.append(folder)
    for file, text in GIVEN.items():
        (folder / file).write_text(text)
    if linked:
        (workshop.path / "link").symlink_to(folder)
        place = Path("link")
    return folder, SCRIPT.replace("PLACE", repr(str(place)))


@pytest.mark.parametrize("name", [*PLACES, *(f"link to {name}" for name in LINKED)])
def test_what_the_user_has_stays(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, made: list[Path], name: str) -> None:
    folder, script = _begin(workshop, monkeypatch, made, name)
    workshop.write("train.py", script)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0 and recorded.out.endswith("epoch 2 30 7\n"), recorded.err
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "given":
            with open(path, "ab") as file:
                file.write(b"USER")
    before = _tree(folder)
    workshop.write("train.py", script.replace("        print", '        print("P", epoch, total)\n        print'))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P 0 10\nP 1 20\nP 2 30\n", replayed.said + replayed.err
    assert _tree(folder) == before


@pytest.mark.parametrize("name", [*PLACES, *(f"link to {name}" for name in LINKED)])
def test_data_that_changed_is_noticed(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, made: list[Path], name: str) -> None:
    """The script reads what nobody but the user writes, and prints nothing of it."""
    folder, script = _begin(workshop, monkeypatch, made, name)
    script = script.replace(
        'print("epoch", epoch, total, (place / "given").read_text())', 'given = (place / "given").read_text()'
    )
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    (folder / "given").write_text("9")
    workshop.write("train.py", script.replace("    os.close", '    print("P", given)\n    os.close'))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P 7\n" or "florc: exact" not in replayed.said and "given" in replayed.said, replayed.said


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no shared memory to write to")
def test_a_project_in_shared_memory(monkeypatch: pytest.MonkeyPatch, made: list[Path]) -> None:
    folder = _named(Path("/dev/shm"))
    folder.mkdir()
    made.append(folder)
    workshop = Workshop(folder)
    script = """
        for epoch in range(3):
            with open("log.txt", "w") as file:
                file.write(f"e{epoch}")
            print("epoch", epoch)
    """
    workshop.write("train.py", script)
    workshop.florc("record", "train.py")
    workshop.write("log.txt", "edited since")
    workshop.write(
        "train.py", script.replace("            print", '            print("P", open("log.txt").read())\n            print')
    )
    replayed = workshop.florc("replay", "train.py")
    assert (replayed.out, (folder / "log.txt").read_text()) == ("P e0\nP e1\nP e2\n", "edited since"), replayed.said
