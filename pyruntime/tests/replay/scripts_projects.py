"""Projects of several files: functions, classes and globals that a loop reaches through imports."""

from __future__ import annotations

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "project_global_of_an_imported_function",
    """
import engine
total = 0
for epoch in range(3):
    engine.train(epoch)
    print(epoch)
+    print("PROBE", engine.steps, engine.seen)
=== engine.py
import time
steps = 0
seen = []
def train(epoch):
    global steps
    for i in range(5):
        time.sleep(0.01)
        steps += 1
        seen.append((epoch, i))
""",
)

add(
    "project_loop_in_the_script_changes_a_module",
    """
import time
import config
from config import table as t
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        config.rate *= 0.5
        config.fresh = (epoch, i)
        t[i] = t.get(i, 0) + epoch
    print(epoch)
+    print("PROBE", config.rate, config.fresh, sorted(config.table.items()), t is config.table)
=== config.py
rate = 1.0
table = {}
""",
)

add(
    "project_classes_across_files",
    """
from training import Trainer
from training.models import Model
trainer = Trainer(Model())
for epoch in range(3):
    trainer.epoch()
    print(epoch, trainer.model.weight)
+    print("PROBE", trainer.steps, trainer.model.weight, trainer.model.calls, Model.made, trainer.log)
=== training/__init__.py
from .loop import Trainer
=== training/base.py
class Base:
    steps = 0
    def advance(self, n=1):
        self.steps += n
        self.log.append(self.steps)
=== training/loop.py
import time
from .base import Base
class Trainer(Base):
    def __init__(self, model):
        self.model, self.log = model, []
    def epoch(self):
        for i in range(4):
            time.sleep(0.01)
            self.advance(i)
            self.model(i)
=== training/models.py
class Model:
    made = 0
    def __init__(self):
        self.weight, self.calls = 1.0, 0
        type(self).made += 1
    def __call__(self, x):
        self.calls += 1
        self.weight += 0.5 * x
""",
)

add(
    "project_star_import_and_alias",
    """
import random
from helpers import *
from helpers import update as renew
random.seed(3)
for epoch in range(3):
    run(epoch)
    print(epoch)
+    print("PROBE", state, random.random() if False else len(state))
=== helpers.py
import random, time
state = {}
def update(key, value):
    state[key] = value
def run(epoch):
    for i in range(3):
        time.sleep(0.01)
        update((epoch, i), random.random())
""",
)

add(
    "project_probe_inside_an_imported_function",
    """
import engine, other
model = [0.0]
for epoch in range(3):
    engine.train(model)
    other.tune(model)
    print(epoch, model)
=== engine.py
import time
def train(model):
    for i in range(3):
        time.sleep(0.01)
        model[0] += i
+        print("PROBE", i, model[0])
=== other.py
import time
def tune(model):
    for i in range(3):
        time.sleep(0.01)
        model[0] *= 0.5
""",
)

add(
    "project_probe_brings_a_module",
    """
import time
model = [0.0]
+import looking
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        model[0] += i
    print(epoch)
+    looking.show(model)
=== looking.py
def show(model):
    for value in model:
        print("PROBE", value)
""",
)

add(
    "project_import_inside_a_function_and_by_name",
    """
import importlib
def step(model, name):
    from ops import scale
    plugin = importlib.import_module("plugins." + name)
    for i in range(3):
        scale(model)
        plugin.apply(model)
model = {"w": 1.0, "n": 0}
for epoch in range(3):
    step(model, "one" if epoch % 2 else "two")
    print(epoch)
+    print("PROBE", model)
=== ops.py
import time
def scale(model):
    time.sleep(0.01)
    model["w"] *= 1.5
=== plugins/one.py
COUNT = []
def apply(model):
    model["n"] += 1
    COUNT.append(model["n"])
=== plugins/two.py
def apply(model):
    model["n"] += 10
""",
)

add(
    "project_callback_registered_in_another_file",
    """
import time
import registry
counts = {"a": 0}
@registry.register
def bump(x):
    counts["a"] += x
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        registry.fire(i)
    print(epoch)
+    print("PROBE", counts, registry.fired)
=== registry.py
handlers = []
fired = 0
def register(f):
    handlers.append(f)
    return f
def fire(x):
    global fired
    fired += 1
    for h in handlers:
        h(x)
""",
    restores=None,
)

add(
    "project_loop_at_the_top_of_a_module",
    """
import tables
for epoch in range(2):
    tables.use(epoch)
    print(epoch)
+    print("PROBE", tables.SQUARES, tables.last)
=== tables.py
import time
SQUARES = []
for n in range(3):
    for m in range(3):
        time.sleep(0.01)
        SQUARES.append(n * m)
    last = n
def use(k):
    for i in range(3):
        time.sleep(0.01)
        SQUARES[i] += k
""",
    restores=None,
)
