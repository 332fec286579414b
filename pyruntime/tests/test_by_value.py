"""What a script pickles by value holds the code that the user wrote, and nothing of florc."""

from __future__ import annotations

import pickletools
import sys

import pytest
from workshop import Workshop

pytest.importorskip("cloudpickle")

SCRIPT = """
    IMPORT
    import time
    rate = 0.5
    def train(net, hook, n):
        for step in range(n):
            net["w"] += rate * step
            hook(net)
        return [time.time() - t for t in ()], net["w"]
    class Policy:
        def __init__(self, scale):
            self.scale = scale
        def act(self, x):
            def inner(y):
                return y * self.scale + rate
            return sum(inner(y) for y in x)
        later = lambda self, x: self.act(x)
    def hook(net):
        net["seen"] = net["w"]
    net = {"w": 0.0}
    for epoch in range(3):
        for step in range(5):
            train(net, hook, 3)
            time.sleep(0.005)
        print("epoch", epoch, net)
    with open("functions.pkl", "wb") as file:
        file.write(cloudpickle.dumps((train, hook)))
    with open("policy.pkl", "wb") as file:
        cloudpickle.dump((Policy(2.0), Policy), file)
"""


@pytest.mark.parametrize("place", ["before", "late"])
def test_it_is_loaded_where_there_is_no_florc(workshop: Workshop, place: str) -> None:
    text = SCRIPT.replace("IMPORT", "import cloudpickle" if place == "before" else "")
    text = (
        text
        if place == "before"
        else text.replace('    with open("functions', '    import cloudpickle\n    with open("functions')
    )
    workshop.write("train.py", text)
    plain = workshop.plain("train.py")
    functions, policy = ((workshop.path / name).read_bytes() for name in ("functions.pkl", "policy.pkl"))
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.out == plain.out and " 0 checkpoints" not in recorded.said, recorded
    assert (workshop.path / "functions.pkl").read_bytes() == functions
    found = (workshop.path / "policy.pkl").read_bytes()  # cloudpickle gives each class a random number
    assert len(found) == len(policy) and b"florc" not in found and [op.name for op, *_ in pickletools.genops(found)]
    load = "import pickle, sys; sys.modules['florc'] = None; p, c = pickle.load(open('policy.pkl', 'rb')); print(p.later([1, 2]), p.act([3]))"
    assert workshop.run(sys.executable, "-c", load).out == "7.0 6.5\n"
