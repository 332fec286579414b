"""A hash that comes from the address of an object is another one in each run."""

from __future__ import annotations

import pytest
from workshop import Workshop

HASHES = {
    "(epoch, node)": False,
    "frozenset([node])": False,
    "(1, (2, frozenset([(node,)])))": False,
    "node": False,
    "(Node, 1)": False,
    "(epoch, 'a')": True,
    "'a'": True,
    "Pair(epoch)": True,
    "(1, 2.5, None)": True,
}


@pytest.mark.parametrize(("what", "is_restored"), HASHES.items(), ids=HASHES)
def test_a_hash_of_an_address_is_not_restored(workshop: Workshop, what: str, is_restored: bool) -> None:
    text = f"""
        import time
        class Node:
            pass
        class Pair:
            def __init__(self, number):
                self.number = number
            def __hash__(self):
                return hash((self.number, Node is None))
        node, kept, total = Node(), {{}}, 0
        for epoch in range(3):
            for step in range(3):
                time.sleep(0.01)
                kept[epoch] = hash({what})
            print(epoch)
    """
    file = workshop.write("train.py", text)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    file.write_text(file.read_text().replace("    print(", f"    print('PROBE', [hash({what}) == kept[epoch]])\n    print("))
    truth = [line for line in workshop.plain("train.py").out.splitlines() if "PROBE" in line]
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == truth == ["PROBE [True]"] * 3 and "exact" in replayed.said, replayed.said
    assert ("3 blocks restored" in replayed.said) == is_restored or what == "(1, 2.5, None)", replayed.said


def test_hash_stays_as_it_is_in_functions_that_may_be_compiled(workshop: Workshop) -> None:
    """`torch.compile(fullgraph=True)` knows `hash`, and refuses calls of florc."""
    workshop.write(
        "train.py",
        """
        def f(x):
            return x * (hash((1, 2)) % 3)
        g = f
        for epoch in range(2):
            for step in range(2):
                g(hash("a"))
    """,
    )
    emitted = workshop.florc("instrument", "train.py").out
    assert emitted.count("observed(hash)") == 1 and "(hash((1, 2)) % 3)" in emitted, emitted
