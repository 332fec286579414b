"""A question that looks behind a restored value, or at the process, is never called exact."""

from __future__ import annotations

import pytest
from workshop import Workshop

SCRIPT = """
    import inspect, os, sys, traceback
    import numpy as np
    kept, rng, total = [], np.random.default_rng(0), 0.0
    for epoch in range(4):
        for step in range(10):
            rows = rng.normal(size=500)
            kept.append(rows[:6])
            total += float(rows.sum())
        #ASK
        print("epoch", epoch, total)
"""
LOOKS = (
    "sum(a.base.nbytes for a in kept)",
    "[kept[0].base.size,\n              kept[1].base.size]",
    "len(sys.modules)",
    "len(inspect.stack())",
    "len(traceback.format_stack())",
    "os.getpid()",
    "id(kept)",
)


@pytest.mark.parametrize("look", LOOKS)
def test_it_is_right_or_unverified(workshop: Workshop, look: str) -> None:
    pytest.importorskip("numpy")
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", SCRIPT.replace("#ASK", f'print("P", {look})'))
    truth = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("P ")]
    replayed = workshop.florc("replay", "train.py")
    assert len(replayed.out.splitlines()) == 4, replayed.said
    assert replayed.out.splitlines() == truth or "florc: unverified" in replayed.said, replayed.said


def test_what_only_looks_at_values_is_exact(workshop: Workshop) -> None:
    pytest.importorskip("numpy")
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", SCRIPT.replace("#ASK", 'print("P", len(kept), kept[-1][0], total)'))
    assert "florc: exact" in workshop.florc("replay", "train.py").said
