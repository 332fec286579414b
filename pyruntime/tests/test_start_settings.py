"""What Python is started with, and what its standard streams are: a recorded run leaves what a plain one leaves."""

from __future__ import annotations

import subprocess
import sys

import leftovers
import pytest
from workshop import Workshop

VARIABLES = (
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONOPTIMIZE",
    "PYTHONDEVMODE",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONFAULTHANDLER",
    "PYTHONMALLOC",
)
SETTINGS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "none": ({}, ()),
    "unbuffered": ({"PYTHONUNBUFFERED": "1"}, ()),
    "no bytecode": ({"PYTHONDONTWRITEBYTECODE": "1"}, ()),
    "hash seed": ({"PYTHONHASHSEED": "7"}, ()),
    "optimized": ({"PYTHONOPTIMIZE": "2"}, ()),
    "-O": ({}, ("-O",)),
    "-X dev": ({}, ("-X", "dev")),
    "malloc": ({"PYTHONMALLOC": "malloc"}, ()),
    "encoding": ({"PYTHONIOENCODING": "latin-1:replace"}, ()),
}
PROGRAMS = {
    "printed by __del__ of a global": """
        class D:
            def __del__(self): print("fin")
        a = D()
        for epoch in range(3): print("epoch", epoch)
    """,
    "printed by __del__ of what is imported": """
        import helper
        helper.kept = helper.D()
        print("end", end="")
    """,
    "registered for the end": """
        import atexit, sys
        atexit.register(print, "at exit")
        for epoch in range(3): sys.stdout.write(f"epoch {epoch}")
    """,
    "not at the end of a line": """
        import sys, weakref
        class D: pass
        d = D()
        weakref.finalize(d, print, "finalized")
        for epoch in range(3): print("epoch", epoch, end=" ")
        print("é", file=sys.stderr, end="")
    """,
    "a file that stays open": """
        file = open("log.txt", "w")
        for epoch in range(3): print("epoch", epoch, file=file)
        kept = [file, print]
    """,
    "raised": """
        class D:
            def __del__(self): print("fin")
        a = D()
        for epoch in range(3):
            assert epoch < 2, "asserted"
            print("epoch", epoch)
    """,
    "left": """
        import sys
        class D:
            def __del__(self): print("fin")
        a = D()
        for epoch in range(3):
            if epoch == 2: sys.exit("left")
            print("epoch", epoch)
    """,
}
HELPER = """
    class D:
        def __del__(self): print("fin")
"""


def _ended(
    workshop: Workshop, words: list[str], known: dict[str, str], options: str = ""
) -> tuple[int, bytes, bytes, dict[str, str]]:
    """Exit code, output and errors (florc's own lines left out), and what is left in the folder."""
    environment = {name: value for name, value in workshop.environment().items() if name not in VARIABLES}
    command = ["sh", "-c", f'exec "$@" {options}', "sh", sys.executable, *words]
    done = subprocess.run(command, cwd=workshop.path, env={**environment, **known}, capture_output=True, timeout=120, check=False)
    left = leftovers.tree(workshop.path)
    for path in set(left) - {"train.py", "helper.py"}:
        (workshop.path / path).unlink()
    said = b"".join(line for line in done.stderr.splitlines(True) if not line.startswith(b"florc: "))
    return done.returncode, done.stdout, said, left


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_python_is_started_with(workshop: Workshop, setting: str) -> None:
    known, options = SETTINGS[setting]
    workshop.write("helper.py", HELPER)
    for name, text in PROGRAMS.items():
        workshop.write("train.py", text)
        plain = _ended(workshop, [*options, "train.py"], known)
        recorded = _ended(workshop, [*options, "-m", "florc", "record", "-q", "train.py"], known)
        assert recorded == plain, (name, [(a, b) for a, b in zip(recorded, plain) if a != b])


@pytest.mark.parametrize(
    "closed", ["2>&-", "1>&-", "0<&-", "1>&- 2>&-", "0<&- 1>&- 2>&-", "> out.txt 2>&-", "> out.txt 2>&1", "2> err.txt"]
)
def test_standard_streams_that_are_closed_or_files(workshop: Workshop, closed: str) -> None:
    workshop.write("helper.py", HELPER)
    for name, text in PROGRAMS.items():
        workshop.write("train.py", text)
        plain = _ended(workshop, ["train.py"], {}, closed)
        recorded = _ended(workshop, ["-m", "florc", "record", "-q", "train.py"], {}, closed)
        assert recorded == plain, (name, [(a, b) for a, b in zip(recorded, plain) if a != b])


def test_where_standard_error_is_closed_florc_is_silent(workshop: Workshop) -> None:
    text = PROGRAMS["a file that stays open"]
    workshop.write("train.py", text)
    assert _ended(workshop, ["-m", "florc", "record", "train.py"], {}, "2>&-")[1] == b""
    workshop.write(
        "train.py", text.replace("for epoch in range(3): ", "for epoch in range(3):\n            print('P', epoch)\n            ")
    )
    assert _ended(workshop, ["-m", "florc", "replay", "train.py"], {}, "2>&-")[:2] == (0, b"P 0\nP 1\nP 2\n")
