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


SUBCLASSES = {
    "of set": "class Own(set): pass",
    "of frozenset": "class Own(frozenset): pass",
    "of a subclass": "class Above(set): pass\nclass Own(Above): pass",
    "that goes over itself": "class Own(set):\n    def __iter__(self): return super().__iter__()",
    "that asks its base": "class Own(frozenset):\n    def __iter__(self): yield from frozenset.__iter__(self)",
    "as the class of another file": "from own import Own",
    "made before the script began": "import sys; Own = sys.Own",
    "of one that was": "import sys\nclass Own(sys.Own): pass",
    "in C": """
import ctypes
class Spec(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("sizes", ctypes.c_int * 2), ("flags", ctypes.c_uint), ("slots", ctypes.c_void_p)]
slots, make = (ctypes.c_void_p * 2)(), ctypes.pythonapi.PyType_FromSpecWithBases
make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
spec = Spec(b"native.Own", (0, 0), 0, ctypes.addressof(slots))
Own = make(ctypes.addressof(spec), (set,))
""",
}


@pytest.mark.parametrize("made", ["kept", "range(20)"])
@pytest.mark.parametrize("how", SUBCLASSES)
def test_subclasses_of_sets(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, how: str, made: str) -> None:
    workshop.write("own.py", "class Own(set): pass")
    (workshop.path / "before").mkdir()
    workshop.write("before/sitecustomize.py", "import sys\nclass Own(set): pass\nsys.Own = Own")
    monkeypatch.setenv("PYTHONPATH", str(workshop.path / "before"))
    script = f"""
class V:
    def __init__(self, x): self.x = x
{SUBCLASSES[how]}
kept = [V(x) for x in range(20)]
held = Own({made})
for epoch in range(3):
    found = []
    for v in held:
        found.append(str(v))
    print("epoch", epoch, len(found))
"""
    workshop.write("train.py", script)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0 and ("in the order of their addresses" in recorded.said) is (made == "kept"), recorded.said


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
