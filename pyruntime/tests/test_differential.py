"""R0: a recorded program is the plain program, in everything that a user can see (`testdata/faithful`)."""

from __future__ import annotations

import os
import py_compile
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import leftovers
import pytest

TOPICS = Path(__file__).resolve().parents[2] / "testdata" / "faithful"
BUSY = "import time as _time\ndef busy(): _time.sleep(0.003)\n"
"""Blocks take long enough to be kept."""


class Program(NamedTuple):
    name: str
    text: str
    facts: dict[str, str]


def programs() -> list[Program]:
    found = []
    for topic in sorted(TOPICS.glob("*.txt")):
        for part in topic.read_text().split("#: ")[1:]:
            head, _, text = part.partition("\n")
            name, *words = head.split()
            found.append(Program(f"{topic.stem}:{name}", text, dict(word.split("=", 1) for word in words)))
    return found


PROGRAMS = programs()
# What differs for a reason, as it does between two plain runs.
_UNSTEADY = re.compile(r"0x[0-9a-f]+|/tmp/[^\s'\"]*(?=/(?:work|cafx|caf))|\d+\.\d+s?")


class Outcome(NamedTuple):
    code: int
    out: bytes
    err: bytes
    left: dict[str, str]


def _write(program: Program, work: Path) -> tuple[list[bytes], Path, bytes]:
    """Put the program there: the words that name it, the folder it runs in, its standard input."""
    text = program.text
    if "busy()" in text:
        (work / "busy_.py").write_text(BUSY)
        text = re.sub(r"\bbusy\(\)", "__import__('busy_').busy()", text)
    way, data, folder = program.facts.get("as", ""), text.encode(), work
    words, stdin = [b"train.py"], b""
    if program.facts.get("stdin") == "text":
        stdin = b"one\ntwo\nthree\nfour"
    if way in ("stdin", "devstdin"):
        words, stdin = [b"-" if way == "stdin" else b"/dev/stdin"], data
    elif way == "zipapp":
        with zipfile.ZipFile(work / "app.pyz", "w") as archive:
            archive.writestr(zipfile.ZipInfo("__main__.py"), text)  # without the time of day
            archive.writestr(zipfile.ZipInfo("busy_.py"), (work / "busy_.py").read_bytes())
        words = [b"app.pyz"]
    elif way == "pyc":
        (work / "train.py").write_bytes(data)
        py_compile.compile(
            str(work / "train.py"), cfile=str(work / "train.pyc"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
        os.remove(work / "train.py")
        words = [b"train.pyc"]
    elif way in ("folder", "module"):
        (work / "pkg").mkdir()
        (work / "pkg" / "__main__.py").write_bytes(data)
        (work / "pkg" / "__init__.py").write_bytes(b"")
        if way == "folder":
            shutil.copy(work / "busy_.py", work / "pkg" / "busy_.py")
        words = [b"pkg"] if way == "folder" else [b"-m", b"pkg"]
    elif way == "latin":
        words = [b"caf\xe9.py"]
        Path(os.fsdecode(bytes(work) + b"/caf\xe9.py")).write_bytes(data)
    elif way == "latinfolder":
        folder = Path(os.fsdecode(bytes(work) + b"/caf\xe9"))
        folder.mkdir()
        (folder / "train.py").write_bytes(data)
        shutil.copy(work / "busy_.py", folder / "busy_.py")
    elif way == "link":
        (work / "real").mkdir()
        (work / "real" / "train.py").write_bytes(data)
        shutil.copy(work / "busy_.py", work / "real" / "busy_.py")
        (work / "train.py").symlink_to("real/train.py")
    elif way == "deleted":
        (work / "train.py").write_bytes(data)
        words = [os.fsencode(work / "train.py")]
    else:
        coded = {
            "bom": b"\xef\xbb\xbf" + data,
            "crlf": data.replace(b"\n", b"\r\n"),
            "latin1": b"# coding: latin-1\n" + text.encode("latin-1", "replace"),
        }
        (work / "train.py").write_bytes(coded.get(way, data))
    words += [word.encode() for word in program.facts.get("args", "").split(",") if word]
    if way == "latinargs":
        words.append(b"caf\xe9")
    return words, folder, stdin


def _run(program: Program, base: Path, how: tuple[str, ...]) -> Outcome:
    if base.exists():
        shutil.rmtree(base)
    work = base / "work"
    work.mkdir(parents=True)
    words, folder, stdin = _write(program, work)
    options = [word for word in program.facts.get("python", "").split(",") if word]
    command = [os.fsencode(sys.executable), *map(str.encode, options), *map(str.encode, how), *words]
    shell = b'exec "$@"'
    if program.facts.get("stdin") == "closed":
        shell += b" <&-"
    if program.facts.get("stdout") in ("closed", "full"):
        shell += b" >&-" if program.facts["stdout"] == "closed" else b" >/dev/full"
    if program.facts.get("stdout") == "broken":
        shell = b'"$@" | true; exit ${PIPESTATUS[0]}'
    if program.facts.get("as") == "deleted":
        (base / "gone").mkdir()
        shell = b"cd ../gone && rmdir ../gone && " + shell
    if program.facts.get("as") == "pipe":
        (work / "source").write_bytes((work / "train.py").read_bytes())
        os.remove(work / "train.py")
        shell, command = b'source=$1; shift; exec "$@" <(cat "$source")', [b"source", *command[:-1]]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("FLORC_DIR", None)
    env.pop("PYTHONUNBUFFERED", None)
    done = subprocess.run(
        [b"bash", b"-c", shell, b"bash", *command], cwd=folder, env=env, input=stdin, capture_output=True, timeout=120
    )
    return Outcome(done.returncode, done.stdout, done.stderr, leftovers.tree(work))


def _seen(text: bytes) -> list[str]:
    lines = text.decode("utf-8", "backslashreplace").splitlines()
    return [_UNSTEADY.sub("~", line) for line in lines if not line.startswith("florc: ")]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_recorded_is_plain(program: Program, tmp_path: Path) -> None:
    plain = _run(program, tmp_path / "a", ())
    recorded = _run(program, tmp_path / "a", ("-m", "florc", "record", "--checkpoint", "every"))
    assert _seen(recorded.out) == _seen(plain.out)
    assert _seen(recorded.err) == _seen(plain.err)
    assert recorded.code == plain.code
    assert leftovers.differences(plain.left, recorded.left) == {}


def test_there_are_many() -> None:
    assert len(PROGRAMS) >= 110 and len({program.name for program in PROGRAMS}) == len(PROGRAMS)
