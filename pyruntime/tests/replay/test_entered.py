"""A statement added to a function that nobody calls by name makes exactly those blocks run again that entered it in the recorded run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict

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

LOOPS = '''
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
'''


def loops(above: str, second: str, third: str = "pass") -> str:
    """Three inner loops; what the second one, or the third one, does besides."""
    return LOOPS % (above.strip("\n"), second, third)


WAYS: Dict[str, str] = {
    "higher order function": loops("""
def twice(function, x):
    return function(function(x))
def step(x):
    state["b"] += len(str(x))
+    print("PROBE", x, state["b"])
    return x + 1
""", "twice(step, i)"),
    "callback given to a library": loops("""
def step():
    state["b"] += len(state)
+    print("PROBE", state["b"])
""", "stand_ins.run(step)"),
    "lambda made outside": loops("""
def step(x):
    state["b"] += len(str(x))
+    print("PROBE", x, state["b"])
act = lambda x: step(x + 1)
""", "act(i)"),
    "method of a class that a library runs": loops("""
class Log(stand_ins.Callback):
    def on_step(self, x):
        state["b"] += x
+        print("PROBE", x, state["b"])
    def on_end(self):
        state["b"] += 1
log = Log()
log.on_step(7)
""", "stand_ins.fit(2, [log])"),
    "hook": loops("""
net = stand_ins.Hooked()
def look(module, x):
    state["b"] += len(module.hooks) + x
+    print("PROBE", x, state["b"])
net.add_hook(look)
""", "net(i)"),
    "getattr of a computed name": loops("""
class Writer:
    def add_scalar(self, name, value):
        state["b"] += len(name) + value
+        print("PROBE", name, value, state["b"])
    def add_text(self, name, value):
        state["c"] += len(name) - value
writer = Writer()
""", 'getattr(writer, "add_" + "scalar")("loss", i)', 'getattr(writer, "add_" + "text")("note", i)'),
    "table of functions": loops("""
def square(x):
+    print("PROBE", x, state["b"])
    return max(x * x, 1)
def cube(x):
    return max(x * x * x, 1)
TABLE = {"square": square, "cube": cube}
""", 'state["b"] += TABLE["square"](i)', 'state["c"] += TABLE["cube"](i)'),
    "decorator of a library": loops("""
commands = stand_ins.Commands()
@commands.command("main")
def step():
    state["b"] += len(state)
+    print("PROBE", state["b"])
""", "commands()"),
    "called by what is entered": loops("""
def inner(x):
    if x > 0:
+        print("PROBE", x, state["b"])
        state["b"] += x
def step():
    inner(state["b"])
""", "stand_ins.run(step)"),
    "closure": loops("""
def make(n):
    def step(x):
        state["b"] += len(str(x)) + n
+        print("PROBE", x, n, state["b"])
    return step
step, other = make(2), make(3)
""", "step(i)"),
    "name in globals": loops("""
def step():
    state["b"] += len(state)
+    print("PROBE", state["b"])
def named(name):
    return globals()[name]
step()
""", 'named("st" + "ep")()'),
    "dunder call of an object": loops("""
class Loss:
    def __call__(self, x):
        state["b"] += len(str(x))
+        print("PROBE", x, state["b"])
losses = [Loss()]
""", "losses[0](i)"),
    "property": loops("""
class Meter:
    @property
    def mean(self):
+        print("PROBE", state["b"])
        return sum(state.values()) / len(state)
meter = [Meter()]
""", 'state["b"] += int(meter[0].mean) % 7'),
    "process in the file": loops("""
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
""", "twice(step, i)"),
}


def ran(outcome: Outcome) -> Dict[str, str]:
    """The blocks that the replay ran again, and why."""
    return dict(re.findall(r"(L\d+) ran \d+ times?: (.*)", outcome.replayed.said))


def trial(folder: Path, text: str, **options: object) -> Trial:
    """A script beside a library that is none of its project."""
    library = folder / "library"
    library.mkdir()
    (library / "stand_ins.py").write_text(LIBRARY)
    made = Trial(folder, text, **options)  # type: ignore[arg-type]
    made.env["PYTHONPATH"] = str(library)
    made.env["FLORC_DEBUG"] = "1"
    return made


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_the_loops_that_did_not_enter_it_are_restored(text: str, tmp_path: Path) -> None:
    outcome = trial(tmp_path, text).run()
    told = f"\n--- record\n{outcome.recorded.err}\n--- replay\n{outcome.replayed.err}"
    assert outcome.expected, "the probe must run"
    assert not outcome.failures(), "\n".join(outcome.failures()) + told
    first = min(int(line.split()[0][1:]) for line in re.findall(r"L\d+ ran .*", outcome.replayed.said)) if ran(outcome) else 0
    assert len(ran(outcome)) == 1 and first, told
    assert "entered " in ran(outcome)[f"L{first}"] and "in the recorded run" in ran(outcome)[f"L{first}"], told
    assert outcome.restored == 6, told
    assert "exact: " in outcome.replayed.said, told
