"""A loop over a set of objects that hash by their addresses: `florc record` says that its order is another one without florc."""

from __future__ import annotations

import pytest
from workshop import Workshop

SCRIPT = """
    class V:
        def __init__(self, x): self.x = x
        #HASH
    def add(v, found):
        found.append(v.x * 0.1)
    def total(values):
        found = []
        for v in values:
            add(v, found)
        return sum(found)
    kept = [V(x) for x in range(20)]
    for epoch in range(3):
        print("epoch", epoch, sorted([total(MADE)]) != [])
"""
BY_ADDRESS = ("set(kept)", "frozenset(kept)", "{(v, 1) for v in kept}")
OTHERS = ("kept", "set(range(9))", "dict.fromkeys(kept)", "{'a', 'b'}", "{kept[0]}", "sorted(set(kept), key=lambda v: v.x)")


@pytest.mark.parametrize("made", [*BY_ADDRESS, *OTHERS])
def test_it_is_said(workshop: Workshop, made: str) -> None:
    items = "v[0].x" if "(v, 1)" in made else "v" if "range" in made or "'a'" in made else "v.x"
    script = SCRIPT.replace("MADE", made).replace("v.x * 0.1", f"len(str({items}))")
    workshop.write("train.py", script)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0 and ("in the order of their addresses" in recorded.said) is (made in BY_ADDRESS), recorded.said


def test_a_class_with_a_hash_of_its_own_has_an_order(workshop: Workshop) -> None:
    script = SCRIPT.replace("MADE", "set(kept)").replace("#HASH", "def __hash__(self): return self.x")
    workshop.write("train.py", script)
    assert "addresses" not in workshop.florc("record", "--checkpoint", "every", "train.py").said
