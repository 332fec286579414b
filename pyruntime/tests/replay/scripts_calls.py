"""Calls of libraries, and of functions that are handed over, wrapped or returned: what they change must be put back."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

add(
    "bar_made_before_the_loop",
    """
import random, time
from tqdm import tqdm
random.seed(1)
data = list(range(5))
total = 0
for epoch in range(3):
    bar = tqdm(enumerate(data), total=5, disable=True)
    for i, x in bar:
        time.sleep(0.01)
        total += x * random.random()
        bar.set_postfix(total=total)
    print(epoch, total)
+    print("PROBE", total)
""",
)

add(
    "cycle_made_outside_is_advanced_inside",
    """
import time
from itertools import cycle
endless = cycle([1, 2, 3, 5, 7])
total = 0
for epoch in range(3):
    pairs = zip(range(3), endless)
    for i, x in pairs:
        time.sleep(0.01)
        total += x
    print(epoch, total, next(endless))
+    print("PROBE", total)
""",
    restores=False,
)

add(
    "iterator_exhausted_by_a_call",
    """
import time
from itertools import islice
stream = iter(range(100))
sums = []
for epoch in range(3):
    for i in range(2):
        time.sleep(0.01)
        sums.append(sum(islice(stream, 3)))
    print(epoch, sums)
+    print("PROBE", sums)
""",
    restores=False,
)

add(
    "results_written_by_position",
    """
import time
import numpy as np
a, b = np.zeros(3), np.ones(3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        np.add(a, i, a)
        np.exp(b / 10, b)
        np.maximum.at(a, [0, 1], 2.5)
    print(epoch, a, b)
+    print("PROBE", a, b)
""",
)

add(
    "generator_objects",
    """
import random, time
import numpy as np
import torch
r, g, t = random.Random(3), np.random.default_rng(4), torch.Generator()
deck = list(range(6))
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        g.shuffle(deck)
        r.choice(deck)
        x = torch.rand(1, generator=t)
    print(epoch, deck, r.random(), g.random(), torch.rand(1, generator=t).item())
+    print("PROBE", deck)
""",
)

add(
    "queue_and_heap",
    """
import heapq, queue, time
q, heap = queue.Queue(), []
for epoch in range(3):
    for i in range(4):
        time.sleep(0.01)
        heapq.heappush(heap, (i * 7 + epoch) % 5)
        if i % 2:
            heapq.heappop(heap)
    print(epoch, heap)
+    print("PROBE", heap)
""",
)

add(
    "step_made_by_a_function",
    """
import time
import torch
torch.manual_seed(0)
def make(net, opt):
    def step(x):
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()
        return loss.item()
    return step
net = torch.nn.Linear(3, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.1)
step = make(net, opt)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        loss = step(torch.randn(4, 3))
    print(epoch, loss)
+    print("PROBE", loss, net.weight.sum().item())
""",
)

add(
    "step_bound_by_partial",
    """
import time
from functools import partial
def step(log, table, x):
    time.sleep(0.01)
    log.append(x)
    table[x] = len(log)
log, table = [], {}
bound = partial(step, log, table)
for epoch in range(3):
    for i in range(3):
        bound(i + epoch)
    print(epoch, log)
+    print("PROBE", log, table)
""",
)

add(
    "state_hidden_in_the_function_that_made_it",
    """
import time
def make():
    seen = []
    def step(x):
        time.sleep(0.01)
        seen.append(x)
        return len(seen)
    return step
step = make()
for epoch in range(3):
    for i in range(3):
        n = step(i)
    print(epoch, n)
+    print("PROBE", n)
""",
    restores=None,
)

add(
    "callbacks_change_what_they_are_called_with",
    """
import time
def grow(row):
    row.append(len(row))
rows, sums, names = [[], [1]], [0], ["b", "a"]
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        list(map(grow, rows))
        list(map(lambda row: row.reverse(), rows))
        sorted(names, key=lambda name: sums.append(i) or name)
    print(epoch, rows, sums)
+    print("PROBE", rows, sums)
""",
)

add(
    "comprehensions_in_a_function",
    """
import time
import torch
def decay(net):
    [p.data.mul_(0.5) for p in net.parameters()]
    return {name: p.data.add_(1).sum().item() for name, p in net.named_parameters()}
torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        sums = decay(net)
    print(epoch, sums)
+    print("PROBE", sums, net.weight.sum().item())
""",
)

add(
    "passed_callable_with_a_result",
    """
import time
def step(box, x):
    time.sleep(0.01)
    box["n"] += x
    return box["n"]
def train(f, box):
    for i in range(3):
        last = f(box, i)
    return last
box = {"n": 0}
for epoch in range(3):
    last = train(step, box)
    print(epoch, last)
+    print("PROBE", last, box)
""",
)

add(
    "vars_of_an_object",
    """
import time
class Settings: pass
settings = Settings()
settings.n = 0
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        vars(settings)["n"] += i
        vars(settings).update(last=i)
    print(epoch, settings.n)
+    print("PROBE", settings.n, settings.last)
""",
)

add(
    "estimator_fitted_in_parts",
    """
import time
import numpy as np
from sklearn.linear_model import SGDRegressor
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
model = SGDRegressor(random_state=0)
for epoch in range(3):
    for start in range(0, 60, 20):
        time.sleep(0.01)
        model.partial_fit(X[start:start + 20], y[start:start + 20])
    print(epoch, model.coef_)
+    print("PROBE", model.coef_, model.t_)
""",
)

add(
    "data_set_that_counts",
    """
import time
import torch
class Counting(torch.utils.data.Dataset):
    def __init__(self):
        self.asked, self.log = 0, []
    def __len__(self):
        return 6
    def __getitem__(self, i):
        self.asked += 1
        self.log.append(i)
        return torch.tensor(float(i))
torch.manual_seed(0)
data = Counting()
loader = torch.utils.data.DataLoader(data, batch_size=2, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0.01)
        total += batch.sum().item() * data.asked
    print(epoch, total, data.asked)
+    print("PROBE", total, data.log)
""",
    restores=None,
)

add(
    "loader_with_a_collate_function",
    """
import time
import torch
torch.manual_seed(0)
lengths = []
def collate(rows):
    lengths.append(len(rows))
    return torch.stack(rows)
rows = [torch.tensor([float(i)]) for i in range(5)]
loader = torch.utils.data.DataLoader(rows, batch_size=2, shuffle=True, collate_fn=collate)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0.01)
        total += batch.sum().item()
    print(epoch, total, lengths)
+    print("PROBE", lengths)
""",
    restores=None,
)

add(
    "block_run_through_a_checkpoint",
    """
import time
import torch
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
block = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
for epoch in range(3):
    for i in range(3):
        time.sleep(0.01)
        out = checkpoint(block, torch.randn(4, 2), use_reentrant=False)
    print(epoch, block[1].running_mean)
+    print("PROBE", block[1].running_mean, block[1].num_batches_tracked)
""",
)

add(
    "added_statement_calls_an_object_whose_attributes_change",
    """
import time
class Average:
    def __init__(self):
        self.total, self.steps = 0.0, 0
    def update(self, value):
        self.total += value
        self.steps += 1
    def __call__(self):
        return self.total / self.steps
def train(epoch):
    average = Average()
    for i in range(4):
        time.sleep(0.01)
        average.update(i * epoch)
+        print("PROBE", average())
    print(average())
for epoch in range(3):
    train(epoch)
""",
    restores=False,
)
