"""Which functions tell that they are entered, and what that costs."""

from __future__ import annotations

import re
from typing import Any

import florc
import pytest
from florc import _native

LOOP = """
for epoch in range(3):
    for i in range(3):
        work(i)
"""

TELLS: dict[str, tuple] = {
    "called by name only": ("def f(x):\n    print(x)\nf(1)\n", set()),
    "passed on": ("def f(x):\n    print(x)\nf(1)\nrun(f)\n", {"f"}),
    "called in a lambda": ("def f(x):\n    print(x)\nf(1)\ng = lambda: f(2)\n", {"f"}),
    "called in a generator expression": ("def f(x):\n    print(x)\nf(1)\ng = (f(x) for x in y)\n", {"f"}),
    "decorated": ("@known\ndef f(x):\n    print(x)\nf(1)\n", {"f"}),
    "never called": ("def f(x):\n    print(x)\n", {"f"}),
    "looked up": ("def f(x):\n    print(x)\nf(1)\ndef g(n):\n    return globals()[n]\ng('f')\n", {"f", "g"}),
    "methods": (
        "class A:\n    def forward(self, x):\n        return self.net(x)\n    def size(self):\n        return self.n\nA().size()\n",
        {"A.forward", "A.size"},
    ),
    "small special methods": (
        "class A:\n    def __eq__(self, other):\n        return compare(self, other)\n    def __call__(self):\n"
        "        return self.x\n",
        set(),
    ),
    "small nested": ("def f():\n    def back():\n        a.grad += 1\n    a.back = back\nf()\n", set()),
    "generators and coroutines": ("def f():\n    yield g()\nasync def h():\n    g()\nrun(f, h)\n", set()),
    "torch.jit.script": (
        "import torch\n@torch.jit.script\ndef f(x):\n    return g(x)\ndef g(x):\n    return x + len(x)\nrun(f, g)\n",
        set(),
    ),
    "numba": ("from numba import njit\n@njit(cache=True)\ndef f(x):\n    return len(x)\nrun(f)\n", set()),
    "torch.compile of a function": (
        "import torch\ndef f(x):\n    return g(x)\ndef g(x):\n    return len(x)\ndef h(x):\n    return len(x)\n"
        "fast = torch.compile(f)\nrun(h, g)\n",
        {"h"},
    ),
    "torch.compile of what is computed": (
        "import torch, functools\nfrom torch.func import grad\ndef f(x):\n    return g(x)\ndef g(x):\n    return len(x)\n"
        "def h(x):\n    return len(x)\ndef k(x):\n    return len(x)\nfast = torch.compile(grad(functools.partial(f, 1)))\n"
        "table = {'h': h}\ntorch.compile(table['h'])\ntorch.compile(lambda x: k(x))\n",
        set(),
    ),
    "torch.compile that is passed around": (
        "import torch, functools\nfast = functools.partial(torch.compile, fullgraph=True)\ndef f(x):\n    return len(x)\nfast(f)\n",
        set(),
    ),
    "a function of the project that compiles": (
        "import torch\ndef maybe(f, on):\n    return torch.compile(f) if on else f\ndef f(x):\n    return len(x)\nfast = maybe(f, True)\n"
        "back = lambda x: f(x)\n",
        set(),
    ),
    "torch.compile of a function bound again": (
        "import torch\ndef f(x):\n    return len(x)\ng = f\ng = torch.compile(g)\n",
        set(),
    ),
    "torch.jit beside others": (
        "import torch\nfrom torch import jit\ndef f(x):\n    return len(x)\ndef h(x):\n    return len(x)\nfast = jit.script(f)\nrun(h)\n",
        {"h"},
    ),
    "torch.compile of a model": (
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return act(self.fc(x))\n"
        "def act(x):\n    return x.relu()\nclass Log:\n    def note(self, x):\n        print(x)\n"
        "model = torch.compile(Net())\nrun(act)\nLog().note(1)\n",
        {"Log.note"},
    ),
    "model.compile()": (
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return self.fc(x)\n"
        "net = Net()\nnet.compile()\n",
        set(),
    ),
    "an option of a trainer": (
        "class Net(lib.Module):\n    def forward(self, x):\n        return self.fc(x)\n"
        "args = lib.Arguments(torch_compile=True)\n",
        set(),
    ),
    "re.compile": (
        "import re\nclass Net(lib.Module):\n    def forward(self, x):\n        return self.fc(x)\nre.compile('x')\n",
        {"Net.forward"},
    ),
    "hashed by datasets": ("from datasets import load\ndef f(x):\n    return len(x)\nd = load('x').map(f)\n", set()),
}


@pytest.mark.parametrize("text, expected", TELLS.values(), ids=TELLS)
def test_functions_tell_whose_callers_nobody_knows(text: str, expected: set[str]) -> None:
    emitted = _native.instrument(text + LOOP, "train.py")
    assert emitted.left_alone is None and emitted.undo() == text + LOOP
    found = {function.name for function in emitted.plan.functions("train.py").values()}
    assert found == expected
    assert len(re.findall(r"_florc\.entered\(\d+\)", emitted.text)) == len(expected)


SHAPES = '''
import functools
def one(): return list(())
def two(): """Docstring."""
def three():
    """Docstring."""
    for x in ():
        pass
    return list(())
def four():
    # a comment
    @functools.lru_cache
    def five():
        """Docstring."""; return list(())
    return five()
def six():
    class Inner:
        def seven(self): x = list(()); return x
    return Inner().seven()
def eight(a=lambda: 1, *, b: int = 2) -> list:
\tif a:
\t\treturn list(())
def nine(): \\
    return list(())
def ten():
    global seen
    seen = list(())
    return seen
found = [function() for function in (one, two, three, four, six, eight, nine, ten)]
docs = [function.__doc__ for function in (one, two, three, eight)]
lines = [function.__code__.co_firstlineno for function in (one, two, three, four, six, eight, nine, ten)]
keep = print if not found else found.append
for epoch in range(2):
    for i in range(2):
        keep((epoch, i))
'''


def test_functions_do_and_show_what_they_did() -> None:
    plain: dict[str, Any] = {}
    exec(compile(SHAPES, "train.py", "exec"), plain)
    emitted = _native.instrument(SHAPES, "train.py")
    told: dict[str, Any] = {}
    exec(emitted.map_code(compile(emitted.text, "train.py", "exec")), told)
    assert len(emitted.plan.functions("train.py")) == 10
    for name in ("found", "docs", "lines", "seen"):
        assert told[name] == plain[name]


MODEL = """
import torch
from torch import nn
torch.manual_seed(0)
class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.q, self.v, self.size = nn.Linear(size, size), nn.Linear(size, size), size
    def scale(self):
        return self.size ** -0.5
    def forward(self, x):
        q = self.q(x)
        return torch.softmax(q @ q.transpose(-2, -1) * self.scale(), -1) @ self.v(x)
class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.attention, self.mlp = Attention(size), nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size))
    def forward(self, x):
        return x + self.mlp(x + self.attention(x))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(16) for _ in range(6))
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
def loss_of(net, x):
    return net(x).square().mean()
net = Net()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(2):
    for step in range(5):
        mark()
        optimizer.zero_grad()
        loss_of(net, torch.randn(4, 8, 16)).backward()
        optimizer.step()
"""


def test_a_training_step_tells_once_for_each_method_of_the_script_that_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick takes some 30 ns (docs/decisions/0005): 19 of them are less than a thousandth of this step."""
    pytest.importorskip("torch")
    count, marks = [0], []
    emitted = _native.instrument(MODEL, "train.py")
    monkeypatch.setattr(florc, "entered", lambda number: count.__setitem__(0, count[0] + 1), raising=False)
    exec(compile(emitted.text, "train.py", "exec"), {"__name__": "train", "mark": lambda: marks.append(count[0])})
    steps = [later - earlier for earlier, later in zip(marks, marks[1:])]
    assert set(steps) == {1 + 6 * 3}
