"""With every Python from 3.10 on that this machine has: record, replay, ask, `--steps`, a cell of a notebook, the page.

Each version gets an environment that holds the very package which these tests use: its native module is one for all versions.
Nothing is downloaded, so a version that is here and fails is a failure.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from functools import cache
from pathlib import Path

import florc
import pages
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from versions import pythons

LIBRARY = """\
import random


class SGD:
    def __init__(self, weights):
        self.weights = weights

    def backward(self):
        self.gradients = [random.random() for _ in self.weights]

    def step(self):
        self.weights[:] = [weight - 0.1 * gradient for weight, gradient in zip(self.weights, self.gradients)]
"""
TEXT = """\
import random
from some_library import SGD

random.seed(0)
weights = [0.0] * 20
optimizer = SGD(weights)
for epoch in range(4):
    for batch in range(50):
        optimizer.backward()
        optimizer.step()
    print("epoch", epoch, sum(weights))
"""
LAST = len(TEXT.splitlines())
IN_EPOCH = TEXT.replace("    print", '    print("P", min(weights))\n    print')
IN_STEP = TEXT.replace("step()\n    print", 'step()\n        print("P", batch, max(weights))\n    print')


class Python:
    """One interpreter with florc."""

    def __init__(self, path: str, folder: Path) -> None:
        subprocess.run([path, "-m", "venv", "--without-pip", str(folder)], check=True)
        self.path = str(folder / "bin" / "python")
        packages = self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).stdout.strip()
        package = Path(florc.__file__).parent
        Path(packages, "some_library.py").write_text(LIBRARY)
        shutil.copytree(package, Path(packages, package.name), ignore=shutil.ignore_patterns("__pycache__"))

    def run(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([self.path, *words], cwd=cwd, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        return done

    def florc(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "florc", *words, cwd=cwd)

    def truth(self, text: str, cwd: Path) -> list[str]:
        """The lines of the added statements in a plain run."""
        (cwd / "probed.py").write_text(text)
        return [line for line in self.run("probed.py", cwd=cwd).stdout.splitlines() if line.startswith("P ")]


FOUND = pythons()


@pytest.fixture(scope="module")
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Python:
    return environment(request.param, tmp_path_factory.mktemp)


@cache
def environment(version: str, folder: Callable[[str], Path]) -> Python:
    return Python(FOUND[version], folder(f"python{version}"))


every = pytest.mark.parametrize("python", FOUND, indirect=True)


def test_the_one_that_runs_the_tests_is_found() -> None:
    assert "{}.{}".format(*sys.version_info) in FOUND


@every
def test_answers_are_those_of_a_plain_run(python: Python, tmp_path: Path) -> None:
    train = tmp_path / "train.py"
    train.write_text(TEXT)
    plain = python.run("train.py", cwd=tmp_path).stdout
    assert python.florc("record", "--checkpoint", "every", "train.py", cwd=tmp_path).stdout == plain
    in_epoch, in_step = python.truth(IN_EPOCH, tmp_path), python.truth(IN_STEP, tmp_path)
    train.write_text(IN_EPOCH)
    replayed = python.florc("replay", "train.py", cwd=tmp_path)
    assert replayed.stdout.splitlines() == in_epoch
    # beside other work, a small block may take longer to be restored than it took to run
    assert re.search(r"[1-4] blocks? restored", replayed.stderr) and "florc: exact" in replayed.stderr, replayed.stderr
    train.write_text(IN_STEP)
    replayed = python.florc("replay", "--steps", "60:63", "train.py", cwd=tmp_path)
    assert replayed.stdout.splitlines() == in_step[60:63] and "florc: exact" in replayed.stderr, replayed.stderr
    train.write_text(TEXT)
    asked = python.florc("ask", "train.py", "--at", str(LAST), "min(weights)", cwd=tmp_path)
    assert [line.split()[-1] for line in asked.stdout.splitlines()] == [line.split()[-1] for line in in_epoch], asked.stderr


@every
def test_a_notebook_is_answered_cell_by_cell(python: Python, tmp_path: Path) -> None:
    setup, _, loop = TEXT.partition("for epoch")
    train = tmp_path / "train.ipynb"
    train.write_text(json.dumps(pages.notebook(setup, f"for epoch{loop}")))
    python.florc("record", "--checkpoint", "every", "train.ipynb", cwd=tmp_path)
    probed = IN_EPOCH.partition("for epoch")[2]
    train.write_text(json.dumps(pages.notebook(setup, f"for epoch{probed}")))
    replayed = python.florc("replay", "train.ipynb", cwd=tmp_path)
    assert replayed.stdout.splitlines() == python.truth(IN_EPOCH, tmp_path), replayed.stderr


@every
def test_the_page_answers(python: Python, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TEXT)
    python.florc("record", "train.py", cwd=tmp_path)
    server = subprocess.Popen(
        [python.path, "-u", "-m", "florc", "ui", "--no-open"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        line = server.stdout.readline()  # type: ignore[union-attr]
        (address,) = re.findall(r"http://127\.0\.0\.1:\S+", line) or [line]
        with urllib.request.urlopen(address, timeout=60) as page:
            assert page.status == 200 and b"<html" in page.read()
    finally:
        server.terminate()
        server.communicate(timeout=60)
