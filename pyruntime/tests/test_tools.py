"""Programs that are no file of the project: a command that installing it made, and pytest. The project's own loops are followed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from workshop import Workshop

ENGINE = """
    import random


    class Model:
        def __init__(self):
            self.weights = [0.0] * 200

        def step(self, batch):
            self.weights = [weight + batch * random.random() for weight in self.weights]


    def train_one(model):
        for batch in range(20):
            model.step(batch)


    def fit(epochs):
        random.seed(0)
        model = Model()
        for epoch in range(epochs):
            train_one(model)
            print("epoch", epoch, model.weights[0])
    """
LINE = 'print("epoch", epoch, model.weights[0])'
PROBED = ENGINE.replace(LINE, f'{LINE}\n            print("PROBE", epoch, sum(model.weights))')


@pytest.fixture
def project(workshop: Workshop) -> Workshop:
    for folder in ("src/mine", "tests"):
        (workshop.path / folder).mkdir(parents=True)
    workshop.write("pyproject.toml", '[project]\nname = "mine"\n[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    workshop.write("src/mine/__init__.py", "")
    workshop.write("src/mine/engine.py", ENGINE)
    workshop.write("src/mine/cli.py", "import sys\nfrom .engine import fit\n\n\ndef main():\n    return fit(int(sys.argv[1]))\n")
    workshop.write("tests/test_fit.py", "from mine.engine import fit\n\n\ndef test_fit():\n    fit(4)\n")
    return workshop


def _expected(out: str) -> list[str]:
    found = [line for line in out.splitlines() if line.startswith("PROBE")]
    assert len(found) == 4
    return found


def test_pytest_is_recorded_and_asked(project: Workshop) -> None:
    words = ("-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", "tests")
    project.florc("record", "--checkpoint", "every", *words)
    project.write("src/mine/engine.py", PROBED)
    replayed = project.florc("replay", "latest")
    assert replayed.out.splitlines() == _expected(project.plain(*words).out), replayed.said
    assert "4 blocks restored" in replayed.said and "exact: " in replayed.said, replayed.said


def test_the_loops_of_a_test_file_are_followed_and_pytest_keeps_and_shows_what_it_does_alone(
    project: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    wrong = "\n    def test_wrong():\n        assert [1, 2] == [1, 3], 'on purpose'\n\n"
    loop = wrong + ENGINE + "\n\n    def test_fit():\n        fit(4)\n"
    file = project.write("tests/test_loop.py", loop)
    words = ("-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", os.fspath(file))

    def without_time(out: str) -> str:
        return re.sub(r"in \d+\.\d+s", "", out)

    def kept() -> bytes:
        found = next(file.parent.glob("__pycache__/test_loop.*-pytest-*.pyc"))
        bytecode = found.read_bytes()
        found.unlink()
        return bytecode

    plain, bytecode = project.plain(*words), kept()
    recorded = project.florc("record", "--checkpoint", "every", *words)
    assert plain.code == recorded.code == 1
    assert without_time(plain.out) == without_time(recorded.out) and "At index 1 diff: 2 != 3" in plain.out
    assert kept() == bytecode
    project.write("tests/test_loop.py", loop.replace(LINE, PROBED[PROBED.index(LINE) : PROBED.rindex(")") + 1]))
    replayed = project.florc("replay", "latest")
    assert replayed.out.splitlines() == _expected(project.plain(*words).out), replayed.said
    assert "4 blocks restored" in replayed.said and "exact: " in replayed.said, replayed.said


def test_a_command_of_an_environment_is_recorded_and_asked(project: Workshop, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("place") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    command = place / "bin" / "my-train"
    command.write_text(f"#!{python}\nimport sys\nfrom mine.cli import main\nsys.exit(main())\n")
    packages = next(path for path in Path(place).rglob("site-packages"))
    # what `pip install -e .` leaves there, and where florc is
    (packages / "mine.pth").write_text(f"{project.path / 'src'}\n{sysconfig.get_path('purelib')}\n")
    environment = {**project.environment(), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, *words], cwd=project.path, env=environment, capture_output=True, text=True, check=True)

    run("-m", "florc", "record", "--checkpoint", "every", os.fspath(command), "4")
    project.write("src/mine/engine.py", PROBED)
    replayed = run("-m", "florc", "replay", os.fspath(command))
    assert replayed.stdout.splitlines() == _expected(run(os.fspath(command), "4").stdout)
    assert "4 blocks restored" in replayed.stderr and "exact: " in replayed.stderr, replayed.stderr
