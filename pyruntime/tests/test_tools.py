"""Programs that are no file of the project: a command that installing it made, and pytest. The project's own loops are followed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest
from florc.project.script import Script
from florc.project.territory import Territory
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


@pytest.mark.parametrize("way", ["command", "module"])
def test_a_package_that_is_installed_from_its_folder_is_recorded_and_asked(
    project: Workshop, tmp_path_factory: pytest.TempPathFactory, way: str
) -> None:
    place = tmp_path_factory.mktemp("place") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    packages = next(path for path in Path(place).rglob("site-packages"))
    # what `pip install .` leaves there, and where florc is
    shutil.move(project.path / "src" / "mine", packages / "mine")
    (packages / "mine" / "__main__.py").write_text("from .cli import main\nmain()\n")
    information = packages / "mine-1.0.dist-info"
    information.mkdir()
    (information / "direct_url.json").write_text('{"dir_info": {}, "url": "file:///somewhere/mine"}')
    files = [file.relative_to(packages).as_posix() for file in (packages / "mine").rglob("*.py")]
    (information / "RECORD").write_text("".join(f"{file},sha256=abc,1\n" for file in (*files, "../../../bin/my-train")))
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    command = place / "bin" / "my-train"
    command.write_text(f"#!{python}\nimport re\nimport sys\nfrom mine.cli import main\nsys.exit(main())\n")
    what = [os.fspath(command)] if way == "command" else ["-m", "mine"]
    environment = {**project.environment(), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, *words], cwd=project.path, env=environment, capture_output=True, text=True, check=True)

    run("-m", "florc", "record", "--checkpoint", "every", *what, "4")
    engine = packages / "mine" / "engine.py"
    engine.write_text(textwrap.dedent(PROBED))
    replayed = run("-m", "florc", "replay", "latest")
    assert replayed.stdout.splitlines() == _expected(run(*what, "4").stdout), replayed.stderr
    assert "4 blocks restored" in replayed.stderr and "exact: " in replayed.stderr, replayed.stderr


def test_libraries_inside_the_project_are_left_alone(project: Workshop) -> None:
    libraries = project.path / "libs"
    (libraries / "lib-1.0.dist-info").mkdir(parents=True)
    (libraries / "lib-1.0.dist-info" / "RECORD").write_text("lib/__init__.py,,\nsingle.py,,\n")
    (libraries / "lib").mkdir()
    for name in ("lib/__init__.py", "single.py", "own.py"):
        (libraries / name).write_text("def f():\n    for n in range(3):\n        pass\n")
    project.write("pyproject.toml", "")
    project.write("train.py", "import lib, own, single\nlib.f(), own.f(), single.f()\nprint(1)\n")
    script = Script(os.fspath(project.path / "train.py"), "", [], None)
    sys.path.append(os.fspath(libraries))
    try:
        territory = Territory(script)
    finally:
        sys.path.remove(os.fspath(libraries))
    owned = {name: territory.owns(os.fspath(libraries / name)) for name in ("lib/__init__.py", "single.py", "own.py")}
    assert owned == {"lib/__init__.py": False, "single.py": False, "own.py": True}
    assert territory.find("lib") is None and territory.find("own") is not None


def test_a_module_that_was_missing_when_it_was_asked_for_is_followed_later(workshop: Workshop) -> None:
    script = """
        import importlib.util
        import sys
        for _ in range(3):
            assert importlib.util.find_spec("later") is importlib.util.find_spec("never_there") is None
        sys.path.insert(0, "src")
        from later import fit
        fit(3)
    """
    workshop.write("train.py", script)
    (workshop.path / "src").mkdir()
    later = workshop.path / "src" / "later.py"
    later.write_text(textwrap.dedent(ENGINE))
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert (recorded.out, recorded.code) == (plain.out, 0), recorded.err
    later.write_text(
        textwrap.dedent(ENGINE).replace(
            "        train_one(model)\n", '        train_one(model)\n        print("P", sum(model.weights))\n'
        )
    )
    replayed = workshop.florc("replay", "train.py")
    truth = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("P ")]
    assert replayed.out.splitlines() == truth and len(truth) == 3
    assert "later.L1" in replayed.said and "exact: " in replayed.said, replayed.said
