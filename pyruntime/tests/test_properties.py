"""P3, P4, P5, P8 on every fixture: same bytes each time, only additions, Python of every version takes it, and without a
session the instrumented program is the plain one. (P1 is in the snapshot tests, P6 in test_positions.py, P7 and P9 in tests/replay.)
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from florc import _native

TESTDATA = Path(__file__).resolve().parents[2] / "testdata"
FIXTURES = sorted(
    path
    for folder in ("paper", "rules", "loops", "calls", "syntax", "scripts", "projects")
    for path in (TESTDATA / folder).rglob("*.py")
)
COMPILE = """
import json, sys
for name, text in json.load(sys.stdin):
    try:
        compile(text[0], name, "exec", dont_inherit=True)
    except SyntaxError:
        continue  # newer than this Python
    compile(text[1], name, "exec", dont_inherit=True)
"""


def instrument(path: Path) -> list[str]:
    """The text of a fixture and its instrumented text."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return [text, _native.instrument(text, path.name).text]


def readable() -> list:
    """Fixtures that are UTF-8 and Python to the compiler."""
    found = []
    for path in FIXTURES:
        try:
            found.append((path, instrument(path)))
        except (SyntaxError, UnicodeError):
            continue
    return found


def pythons() -> list[str]:
    """Every Python from 3.10 to 3.14 on this machine, this one included."""
    found = {sys.version_info[:2]: sys.executable}
    for minor in range(10, 15):
        installed = sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/bin/python")))
        candidate = installed[-1] if installed else shutil.which(f"python3.{minor}")
        if candidate:
            found.setdefault((3, minor), candidate)
    return list(found.values())


def test_instrumenting_gives_the_same_bytes_each_time_and_only_adds() -> None:
    texts = readable()
    assert len(texts) > 30
    for path, (before, after) in texts:
        assert instrument(path)[1] == after, path
        remaining = iter(after)
        assert all(char in remaining for char in before.lstrip("\ufeff")), f"{path}: some of its text is gone"


@pytest.mark.parametrize("python", pythons())
def test_the_emitted_text_compiles(python: str) -> None:
    texts = json.dumps([(path.name, text) for path, text in readable()])
    ran = subprocess.run([python, "-c", COMPILE], input=texts, text=True, capture_output=True)
    assert ran.returncode == 0, ran.stderr
