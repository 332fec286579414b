"""What lies below a file that is read: its buffer, its descriptor, another file over the same descriptor. A recording changes nothing of
that, and a replay restores nothing that a statement could tell apart."""

from __future__ import annotations

import pytest
from workshop import Workshop

HEAD = """
import os, time
open("data.txt", "w").write("".join(f"line {n}\\n" for n in range(700)))
w = 0.0
def step(part):
    global w
    w = w * 0.9 + len(part) * 0.1
    time.sleep(0.003)
"""
LOOP = """
for epoch in range(3):
    for _ in range(6):
        step({read})
    print("epoch", epoch, round(w, 6), {shown})
    #PROBE
"""
CASES = {
    "a descriptor": ("fd = os.open('data.txt', os.O_RDONLY)", "os.read(fd, 7)", "0", "os.read(fd, 0), os.lseek(fd, 0, 1)"),
    "a descriptor of an object": (
        "class Tokens:\n    fd = os.open('data.txt', os.O_RDONLY)\n    def next(self):\n        return os.read(self.fd, 7)\nt = Tokens()",
        "t.next()",
        "0",
        "os.lseek(t.fd, 0, os.SEEK_CUR)",
    ),
    "a pipe": ("r, out = os.pipe()\nos.write(out, bytes(range(100)))", "os.read(r, 3)", "0", "os.read(r, 1)"),
    "the buffer of a text file": ("f = open('data.txt')", "f.readline()", "0", "f.buffer.tell(), f.buffer.raw.tell()"),
    "the position of a text file": ("f = open('data.txt')", "f.readline()", "0", "f.tell()"),
    "what is read ahead": ("f = open('data.txt', 'rb')", "f.readline()", "0", "f.raw.tell(), len(f.peek())"),
    "the ends of lines": ("f = open('data.txt')", "f.readline()", "0", "repr(f.newlines)"),
    "two over one descriptor": (
        "f = open('data.txt', 'rb')\ng = open(f.fileno(), 'rb', closefd=False)",
        "f.readline() + g.readline()",
        "f.readline(), g.readline(), f.seek(0) if epoch == 1 else 0",
        "f.tell(), g.tell()",
    ),
    "a descriptor and its copy": (
        "f = open('data.txt')\ng = os.fdopen(os.dup(f.fileno()))\nf.readline()",
        "f.readline()",
        "0",
        "f.tell(), g.tell()",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_lies_below_a_file_is_as_in_a_plain_run(workshop: Workshop, name: str) -> None:
    begins, read, shown, asked = CASES[name]
    text = HEAD + begins + LOOP.format(read=read, shown=shown)
    workshop.write("train.py", text)
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, plain.code), recorded
    workshop.write("train.py", text.replace("#PROBE", f'print("P", {asked})'))
    truth = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("P ")]
    done = workshop.florc("replay", "train.py")
    assert len(truth) == 3 and "Traceback" not in done.said, done
    assert "exact: " not in done.said or done.out.splitlines() == truth, (truth, done)
    if name == "the position of a text file":
        assert "3 blocks restored" in done.said and "exact: " in done.said, done.said
