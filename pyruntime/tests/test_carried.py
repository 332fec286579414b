"""Which added statements keep something from one iteration for a later one."""

from __future__ import annotations

import pytest
from florc import _native


def compared(recorded: str, present: str) -> _native.Comparison:
    project = _native.Project(lambda name: None)
    project.add("__main__", "", "train.py", present)
    return _native.Comparison([("__main__", "", "train.py", recorded)], project, [])


def accumulates(text: str) -> bool:
    recorded = "\n".join(line for line in text.splitlines() if "# +" not in line)
    return compared(recorded, text).accumulates()


@pytest.mark.parametrize(
    "body",
    [
        "    n = norm(net)  # +\n    print(n, [p for p in net])  # +",
        "    total = 0  # +\n    for p in net: total += p.norm()  # +\n    print(total)  # +",
        "    with no_grad():  # +\n        out = net(x)  # +\n    print(out)  # +",
        "    if e:  # +\n        z = 1  # +\n        print(z)  # +",
        "    print(start / e)  # +",
    ],
)
def test_what_lives_in_one_iteration(body: str) -> None:
    assert not accumulates(f"start = norm(net)  # +\nfor e in range(3):\n{body}\n    step()")


@pytest.mark.parametrize(
    "text",
    [
        "norms = []  # +\nfor e in range(3):\n    norms.append(e)  # +",
        "n = 0  # +\nfor e in range(3):\n    n += 1  # +",
        "best = 0  # +\nfor e in range(3):\n    if e > best: best = e  # +\n    print(best)  # +",
        "for e in range(3):\n    for i in x:\n        learn(i)\n        g = i.grad  # +\n    print(g)  # +",
        "seen = {}  # +\nfor e in range(3):\n    seen[e] = 1  # +",
        "count = make()  # +\nfor e in range(3):\n    print(next(count))  # +",
        "seen = {}  # +\ndef hook(m, i, o):  # +\n    seen['x'] = o  # +\nfor e in range(3):\n    print(seen)  # +",
        "for e in range(3):\n    if e: print(last)  # +\n    last = e  # +",
    ],
)
def test_what_lives_on(text: str) -> None:
    assert accumulates(text + "\n    step()")


FRESH = """
out = None
for e in range(3):
    for x in data:
        out = net(x)
        if x: kept = x
    print(out)
def f():
    out = 1
    return out
"""


def test_what_every_run_of_a_loop_binds_anew() -> None:
    def is_fresh(text: str, name: str) -> bool:
        return compared(text, text).is_fresh("L2", name)

    assert is_fresh(FRESH, "out") and is_fresh(FRESH, "x")
    assert not is_fresh(FRESH.replace("print(out)", "print(kept)"), "kept") and not is_fresh(FRESH, "self.out")
    assert not is_fresh(FRESH.replace("    for x", "    print(out)\n    for x").replace("out = None\n", ""), "out")
    assert not is_fresh(FRESH.replace("    out = 1\n", ""), "out")
    assert not is_fresh(FRESH.replace("out = net(x)", "out = net(out)"), "out")
    assert not is_fresh(FRESH + "print(out)\n", "out")
