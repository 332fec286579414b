"""A statement added to a function that nobody calls by name makes exactly those blocks run again that entered it in the recorded run."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from harness import Outcome, Trial

LIBRARY = '''
"""Stand-ins for libraries that run functions they are given."""
import sys


class Commands:
    """Like typer and click."""

    def __init__(self):
        self.known = {}

    def command(self, name=None):
        def keep(function):
            self.known[name or function.__name__] = function
            return function
        return keep

    def __call__(self):
        return self.known[sys.argv[1] if len(sys.argv) > 1 else "main"]()


def run(function):
    """Like typer.run."""
    return function()


def fire():
    """Like fire.Fire without arguments: what is named on the command line is looked up in the script."""
    return vars(sys.modules["__main__"])[sys.argv[1]]()


class Study:
    """Like optuna."""

    def __init__(self):
        self.best = None

    def optimize(self, objective, trials):
        for number in range(trials):
            value = objective(number)
            self.best = value if self.best is None else min(self.best, value)


class Hooked:
    """Like a module with hooks."""

    def __init__(self):
        self.hooks = []

    def add_hook(self, hook):
        self.hooks.append(hook)

    register_look_hook = add_hook

    def __call__(self, x):
        for hook in self.hooks:
            hook(self, x)
        return x + 1


class Callback:
    """Like the callbacks of trainers: subclassed."""

    def on_step(self, x):
        pass

    def on_end(self):
        pass


def fit(steps, callbacks):
    for x in range(steps):
        for callback in callbacks:
            callback.on_step(x)
    for callback in callbacks:
        callback.on_end()
'''

LOOPS = """
import time
import stand_ins
state = {"a": 0, "b": 0, "c": 0}
%s
for epoch in range(3):
    for i in range(3):
        time.sleep(0.004)
        state["a"] += i
    for i in range(3):
        time.sleep(0.004)
        state["b"] += state["a"] * i
        %s
    for i in range(3):
        time.sleep(0.004)
        state["c"] += state["b"] - i
        %s
    print(epoch, state)
"""


def loops(above: str, second: str, third: str = "pass") -> str:
    """Three inner loops; what the second one, or the third one, does besides."""
    return LOOPS % (above.strip("\n"), second, third)


WAYS: dict[str, str] = {
    "higher order function": loops(
        """
def twice(function, x):
    return function(function(x))
def step(x):
    state["b"] += len(str(x))
+    print("PROBE", x, state["b"])
    return x + 1
""",
        "twice(step, i)",
    ),
    "callback given to a library": loops(
        """
def step():
    state["b"] += len(state)
+    print("PROBE", state["b"])
""",
        "stand_ins.run(step)",
    ),
    "lambda made outside": loops(
        """
def step(x):
    state["b"] += len(str(x))
+    print("PROBE", x, state["b"])
act = lambda x: step(x + 1)
""",
        "act(i)",
    ),
    "method of a class that a library runs": loops(
        """
class Log(stand_ins.Callback):
    def on_step(self, x):
        state["b"] += x
+        print("PROBE", x, state["b"])
    def on_end(self):
        state["b"] += 1
log = Log()
log.on_step(7)
""",
        "stand_ins.fit(2, [log])",
    ),
    "hook": loops(
        """
net = stand_ins.Hooked()
def look(module, x):
    state["b"] += len(module.hooks) + x
+    print("PROBE", x, state["b"])
net.add_hook(look)
""",
        "net(i)",
    ),
    "getattr of a computed name": loops(
        """
class Writer:
    def add_scalar(self, name, value):
        state["b"] += len(name) + value
+        print("PROBE", name, value, state["b"])
    def add_text(self, name, value):
        state["c"] += len(name) - value
writer = Writer()
""",
        'getattr(writer, "add_" + "scalar")("loss", i)',
        'getattr(writer, "add_" + "text")("note", i)',
    ),
    "table of functions": loops(
        """
def square(x):
+    print("PROBE", x, state["b"])
    return max(x * x, 1)
def cube(x):
    return max(x * x * x, 1)
TABLE = {"square": square, "cube": cube}
""",
        'state["b"] += TABLE["square"](i)',
        'state["c"] += TABLE["cube"](i)',
    ),
    "decorator of a library": loops(
        """
commands = stand_ins.Commands()
@commands.command("main")
def step():
    state["b"] += len(state)
+    print("PROBE", state["b"])
""",
        "commands()",
    ),
    "called by what is entered": loops(
        """
def inner(x):
    if x > 0:
+        print("PROBE", x, state["b"])
        state["b"] += x
def step():
    inner(state["b"])
""",
        "stand_ins.run(step)",
    ),
    "closure": loops(
        """
def make(n):
    def step(x):
        state["b"] += len(str(x)) + n
+        print("PROBE", x, n, state["b"])
    return step
step, other = make(2), make(3)
""",
        "step(i)",
    ),
    "dunder call of an object": loops(
        """
class Loss:
    def __call__(self, x):
        state["b"] += len(str(x))
+        print("PROBE", x, state["b"])
losses = [Loss()]
""",
        "losses[0](i)",
    ),
    "property": loops(
        """
class Meter:
    @property
    def mean(self):
+        print("PROBE", state["b"])
        return sum(state.values()) / len(state)
meter = [Meter()]
""",
        'state["b"] += int(meter[0].mean) % 7',
    ),
    "process in the file": loops(
        """
import multiprocessing
def worker(queue):
    queue.put(1)
def start():
    process = multiprocessing.get_context("fork").Process(target=worker)
    return process
def twice(function, x):
    return function(function(x))
def step(x):
    state["b"] += len(str(x))
+    print("PROBE", x, state["b"])
    return x
""",
        "twice(step, i)",
    ),
}


LIVES_OUTSIDE = """
import time
import stand_ins
state = {"a": 0, "b": 0}
%s
def prepare():
    for i in range(4):
        for j in range(2):
            time.sleep(0.004)
            state["a"] += i * j
        print("prepared", state)
%s
"""
"""Programs whose training is run by a library, beside loops that are not."""

COMMANDS: dict[str, tuple[str, dict[str, int]]] = {
    "typer.run": (
        LIVES_OUTSIDE
        % (
            "",
            """
def main():
    for epoch in range(3):
+        print("PROBE", epoch, state)
        for i in range(3):
            time.sleep(0.004)
            state["b"] += i + epoch
        print(epoch, state)
+    print("PROBE end", state)
prepare()
stand_ins.run(main)
prepare()
""",
        ),
        {},
    ),
    "command of an application": (
        LIVES_OUTSIDE
        % (
            "app = stand_ins.Commands()",
            """
@app.command()
def main():
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.004)
            state["b"] += i + epoch
+            print("PROBE", epoch, i, state)
        print(epoch, state)
@app.command()
def other():
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.004)
            state["b"] += i + epoch
prepare()
app()
prepare()
""",
        ),
        {"L3": 1},
    ),
    "fire": (
        LIVES_OUTSIDE
        % (
            "import sys\nsys.argv = ['train.py', 'train']",
            """
def train():
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.004)
            state["b"] += i + epoch
        look(epoch)
def look(epoch):
    print(epoch, state)
+    print("PROBE", epoch, state)
look(-1)
prepare()
stand_ins.fire()
prepare()
""",
        ),
        {"L3": 1},
    ),
    "optuna": (
        LIVES_OUTSIDE
        % (
            "study = stand_ins.Study()",
            """
def objective(number):
    loss = 0
    for epoch in range(2):
        for i in range(3):
            time.sleep(0.004)
            loss += i * number + epoch
            state["b"] += 1
        print(number, epoch, loss)
+    print("PROBE", number, loss)
    return loss
prepare()
study.optimize(objective, 3)
for i in range(3):
    for j in range(2):
        time.sleep(0.004)
        state["b"] += i * j
    print(study.best, state)
""",
        ),
        {},
    ),
}


@pytest.mark.parametrize("text, again", COMMANDS.values(), ids=COMMANDS)
def test_what_a_library_starts_is_no_reason_to_run_the_rest(text: str, again: dict[str, int], tmp_path: Path) -> None:
    outcome = trial(tmp_path, text).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert outcome.expected and not outcome.failures(), "\n".join(outcome.failures()) + told
    assert times(outcome) == again, told
    assert outcome.restored > 0, told


def times(outcome: Outcome) -> dict[str, int]:
    """How often blocks ran again because something was added."""
    found = re.findall(r"(L\d+) ran (\d+) times?: (.*)", outcome.replayed.said)
    return {block: int(number) for block, number, why in found if "added" in why or "entered" in why}


def ran(outcome: Outcome) -> dict[str, str]:
    """The blocks that the replay ran again, and why."""
    return dict(re.findall(r"(L\d+) ran \d+ times?: (.*)", outcome.replayed.said))


def trial(folder: Path, text: str, **options: object) -> Trial:
    """A script beside a library that is none of its project."""
    library = folder / "library"
    library.mkdir()
    (library / "stand_ins.py").write_text(LIBRARY)
    made = Trial(folder, text, **options)  # type: ignore[arg-type]
    made.env["PYTHONPATH"] = str(library)
    return made


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_the_loops_that_did_not_enter_it_are_restored(text: str, tmp_path: Path) -> None:
    outcome = trial(tmp_path, text).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert outcome.expected, "the probe must run"
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    ((block, why),) = [(block, why) for block, why in ran(outcome).items() if block in times(outcome)]
    assert 0 < times(outcome)[block] <= 3, told
    assert why.startswith("entered ") and why.endswith(" in the recorded run"), told
    assert outcome.restored >= outcome.kept - 3 > 0, told
    assert "exact: " in outcome.replayed.said, told


DOUBTFUL: dict[str, str] = {
    "another thread": loops(
        """
import threading
def step():
    state["b"] += len(state)
+    print("PROBE", state["b"])
def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
""",
        "in_thread(step)",
    ),
    "forked child": loops(
        """
import os, sys
def step():
    os.write(1, b"")
+    print("PROBE", state["b"])
    sys.stdout.flush()
    state["b"] += 1
def forked(function):
    child = os.fork()
    if child == 0:
        function()
        os._exit(0)
    os.waitpid(child, 0)
""",
        "forked(step)",
    ),
    "generator": loops(
        """
def numbers(n):
    for i in range(n):
        state["b"] += i
+        print("PROBE", i, state["b"])
        yield i
def through(function, n):
    return list(function(n))
""",
        "through(numbers, 3)",
    ),
    "given on by what was added": loops(
        """
def twice(function, x):
    return function(function(x))
def step(x):
+    print("PROBE", x)
    return x + 1
+print("PROBE more", list(map(step, [1, 2])))
""",
        "state['b'] += twice(step, i)",
    ),
    "changed otherwise": loops(
        """
def twice(function, x):
    return function(function(x))
def step(x):
+    x = x + 0
+    print("PROBE", x)
    return x + 1
""",
        "state['b'] += twice(step, i)",
    ),
    "hook that was added": loops(
        """
net = stand_ins.Hooked()
+net.register_look_hook(lambda module, x: print("PROBE", x, state["b"]))
""",
        "state['b'] += net(i)",
    ),
}


@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL)
def test_where_it_cannot_be_known_what_entered_a_function_every_loop_runs_again(text: str, tmp_path: Path) -> None:
    outcome = trial(tmp_path, text, replay=["--allow-drift"]).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    inner = list(ran(outcome))
    assert outcome.restored == 0 and len(inner) == 3, told
    if "fork" not in text and "register" not in text:
        assert outcome.printed == outcome.expected, told


FLAT = """
import time
import torch
import stand_ins
torch.manual_seed(0)
net, hooked = torch.nn.Linear(3, 1), stand_ins.Hooked()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
data = [torch.randn(4, 3) for _ in range(60)]
def late(module, x):
    time.sleep(0.001)
+    print("PROBE", x, net.weight.sum().item())
for step, batch in enumerate(data):
    time.sleep(0.008)
    optimizer.zero_grad()
    net(batch).square().mean().backward()
    optimizer.step()
    if step >= 50:
        hooked.hooks = [late]
    hooked(step)
print("end", net.weight.sum().item())
"""


def test_a_flat_loop_begins_before_the_first_iteration_that_entered_it(tmp_path: Path) -> None:
    outcome = trial(tmp_path, FLAT).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert len(outcome.expected) == 10 and not outcome.failures(), "\n".join(outcome.failures()) + told
    began = re.search(r"L1(?:#0/L1)? began with iteration (\d+)", outcome.replayed.said)
    assert began and 1 < int(began.group(1)) <= 50, told


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


@pytest.mark.parametrize("seed", range(24))
def test_generated_programs_run_exactly_what_entered_it(seed: int, tmp_path: Path) -> None:
    text, again = generated(seed)
    outcome = trial(tmp_path, text).run()
    told = f"\n{text}\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    if "no checkpoint was kept" not in outcome.replayed.said:
        assert times(outcome) == again, told
