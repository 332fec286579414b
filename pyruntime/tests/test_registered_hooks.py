"""An added statement registers a function that the recorded script uses, too: what it prints for that statement are its answers."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from workshop import Workshop

pytest.importorskip("torch")
NET = """
    import atexit, functools, pickle
    import torch
    from torch import nn
    torch.manual_seed(0)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2 = nn.Linear(4, 8), nn.Linear(8, 2)

        def forward(self, x):
            return self.fc2(self.fc1(x).relu())

    def show(module, inputs, output):
        print("act", output.mean().item())

    class Shower:
        def __init__(self, name):
            self.name = name

        def __call__(self, module, inputs, output):
            print(self.name, output.mean().item())

        def stepped(self, optimizer, arguments, named):
            print(self.name, optimizer.param_groups[0]["lr"])

    def last(name):
        print("last", name)

    net, shower = Net(), Shower("shown")
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    #OWN
    #ASK
    for epoch in range(3):
        for step in range(3):
            output = net(torch.randn(5, 4))
            loss = output.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        #THEN
        print("epoch", epoch, loss.item())
"""
CASES = {
    "a hook of another module": ("net.fc1.register_forward_hook(show)", "pass", "net.fc2.register_forward_hook(show)"),
    "called as well": ("pass", "show(net, None, output)", "net.fc1.register_forward_hook(show)"),
    "both": ("net.fc2.register_forward_hook(show)", "show(net, None, output)", "h = net.fc1.register_forward_hook(hook=show)"),
    "the same module again": ("net.fc1.register_forward_hook(show)", "pass", "net.fc1.register_forward_hook(show)"),
    "an object": ("net.fc1.register_forward_hook(Shower('one'))", "pass", "net.fc2.register_forward_hook(Shower('two'))"),
    "a method": ("pass", "shower.stepped(optimizer, 0, 0)", "optimizer.register_step_post_hook(shower.stepped)"),
    "arguments": ("pass", "last('own')", "net.register_forward_hook(functools.partial(last, 'asked') and show)"),
    "at the end": ("atexit.register(last, 'own')", "pass", "atexit.register(last, 'asked')"),
    "pickled": ("pass", "pickle.dumps(net)", "net.fc1.register_forward_hook(show)"),
}


@pytest.mark.parametrize("name", CASES)
def test_its_lines_are_answers(workshop: Workshop, name: str) -> None:
    own, then, asked = CASES[name]
    text = NET.replace("#OWN", own).replace("#THEN", then)
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0, recorded.err
    workshop.write("train.py", text.replace("#ASK", asked))
    plain = workshop.plain("train.py").out.splitlines()
    truth = Counter(plain) - Counter(recorded.out.splitlines())
    replayed = workshop.florc("replay", "train.py")
    assert Counter(replayed.out.splitlines()) == truth and truth, replayed
    assert list(dict.fromkeys(replayed.out.splitlines())) == list(dict.fromkeys(line for line in plain if line in truth))
    assert "exact: " in replayed.said, replayed.said


def test_a_hook_that_does_more_than_look_is_flagged(workshop: Workshop) -> None:
    text = NET.replace("#OWN", "pass").replace("#THEN", "noisy(net, None, output)")
    text = text.replace(
        "    net, shower", "    def noisy(*_):\n        print('drew', torch.rand(()).item())\n\n    net, shower", 1
    )
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", text.replace("#ASK", "net.fc1.register_forward_hook(noisy)"))
    replayed = workshop.florc("replay", "train.py")
    assert "ANOMALOUS" in replayed.said and "exact: " not in replayed.said


def test_a_function_that_was_added_has_its_own_place(workshop: Workshop) -> None:
    text = NET.replace("#OWN", "pass").replace("#THEN", "pass")
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    added = "def look(m, i, o):\n        print('norm', o.norm().item())\n    net.fc1.register_forward_hook(look)"
    written = workshop.write("train.py", text.replace("#ASK", added)).read_text().splitlines()
    *values, told = map(json.loads, workshop.florc("replay", "--json", "train.py").out.splitlines())
    assert [value["line"] for value in values] == [written.index("def look(m, i, o):") + 1] * 9 and told["verdict"] == "exact"
