"""A script that saves its best state and loads it at the end gets what the recorded run read, whatever lies there now."""

from __future__ import annotations

import os
import shutil

import pytest
from workshop import Workshop

SCRIPT = """
import pickle, random, sys, time
random.seed(int(sys.argv[1]))
w, best, pad = 0.0, 9e9, [0.5] * {pad}
def load():
    with open("best.pkl", "rb") as file:
        return pickle.load(file)[0]
{loop}
        w = 0.9 * w + random.random()
        time.sleep(0.003)
    loss = random.random()
    if loss < best:
        best = loss
        with open("best.pkl", "wb") as file:
            pickle.dump([w, pad], file)
    {inside}
w = load()
print("done")
"""
LOOPS = {
    "memoized": "for epoch in range(8):\n    for step in range(6):",
    "main": "class O:\n    def step(self): pass\nopt = globals()['O']()\nfor epoch in range(8):\n    for step in range(6):\n        loss = opt.step()",
    "while": "epoch = 0\nwhile epoch < 8:\n    epoch += 1\n    for step in range(6):",
}


@pytest.mark.parametrize("pad", [10, 100_000])
@pytest.mark.parametrize("loop", LOOPS)
def test_what_is_read_back_is_what_the_recorded_run_read(loop: str, pad: int, workshop: Workshop) -> None:
    text = SCRIPT.format(loop=LOOPS[loop], inside='print("epoch", epoch)', pad=pad)
    added = text.replace('print("done")', 'print("read", w)\nprint("done")')
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "--name", "one", "train.py", "1").code == 0
    left = (workshop.path / "best.pkl").read_bytes()
    fresh = Workshop(workshop.path / "fresh")
    fresh.path.mkdir()
    fresh.write("train.py", added)
    wanted = [line for line in fresh.plain("train.py", "1").out.splitlines() if line.startswith("read")]
    workshop.write("train.py", added)
    for options in ((), ("--workers", "2")):  # the file that the run left is there
        done = workshop.florc("replay", *options, "one", "train.py")
        assert (done.out.splitlines(), done.code) == (wanted, 0) and "florc: exact" in done.said, done.said
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "--name", "two", "train.py", "2").code == 0
    other = (workshop.path / "best.pkl").read_bytes()
    assert other != left
    workshop.write("train.py", added)
    done = workshop.florc("replay", "one", "train.py")
    assert (done.out.splitlines(), done.code) == (wanted, 0) and "florc: exact" in done.said, done.said
    assert (workshop.path / "best.pkl").read_bytes() == other


def test_a_file_that_is_read_in_each_iteration(workshop: Workshop) -> None:
    """What was written last by then is not on the disk any more: the writers run again."""
    text = SCRIPT.format(loop=LOOPS["main"], inside='print("epoch", epoch, load())', pad=10)
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py", "1")
    assert recorded.code == 0
    workshop.write("train.py", text.replace('    print("epoch"', '    print("read", load(), w)\n    print("epoch"'))
    shutil.copy(workshop.path / "best.pkl", workshop.path / "kept")
    wanted = [line for line in workshop.plain("train.py", "1").out.splitlines() if line.startswith("read")]
    shutil.copy(workshop.path / "kept", workshop.path / "best.pkl")
    for options, lines in (((), wanted), (("--iterations", "epoch=5:"), wanted[5:])):
        done = workshop.florc("replay", *options, "train.py")
        assert done.out.splitlines() == lines or "florc: exact" not in done.said, done


HEAD = """
import os, time
class M:
    w = 0
    def fit(self, x):
        self.w += x
        time.sleep(0.003)
m = M()
"""
AGAIN = {
    "read twice at one place": """
for epoch in range(3):
    for step in range(5):
        m.fit(step)
        open("b.txt", "w").write(str(m.w))
    first = open("b.txt").read()
    open("b.txt", "w").write("between")
    v = open("b.txt").read()
    open("b.txt", "w").write(first)
    print("epoch", epoch)
""",
    "a log that is kept open": """
log = open("b.log", "w")
for epoch in range(3):
    for step in range(5):
        m.fit(step)
        log.write(f"{m.w}\\n")
        log.flush()
    v = len(open("b.log").read())
    print("epoch", epoch)
""",
    "the best of the epoch loop": """
best = 99
for epoch in range(6):
    for step in range(5):
        m.fit(step)
    loss = abs(m.w - 25)
    if loss < best:
        best = loss
        open("b.txt", "w").write(str(m.w))
    v = open("b.txt").read()
    print("epoch", epoch)
""",
}


@pytest.mark.parametrize("name", AGAIN)
def test_the_file_of_that_moment_is_read(name: str, workshop: Workshop) -> None:
    text = HEAD + AGAIN[name]
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    added = text.replace('    print("epoch"', '    print("read", v, m.w)\n    print("epoch"')
    fresh = Workshop(workshop.path / "fresh")
    fresh.path.mkdir()
    fresh.write("train.py", added)
    wanted = [line for line in fresh.plain("train.py").out.splitlines() if line.startswith("read")]
    workshop.write("train.py", added)
    for options, lines in (((), wanted), (("--last",), wanted[-1:]), (("--iterations", "1:3"), wanted[1:3])):
        done = workshop.florc("replay", *options, "train.py")
        assert (done.out.splitlines()[-len(lines) :], done.code) == (lines, 0), done.said
        assert "florc: exact" in done.said or name == "a log that is kept open", done.said


def test_other_content_of_the_same_size_and_time_is_seen(workshop: Workshop) -> None:
    text = HEAD + AGAIN["the best of the epoch loop"].replace("    v = open", "v = open").replace(
        '    print("epoch', 'print("end'
    )
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    file = workshop.path / "b.txt"
    was, at = file.read_text(), file.stat()
    file.write_text("x" * len(was))
    os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    workshop.write("train.py", text.replace('print("end"', 'print("read", v)\nprint("end"'))
    done = workshop.florc("replay", "train.py")
    assert done.out == f"read {was}\n" and "florc: exact" in done.said, done
    assert file.read_text() == "x" * len(was)
