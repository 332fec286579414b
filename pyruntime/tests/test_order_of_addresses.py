"""Who goes over a set of objects that hash by their addresses: `florc record` says that its order is another one without florc."""

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
OTHERS = ("kept", "set(range(9))", "dict.fromkeys(kept)", "{'a', 'b'}", "{kept[0]}")


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


WAYS = {
    "comprehension": "sum([v.x * 0.1 for v in held])",
    "generator": "sum(v.x * 0.1 for v in held)",
    "list": "[v.x for v in list(held)][0]",
    "map": "list(map(lambda v: v.x, held))[0]",
    "first": "next(iter(held)).x",
    "in a function that is called in turn": "order(kept[0], [], set())[0]",
}


@pytest.mark.parametrize("checkpoint", ["every", "as it comes"])
@pytest.mark.parametrize("way", WAYS)
def test_however_the_script_goes_over_it(workshop: Workshop, way: str, checkpoint: str) -> None:
    script = f"""
        class V:
            def __init__(self, x): self.x, self.before = x, set()
        def order(v, found, seen):
            if v not in seen:
                seen.add(v)
                for child in v.before: order(child, found, seen)
                found.append(v.x)
            return found
        kept = [V(x) for x in range(20)]
        for v in kept[:10]: v.before = {{*kept[10:]}}
        held = set(kept)
        for epoch in range(3):
            print("epoch", epoch, ({WAYS[way]}) is not None)
    """
    workshop.write("train.py", script)
    recorded = workshop.florc("record", *(["--checkpoint", "every"] if checkpoint == "every" else []), "train.py")
    assert recorded.code == 0 and "in the order of their addresses" in recorded.said, recorded.said


def test_sets_of_libraries_are_theirs(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        import torch, sklearn.linear_model, copy
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
        opt = torch.optim.Adam(net.parameters())
        for epoch in range(3):
            net(torch.ones(3, 2)).sum().backward()
            opt.step()
            copy.deepcopy(net).state_dict()
            print("epoch", epoch, len({*net.parameters()}))
        """,
    )
    recorded = workshop.florc("record", "train.py")
    assert recorded.code == 0 and "addresses" not in recorded.said, recorded.said
