"""Statements added to what a loop's header calls run in that loop: generators, conditions, iterables."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "header_generator_holds_the_probe",
    """
import random, time
random.seed(1)
def batches(data, size):
    order = random.sample(range(len(data)), len(data))
+    print("PROBE", order)
    for start in range(0, len(data), size):
        yield [data[i] for i in order[start:start + size]]
data = list(range(6))
total = 0
for epoch in range(3):
    for batch in batches(data, 2):
        time.sleep(0.01)
        total += batch[0] * random.random()
    print(epoch, total)
""",
    restores=None,
)

add(
    "header_generator_in_enumerate_and_method",
    """
import time
class Feed:
    def __init__(self):
        self.drawn = 0
    def batches(self):
        for i in range(3):
            self.drawn += i
+            print("PROBE", i, self.drawn)
            yield i
feed, total = Feed(), 0
for epoch in range(3):
    for k, x in enumerate(feed.batches()):
        time.sleep(0.01)
        total += x + k
    print(epoch, total)
print(feed.drawn)
""",
    restores=None,
)

add(
    "header_function_holds_the_probe",
    """
import time
def rows(n):
    found = []
    for i in range(3):
        found.append(i * n)
+    print("PROBE", found)
    return found
total = []
for epoch in range(3):
    for x in rows(epoch):
        time.sleep(0.01)
        total.append(x)
    print(epoch, total)
""",
    restores=None,
)

add(
    "header_condition_holds_the_probe",
    """
import time
state = {"left": 0, "sum": 0}
def more():
    state["left"] -= 1
+    print("PROBE", state)
    return state["left"] > 0
for epoch in range(3):
    state["left"] = 4
    while more():
        time.sleep(0.01)
        state["sum"] += state["left"]
    print(epoch, state["sum"])
""",
    restores=None,
)

add(
    "header_generator_made_before_the_loop",
    """
import time
def batches():
    for i in range(3):
+        print("PROBE", i)
        yield i
total = 0
for epoch in range(3):
    feed = batches()
    for x in feed:
        time.sleep(0.01)
        total += x
    print(epoch, total)
""",
    restores=None,
)

add(
    "header_generator_advanced_by_next_in_a_function",
    """
import time
def endless():
    n = 0
    while True:
        n += 1
+        print("PROBE", n)
        yield n
def step(totals, feed):
    totals.append(next(feed))
feed, totals = endless(), []
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        step(totals, feed)
    print(epoch, totals)
""",
    restores=None,
)

add(
    "header_generator_kept_in_an_object",
    """
import time
class Trainer:
    def __init__(self):
        self.feed = self.make()
        self.total = 0
    def make(self):
        for n in range(100):
+            print("PROBE", n)
            yield n
    def epoch(self):
        for i in range(3):
            time.sleep(0.01)
            self.total += next(self.feed)
trainer = Trainer()
for epoch in range(3):
    trainer.epoch()
    print(epoch, trainer.total)
""",
    restores=None,
)

add(
    "header_comprehension_calls_the_probed_function",
    """
import time
seen = []
def square(x):
    seen.append(x)
+    print("PROBE", x, len(seen))
    return x * x
total = 0
for epoch in range(3):
    for x in [square(i) for i in range(3)]:
        time.sleep(0.01)
        total += x
    print(epoch, total)
print(seen)
""",
    restores=None,
)

add(
    "header_wrapped_in_with_and_zip",
    """
import contextlib, time
@contextlib.contextmanager
def opened(log):
    log.append("open")
+    print("PROBE", log)
    yield log
    log.append("shut")
log, total = [], 0
for epoch in range(3):
    for i in range(2):
        with opened(log) as found:
            time.sleep(0.01)
            total += len(found)
    print(epoch, total)
""",
    restores=None,
)

add(
    "header_attribute_that_ends_in_an_underscore_is_shown",
    """
import time
class Model:
    def partial_fit(self, x):
        self.inertia_ = getattr(self, "inertia_", 0.0) * 0.5 + x
model = Model()
models = {"a": model}
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        model.partial_fit(i)
+        print("PROBE", i, model.inertia_, "{} {}".format(models["a"].inertia_, i), round(model.inertia_, 2))
    print(epoch, model.inertia_)
""",
    restores=None,
)

add(
    "header_loss_summed_in_a_loop_is_differentiated_after_it",
    """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def unroll(net, x):
    loss = 0
    for t in range(40):
        x = torch.roll(x, 1, 1)
        loss = loss + net(x).pow(2).mean()
    return loss
for epoch in range(3):
    for step in range(3):
        optimizer.zero_grad()
        loss = unroll(net, torch.randn(4, 3))
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
+    print("PROBE", net.weight.sum().item())
""",
    restores=None,
)

add(
    "header_rollout_without_gradients_before_a_training_loop",
    """
import time, torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for iteration in range(3):
    seen = []
    for step in range(4):
        time.sleep(0.02)
        with torch.no_grad():
            x = torch.randn(4, 3)
            seen.append((x, net(x)))
    for x, y in seen:
        time.sleep(0.02)
        optimizer.zero_grad()
        (net(x) - 2 * y - 1).pow(2).mean().backward()
        optimizer.step()
    print(iteration, net.weight.sum().item())
+    print("PROBE", net.bias.item(), len(seen))
""",
)
