"""Programs made at random, in which a library enters a function."""

from __future__ import annotations

import random


def generated(seed: int) -> tuple[str, dict[str, int]]:
    """A program in which some loops, in some of their executions, enter a function in some way; how often each does."""
    chance = random.Random(seed)
    above, calls = WAY_OF[chance.choice(sorted(WAY_OF))]
    count, epochs = chance.randint(2, 4), chance.randint(2, 4)
    lines = [
        "import time",
        "import stand_ins",
        "state = {'a': 0, 'b': 0}",
        *above.strip("\n").splitlines(),
        f"for epoch in range({epochs}):",
    ]
    again: dict[str, int] = {}
    for number in range(count):
        entering = sorted(chance.sample(range(epochs), chance.randint(0, epochs)) if chance.random() < 0.6 else [])
        name = f"L{number + 2}"
        if entering:
            again[name] = len(entering)
        body = [
            f"    for i in range({chance.randint(2, 3)}):",
            "        time.sleep(0.005)",
            f"        state['a'] += i * {number + 1}",
        ]
        body += [f"        if epoch in {entering}:", f"            {calls}"] if entering else []
        lines += body
    lines.append("    print(epoch, state)")
    return "\n".join(lines) + "\n", again


PROBED = """
def step(x):
    state["b"] += len(str(x))
+    print("PROBE", x, state)
    return x
"""

WAY_OF = {
    "given": (PROBED + "def twice(function, x):\n    return function(function(x))\n", "twice(step, i)"),
    "table": (PROBED + "TABLE = {'step': step}\n", "TABLE['step'](i)"),
    "library": (PROBED, "stand_ins.run(lambda: step(i))"),
    "lambda": (PROBED + "act = lambda x: step(x)\n", "act(i)"),
    "hook": (PROBED + "net = stand_ins.Hooked()\nnet.add_hook(lambda module, x: step(x))\n", "net(i)"),
    "partial": (PROBED + "import functools\nact = functools.partial(step, 7)\n", "act()"),
    "attribute": ("class Keeper:\n    pass\n" + PROBED + "keeper = Keeper()\nkeeper.act = step\n", "keeper.act(i)"),
    "method": (
        "class Model:\n    def fit(self, x):\n        state['b'] += len(str(x))\n+        print('PROBE', x, state)\n"
        "        return x\nmodels = [Model()]\n",
        "models[0].fit(i)",
    ),
    "getattr": (
        "class Model:\n    def fit_all(self, x):\n        state['b'] += len(str(x))\n+        print('PROBE', x, state)\n"
        "        return x\nmodel = Model()\n",
        "getattr(model, 'fit_' + 'all')(i)",
    ),
    "map": (PROBED, "list(map(step, [i, i]))"),
    "inner": (PROBED + "def outer(x):\n    return step(x)\nKEPT = [outer]\n", "KEPT[0](i)"),
}
