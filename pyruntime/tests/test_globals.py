"""A global that a function binds anew which a loop of another function calls: the loop's function has no `global` for it."""

from __future__ import annotations

import pytest
from workshop import Workshop

BOUND = {
    "list": "[a + 1 for a in w]",
    "of a generator": "list(a + 1 for a in w)",
    "tuple": "tuple(a + 1 for a in w)",
    "by a function": "[moved(a) for a in w]",
    "in a function": "all_moved(w)",
    "set": "{a + 1 for a in w}",
    "appended": "[*w, len(w)]",
    "changed in place, too": "w.append(1) or w + [2]",
    "map": "list(map(abs, w))",
    "for": "[]\n    for a in (0, 1):\n        w = [*w, a]",
}
SCRIPT = """
import time
w = [0.0] * 4
def moved(a): return a + 1
def all_moved(x): return [a + 1 for a in x]
def step():
    global w
    w = BOUND
def fit():
    for epoch in range(3):
        for i in range(5):
            time.sleep(0.004)
            step()
        print(epoch, sorted(w))
fit()
"""


@pytest.mark.parametrize("name", BOUND)
def test_a_global_that_is_bound_anew_is_restored(name: str, workshop: Workshop) -> None:
    text = SCRIPT.replace("BOUND", BOUND[name])
    probed = text.replace("print(epoch,", 'print("PROBE", sum(w), type(w))\n        print(epoch,')
    _, done, truth = workshop.asked(text, probed, "PROBE")
    assert (done.out, done.code) == (truth, 0) and "exact: " in done.said, done.said
    assert "3 blocks restored" in done.said, done.said
