"""Files that processes change which the script forks: a replay finds them as the recorded run did."""

from __future__ import annotations

import pytest
from workshop import Workshop

SCRIPT = """
import glob, os, random, time
import multiprocessing as mp
random.seed(0)
w = [0.0] * 20
CHILD
for epoch in range(3):
    for i in range(10):
        time.sleep(0.004)
        w[0] += random.random()
    one = mp.get_context("fork").Process(target=child, args=(w[0],))
    one.start()
    one.join()
    #PARENT
    print("epoch", epoch, one.exitcode, SEEN)
"""
COUNTS = """
def child(v):
    n = int(open("n.txt").read()) if os.path.exists("n.txt") else 0
    with open("n.txt", "w") as out:
        out.write(str(n + 1))
    #CHILD
"""
APPENDS = """
def child(v):
    with open("out.txt", "a") as out:
        out.write(f"{v}\\n")
    #CHILD
"""
NAMES = """
def child(v):
    with open(f"s{int(v)}.txt", "w") as out:
        out.write("s")
    if os.path.exists("s0.txt"):
        os.rename("s0.txt", "t.txt")
    #CHILD
"""
CASES = {
    "a counter, asked in the child": (COUNTS, "0", {"CHILD": 'print("PROBE", n, flush=True)'}),
    "a counter, asked behind it": (COUNTS, "0", {"PARENT": 'print("PROBE", open("n.txt").read())'}),
    "a counter that is read": (COUNTS, 'open("n.txt").read()', {"PARENT": 'print("PROBE", w[0])'}),
    "a file that grows": (APPENDS, 'len(open("out.txt").read())', {"PARENT": 'print("PROBE", w[0])'}),
    "new names": (NAMES, "0", {"PARENT": 'print("PROBE", sorted(glob.glob("*.txt")))'}),
}


@pytest.mark.parametrize("is_there", [False, True], ids=["new", "there before"])
@pytest.mark.parametrize("name", CASES)
def test_a_replay_finds_what_children_found(name: str, is_there: bool, workshop: Workshop) -> None:
    child, seen, probes = CASES[name]
    text = SCRIPT.replace("CHILD\n", child, 1).replace("SEEN", seen)

    def begin() -> None:
        for path in workshop.path.glob("*.txt"):
            path.unlink()
        for path in ("n.txt", "out.txt", "s0.txt") if is_there else ():
            workshop.write(path, "7")

    def script(**probes: str) -> str:
        return text.replace("#CHILD", probes.get("CHILD", "pass")).replace("#PARENT", probes.get("PARENT", "pass"))

    workshop.write("train.py", script())
    begin()
    plain = workshop.plain("train.py")
    begin()
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert (recorded.out, recorded.code) == (plain.out, plain.code), recorded.err
    left = {path.name: path.read_bytes() for path in workshop.path.glob("*.txt")}
    workshop.write("train.py", script(**probes))
    done = workshop.florc("replay", "train.py")
    assert left == {path.name: path.read_bytes() for path in workshop.path.glob("*.txt")}
    begin()
    truth = "".join(line for line in workshop.plain("train.py").out.splitlines(True) if line.startswith("PROBE"))
    assert done.out == truth and truth and "exact: " in done.said, done.said
