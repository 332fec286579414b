"""Statements added to functions that are run in a loop without being called there by name, and by name elsewhere."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "reach_property_with_the_name_of_a_method",
    """
import time
class Meter:
    def __init__(self):
        self.values = []
    @property
    def mean(self):
+        print("PROBE", len(self.values))
        return sum(self.values) / max(len(self.values), 1)
class Other:
    def mean(self):
        return 0
meter, seen = Meter(), []
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        meter.values.append(i * epoch)
        seen.append(meter.mean)
    print(epoch, seen[-1], Other().mean())
""",
    restores=None,
)

add(
    "reach_method_by_getattr",
    """
import time
class Trainer:
    def __init__(self):
        self.total = 0
    def train_step(self, x):
        self.total += x
+        print("PROBE", self.total)
    def other_step(self, x):
        self.total -= x
trainer = Trainer()
trainer.train_step(5)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        getattr(trainer, "train" + "_step")(i)
    print(epoch, trainer.total)
""",
    restores=None,
)

add(
    "reach_init_of_a_class_from_a_table",
    """
import time
made = []
class Item:
    def __init__(self, n):
        self.n = n
        made.append(n)
+        print("PROBE", n, len(made))
KINDS = {"item": Item}
first = Item(0)
for epoch in range(3):
    items = []
    for i in range(3):
        time.sleep(0.01)
        items.append(KINDS["item"](i))
    print(epoch, len(items), made)
""",
    restores=None,
)

add(
    "reach_method_stored_in_an_attribute",
    """
import time
class Trainer:
    def __init__(self, fast):
        self.total = 0
        self.step = self.fast if fast else self.slow
    def fast(self, x):
        self.total += x
+        print("PROBE", self.total)
    def slow(self, x):
        self.total += 2 * x
trainer = Trainer(True)
trainer.fast(3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        trainer.step(i)
    print(epoch, trainer.total)
""",
    restores=None,
)

add(
    "reach_overridden_method_called_by_the_base",
    """
import time
class Base:
    def __init__(self):
        self.total = 0
    def step(self, x):
        self.inner(x)
    def inner(self, x):
        raise NotImplementedError
class Derived(Base):
    def inner(self, x):
        self.total += x
+        print("PROBE", self.total)
model = Derived()
model.inner(4)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        model.step(i)
    print(epoch, model.total)
""",
    restores=None,
)

add(
    "reach_context_manager_made_before_the_loop",
    """
import contextlib, time
log = []
@contextlib.contextmanager
def timed(name):
    log.append(name)
+    print("PROBE", name, len(log))
    yield
    log.append("end " + name)
for epoch in range(3):
    phase = timed("phase")
    for i in range(2):
        time.sleep(0.01)
        with (phase if i == 0 else timed("other")):
            log.append(i)
    print(epoch, log[-1], len(log))
""",
    restores=None,
)

add(
    "reach_generator_filled_into_a_queue",
    """
import time
from collections import deque
def source(n):
    for i in range(n):
+        print("PROBE", n, i)
        yield i * n
class Feeder:
    def __init__(self):
        self.sources = deque()
    def draw(self):
        for value in self.sources.popleft():
            return value
feeder, total = Feeder(), 0
for epoch in range(3):
    for k in range(3):
        feeder.sources.append(source(epoch + k + 1))
    for i in range(3):
        time.sleep(0.01)
        total += feeder.draw()
    print(epoch, total)
""",
    restores=None,
)

add(
    "reach_function_looked_up_in_globals",
    """
import time
total = [0]
def bump(x):
    total[0] += x
+    print("PROBE", total)
bump(2)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        globals()["bump"](i)
    print(epoch, total)
""",
    restores=None,
)

add(
    "reach_method_through_an_unknown_object",
    """
import time
class A:
    def __init__(self):
        self.n = 0
    def go(self):
        self.n += 1
+        print("PROBE", self.n)
class B(A):
    pass
class Holder:
    def __init__(self, parts):
        self.parts = parts
    def run(self):
        for part in self.parts:
            part.go()
A().go()
holder = Holder([B(), A()])
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        holder.run()
    print(epoch, [p.n for p in holder.parts])
""",
    restores=None,
)

add(
    "reach_thread_pool_map",
    """
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
def work(k, x):
    time.sleep(0.005)
+    print("PROBE", k, x)
    return k * x
work(1, 1)
totals = []
with ThreadPoolExecutor(1) as pool:
    for epoch in range(3):
        for i in range(3):
            totals.append(sum(pool.map(partial(work, i), range(3))))
        print(epoch, totals)
""",
    restores=None,
)

add(
    "reach_method_of_a_module_of_the_project",
    """
import time
import steps as s
s.update(s.STATE, 5)
table = {"a": s.update}
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        table["a"](s.STATE, i)
    print(epoch, s.STATE)
=== steps.py
STATE = {"n": 0}
def update(state, x):
    state["n"] += x
+    print("PROBE", state)
""",
    restores=None,
)

add(
    "reach_decorated_function",
    """
import functools, time
def logged(f):
    @functools.wraps(f)
    def inner(*args):
+        print("PROBE in", args)
        out = f(*args)
        calls.append(out)
        return out
    return inner
calls = []
@logged
def square(x):
+    print("PROBE square", x)
    return x * x
square(3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        square(i)
    print(epoch, calls)
""",
    restores=None,
)

HIDDEN = """
import itertools, time
DATA = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
{made}
def train(step):
    time.sleep(0.01)
    return {taken} * 2

total = 0
for epoch in range(4):
    for step in range(5):
        total += train(step)
    left = {taken}
+    print("PROBE", epoch, total, left)
    print(epoch)
"""

for name, made, taken in (
    (
        "closure_over_a_generator",
        """
def stream(rows):
    def batches():
        while True:
            yield from rows
    rows_of = batches()
    return lambda: next(rows_of)
take = stream(DATA)
""",
        "take()",
    ),
    (
        "closure_over_a_cycle",
        """
def stream(rows):
    rows_of = itertools.cycle(rows)
    return lambda: next(rows_of)
take = stream(DATA)
""",
        "take()",
    ),
    (
        "class_attribute",
        """
class Sample:
    ids = itertools.count()
    def __init__(self):
        self.id = next(Sample.ids)
""",
        "Sample().id",
    ),
    (
        "default_argument",
        """
def take(numbers=itertools.count()):
    return next(numbers)
""",
        "take()",
    ),
    (
        "default_argument_that_zips",
        """
def take(rows=zip(DATA * 9, itertools.count())):
    return sum(next(rows))
""",
        "take()",
    ),
):
    add(f"iterator_in_a_{name}", HIDDEN.format(made=made.strip(), taken=taken), restores=None)

for name, kinds, called in (
    ("table", 'KINDS = {"item": Item}', 'KINDS["item"](i)'),
    ("argument", "def make(cls, i):\n    return cls(i)", "make(Item, i)"),
    ("namespace", "import types; kinds = types.SimpleNamespace(Item=Item)", "kinds.Item(i)"),
):
    add(
        f"reach_init_that_does_little_{name}",
        f"""
import time
class Item:
    def __init__(self, n):
        self.n = n
+        print("PROBE", n)
{kinds}
first, total = Item(0), 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        total += {called}.n
    print(epoch, total)
""",
        restores=None,
    )
