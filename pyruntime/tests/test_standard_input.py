"""What a script reads from standard input is recorded where florc looks, and given back; elsewhere the answer is unverified."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest
from workshop import Done, Workshop

TYPED = """
    import sys, time
    total = 0
    name = input("name? ")
    for epoch in range(3):
        for i in range(2):
            time.sleep(0.01)
            total += int(input())
        print(epoch, total, name)
    READ
    try:
        input("more? ")
    except EOFError:
        print("end", repr(seen))
"""
LINES = "bob é\n1\n2\n3\n4\n5\n6\nrest\n\nmore\nlines"
WAYS = {
    "read": "seen = sys.stdin.read()",
    "readline": "seen = [sys.stdin.readline() for _ in range(9)]",
    "readlines": "seen = [len(sys.stdin.readlines(5)), sys.stdin.readlines()]",
    "iterated": "seen = [line for line in sys.stdin]",
    "loop": "seen = []\n    for line in sys.stdin:\n        time.sleep(0.01)\n        seen.append(line)",
    "input": "seen = [input(i) for i in range(4)]",
    "bytes": "seen = [sys.stdin.buffer.readline(), sys.stdin.buffer.read()]",
    "limited": "seen = [sys.stdin.read(3), sys.stdin.read()]",
    "left early": "seen = []\n    for line in sys.stdin:\n        seen.append(line)\n        break\n    seen += [sys.stdin.readline(), sys.stdin.read()]",
    "replaced": "import io\n    own, sys.stdin = sys.stdin, io.StringIO('a\\nb')\n    seen = [input(), sys.stdin.read()]\n"
    "    sys.stdin = own\n    seen += [sys.stdin.read()]",
}
UNSEEN = {
    "fileinput": "import fileinput; seen = list(fileinput.input())",
    "json": "import csv; seen = list(csv.reader(sys.stdin))",
    "alias": "read = sys.stdin.read; seen = read()",
    "enumerated": "seen = list(enumerate(sys.stdin))",
    "next": "seen = next(sys.stdin)",
    "descriptor": "import os; seen = os.read(0, 99)",
    "opened": "seen = open(0, closefd=False).read()",
    "named": "seen = open('/dev/stdin').read()",
}


def given(workshop: Workshop, text: str, *words: str) -> Done:
    """A command of florc, or a plain run, that is given a text."""
    (workshop.path / "given").write_text(text)
    command = words if words[0] == "train.py" else ("-m", "florc", *words)
    return workshop.run("sh", "-c", '"$0" -u "$@" < given', sys.executable, *command)


def script(read: str) -> str:
    return TYPED.replace("READ", read)


def probed(workshop: Workshop, read: str) -> list[str]:
    """Adds statements, and tells what a plain run prints there."""
    file = workshop.write("train.py", script(read))
    file.write_text(
        re.sub(r"( +)(print\(epoch.*)", r"\1print('PROBE', total, name)\n\1\2", file.read_text()) + "print('PROBE', repr(seen))\n"
    )
    return re.findall("PROBE.*", given(workshop, LINES, "train.py").out)  # a prompt may stand before


@pytest.mark.parametrize("read", WAYS.values(), ids=WAYS)
def test_what_is_read_is_given_back(workshop: Workshop, read: str) -> None:
    workshop.write("train.py", script(read))
    plain, recorded = given(workshop, LINES, "train.py"), given(workshop, LINES, "record", "--overhead", "0.9", "train.py")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, 0), recorded.said
    truth = probed(workshop, read)
    for text, options in (
        ("", ()),
        ("other\n" * 20, ("--step-into", "all")),
        ("", ("--step-into", "all")),
        ("other\n" * 20, ("--workers", "2", "--step-into", "all")),
    ):
        replayed = given(workshop, text, "replay", *options, "train.py")
        assert replayed.out.splitlines() == truth and replayed.code == 0 and "exact" in replayed.said, (
            options,
            replayed.out,
            replayed.said,
        )


@pytest.mark.parametrize("read", UNSEEN.values(), ids=UNSEEN)
def test_what_is_read_on_some_other_way_is_told(workshop: Workshop, read: str) -> None:
    workshop.write("train.py", script(read))
    assert given(workshop, LINES, "record", "train.py").code == 0
    probed(workshop, read)
    replayed = given(workshop, "x", "replay", "train.py")
    assert "standard input was read in a way that is not recorded" in replayed.said or replayed.code == 1, replayed.said
    assert "exact" not in replayed.said


def test_more_than_is_kept_is_told(workshop: Workshop) -> None:
    file = workshop.write(
        "train.py", "import sys, time\nfirst = input()\nbegun = time.time()\nrest = sys.stdin.read()\nprint(first, begun)\n"
    )
    text = "first\n" + "x" * (1 << 22) + "\n"
    assert given(workshop, text, "record", "train.py").code == 0
    file.write_text(file.read_text() + "print('PROBE', first, len(rest))\n")
    for data, length in ((text, len(text)), ("", 0)):
        replayed = given(workshop, data, "replay", "train.py")
        assert replayed.out == f"PROBE first {length}\n" and "standard input was read" in replayed.said, replayed.said


def test_more_than_was_recorded_is_told(workshop: Workshop) -> None:
    file = workshop.write("train.py", "import sys\nprint(len(sys.argv))\nif sys.gettrace(): input()\n")
    assert given(workshop, "", "record", "train.py").code == 0
    file.write_text(file.read_text().replace("if sys.gettrace()", "if True") + "print('PROBE')\n")
    replayed = given(workshop, "a\n", "replay", "train.py")
    assert "unverified" in replayed.said and "standard input was read" in replayed.said, replayed.said


def test_an_added_statement_reads_what_the_replay_is_given(workshop: Workshop) -> None:
    file = workshop.write("train.py", "print(input())\nfor epoch in range(2):\n    print(epoch)\n")
    assert given(workshop, "recorded\n", "record", "train.py").code == 0
    file.write_text(file.read_text().replace("    print", "    print('PROBE', input())\n    print"))
    replayed = given(workshop, "a\nb\n", "replay", "train.py")
    assert replayed.out == "PROBE a\nPROBE b\n" and "exact: 3 recorded lines" in replayed.said, replayed.said


def test_a_prompt_on_a_terminal_is_no_line_of_the_script(workshop: Workshop) -> None:
    file = workshop.write(
        "train.py",
        """
        name = input("name? ")
        try:
            input("more? ")
        except EOFError:
            print("hello", name)
    """,
    )
    controller, terminal = pty.openpty()
    environment = {**workshop.environment(), "TERM": "dumb"}
    recording = subprocess.Popen(
        [sys.executable, "-m", "florc", "record", "train.py"],
        cwd=workshop.path,
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    os.write(controller, b"bob\n\x04")
    assert recording.wait(60) == 0, recording.stderr.read()  # type: ignore[union-attr]
    os.close(controller)
    file.write_text(file.read_text() + "print('PROBE', name)\n")
    replayed = given(workshop, "", "replay", "train.py")
    assert replayed.out == "PROBE bob\n" and "exact: 1 recorded line" in replayed.said, replayed.said


def test_the_name_of_the_machine_is_given_back(workshop: Workshop) -> None:
    """A stand-in for another machine: `hostname` is one function of C below both."""
    file = workshop.write(
        "train.py",
        """
        import os, platform, socket
        if "OTHER" in os.environ:
            platform.uname = lambda: platform.uname_result("", "elsewhere", "", "", "")
        name = platform.node()
        print(name, socket.gethostname())
    """,
    )
    recorded = workshop.florc("record", "train.py")
    file.write_text(file.read_text() + "print('PROBE', name, platform.node())\n")
    replayed = workshop.run("env", "OTHER=1", sys.executable, "-m", "florc", "replay", "train.py")
    assert replayed.out == f"PROBE {recorded.out.split()[0]} elsewhere\n", replayed
    # an added statement that asks has the name of this machine
    assert "exact: " not in replayed.said and "called platform.node, which gives the present value" in replayed.said, replayed
