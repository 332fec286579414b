"""Programs in which a library, or a hook, enters the user's functions: what `test_entered` runs."""

from __future__ import annotations

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
