"""Replays that are forked from a process which has done the imports: `--interactive` and workers, against replays that start cold."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from workshop import Workshop

TRAIN = """
    import random, time
    import numpy
    import numpy as np

    weights = np.zeros(8)
    for epoch in range(6):
        total = 0.0
        for step in range(4):
            time.sleep(0.01)
            weights = weights + np.random.rand(8) * random.random()
            total += float(weights.sum())
        print(epoch, total)
        # ADDED
    print(weights.round(3).tolist(), random.random(), np.random.rand())
    """
PROBE = "print('PROBE', epoch, float(weights[0]), random.getstate()[1][:3], np.random.get_state()[2])"


class Prompt:
    """A `florc replay --interactive` that waits for questions."""

    def __init__(self, process: subprocess.Popen[str]):
        self._process = process

    def ask(self, line: str, until: str) -> str:
        """Type a line; what the command says up to a line that holds `until`."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.said(until)

    def said(self, until: str) -> str:
        assert self._process.stderr is not None
        told = ""
        while until not in told:
            line = self._process.stderr.readline()
            assert line, told
            told += line
        return told

    def end(self) -> tuple[int, str]:
        """End of the questions: exit code, and all that went to standard output."""
        out, _ = self._process.communicate(timeout=300)
        return self._process.returncode, out


@contextmanager
def prompt(workshop: Workshop, *words: str) -> Iterator[Prompt]:
    process = workshop.start(sys.executable, "-m", "florc", "replay", "--interactive", *words, "train.py", stdin=subprocess.PIPE)
    watch = threading.Timer(300, lambda: os.killpg(process.pid, signal.SIGKILL))  # a test that waits for a line in vain fails
    watch.start()
    try:
        yield Prompt(process)
    finally:
        watch.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def recorded(workshop: Workshop, text: str = TRAIN) -> None:
    workshop.write("train.py", text)
    done = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert done.code == 0, done


def test_each_question_is_a_replay_of_the_script_as_it_is_then(workshop: Workshop) -> None:
    recorded(workshop)
    with prompt(workshop) as asked:
        assert "3 imports done in" in asked.said("Ctrl-D ends")
        expected = ""
        for options, probe in (("", PROBE), ("--last", PROBE), ("", "print('OTHER', total * 2)"), ("--workers 2", PROBE)):
            workshop.write("train.py", TRAIN.replace("# ADDED", probe))
            told = asked.ask(options, "reappeared unchanged")
            assert "exact: " in told
            expected += workshop.florc("replay", *options.split(), "train.py").out
        assert asked.end() == (0, expected) and expected


CHANGED = {
    "another library first": ("import numpy\n", "import json.tool, unittest.mock\nimport pluggy\nimport numpy\n"),
    "an import less": ("import numpy\n", ""),
    "one of Python's more": ("import numpy\n", "import fractions\nimport numpy\n"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_other_imports_answer_all_the_same(workshop: Workshop, name: str) -> None:
    recorded(workshop)
    old, new = CHANGED[name]
    with prompt(workshop) as asked:
        asked.said("Ctrl-D ends")
        changed = workshop.write("train.py", TRAIN.replace("# ADDED", PROBE)).read_text().replace(old, new, 1)
        workshop.write("train.py", changed)
        asked.ask("", "reappeared unchanged")
        assert asked.end() == (0, workshop.florc("replay", "train.py").out)


SPOILED = {
    "print something": ("print('hello from the library')", "its imports print something"),
    "start a thread": (
        "import threading, time; threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
        "1 threads",
    ),
    "write a file": ("open('made', 'w').close()", "its imports write"),
    "raise": ("raise OSError('no')", "raises OSError"),
    "import the project": ("import beside", "import modules of the project"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_imports_that_do_more_are_done_for_each_question(workshop: Workshop, tmp_path: Path, name: str, monkeypatch) -> None:
    library = tmp_path / "site"
    library.mkdir()
    body, why = SPOILED[name]
    (library / "doing_more.py").write_text(body + "\n")
    (library / "pyvenv.cfg").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(library))
    folder = workshop.path / "project"
    folder.mkdir()
    inside = Workshop(folder)
    inside.write("beside.py", "VALUE = 1\n")
    text = TRAIN.replace(
        "import numpy\n", "try:\n        import doing_more\n    except OSError:\n        pass\n    import numpy\n"
    )
    if name != "raise":
        text = TRAIN.replace("import numpy\n", "import doing_more\n    import numpy\n")
    recorded(inside, text)
    with prompt(inside) as asked:
        told = asked.said("Ctrl-D ends")
        if name != "raise":  # `try` is no import: nothing is imported ahead that comes after it
            assert why in told, told
        inside.write("train.py", text.replace("# ADDED", PROBE))
        asked.ask("", "reappeared unchanged")
        assert asked.end() == (0, inside.florc("replay", "train.py").out)


def test_a_library_that_was_installed_anew_is_imported_anew(workshop: Workshop, tmp_path: Path, monkeypatch) -> None:
    library = tmp_path / "site"
    library.mkdir()
    (library / "constant.py").write_text("VALUE = 1\n")
    monkeypatch.setenv("PYTHONPATH", str(library))
    folder = workshop.path / "project"
    folder.mkdir()
    inside = Workshop(folder)
    text = TRAIN.replace("import numpy\n", "import constant\n    import numpy\n")
    recorded(inside, text)
    with prompt(inside) as asked:
        asked.said("Ctrl-D ends")
        inside.write("train.py", text.replace("# ADDED", "print(constant.VALUE)"))
        (library / "constant.py").write_text("VALUE = 2  # newer\n")
        asked.ask("", "constant.py was changed after the run began")
        assert asked.end()[1].split() == ["2"] * 6


def test_the_exit_code_is_that_of_the_last_answer(workshop: Workshop) -> None:
    recorded(workshop)
    with prompt(workshop) as asked:
        asked.said("Ctrl-D ends")
        asked.ask("--no-such-option", "For more information")
        assert asked.end()[0] == 2
    with prompt(workshop) as asked:
        asked.said("Ctrl-D ends")
        assert "No closing quotation" in asked.ask("'", "No closing")
        workshop.write("train.py", "def broken(:\n")
        asked.ask("", "must be valid Python")
        workshop.write("train.py", TRAIN.replace("# ADDED", PROBE))
        asked.ask("", "reappeared unchanged")
        assert asked.end()[0] == 0


def test_ctrl_c_ends_the_answer_and_not_the_questions(workshop: Workshop) -> None:
    recorded(workshop)
    with prompt(workshop) as asked:
        asked.said("Ctrl-D ends")
        workshop.write("train.py", TRAIN.replace("# ADDED", "print('PROBE'); open('reached', 'w').close(); time.sleep(60)"))
        asked._process.stdin.write("\n")
        asked._process.stdin.flush()
        for _ in range(300):
            if (workshop.path / "reached").exists():
                break
            time.sleep(0.1)
        os.killpg(asked._process.pid, signal.SIGINT)
        asked.said("interrupted")
        workshop.write("train.py", TRAIN.replace("# ADDED", PROBE))
        asked.ask("", "reappeared unchanged")
        assert asked.end()[0] == 0


def test_a_replay_that_is_killed_ends_no_questions(workshop: Workshop) -> None:
    recorded(workshop)
    with prompt(workshop) as asked:
        asked.said("Ctrl-D ends")
        workshop.write("train.py", TRAIN.replace("# ADDED", "import os; os.kill(os.getpid(), 9)"))
        assert "ended by signal 9" in asked.ask("", "ended by signal 9")
        workshop.write("train.py", TRAIN.replace("# ADDED", PROBE))
        asked.ask("", "reappeared unchanged")
        assert asked.end()[0] == 0


def test_workers_share_one_import(workshop: Workshop, tmp_path: Path, monkeypatch) -> None:
    library = tmp_path / "site"
    library.mkdir()
    (library / "numbered.py").write_text("import os\nPID = os.getpid()\n")
    monkeypatch.setenv("PYTHONPATH", str(library))
    folder = workshop.path / "project"
    folder.mkdir()
    inside = Workshop(folder)
    text = TRAIN.replace("import numpy\n", "import numbered\n    import numpy\n").replace("0.01", "0.05")
    recorded(inside, text)
    added = "print('PROBE', epoch, step, total)"
    inside.write("train.py", text.replace("total += ", f"{added}\n            total += "))
    one, several = inside.florc("replay", "train.py"), inside.florc("replay", "--workers", "3", "train.py")
    assert several.out == one.out and several.code == one.code == 0 and "exact" in several.said, several.said
    assert "worker 3" in several.said
    inside.write("train.py", text.replace("total += ", "print(numbered.PID)\n            total += "))
    pids = inside.florc("replay", "--workers", "3", "train.py").out.split()
    assert len(pids) == 24 and len(set(pids)) == 1, pids
