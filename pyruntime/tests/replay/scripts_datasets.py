"""Datasets that change while they are read: caches, logs, transforms with state of their own."""

from cases import Cases

SCRIPTS = Cases()
add = SCRIPTS.add

HEAD = """
import random, time
import numpy as np
import torch
from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from torch.utils.data import DataLoader, Dataset, Sampler
torch.manual_seed(0); random.seed(0); np.random.seed(0)
"""
TRAIN = """
loader = DataLoader(data, batch_size=4, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0.01)
        total += batch.sum().item()
    print(epoch, total)
+    print("PROBE", total, data.look())
"""


def dataset(name: str, body: str, **options: object) -> None:
    """A dataset class `D`, trained on for three epochs."""
    add(f"dataset_{name}", HEAD + body.strip("\n") + "\ndata = D()" + TRAIN, restores=None, **options)  # type: ignore[arg-type]


dataset(
    "caches_random_tensors_by_index",
    """
class D(Dataset):
    def __init__(self):
        self.cache = {}
    def __len__(self):
        return 12
    def __getitem__(self, i):
        if i not in self.cache:
            self.cache[i] = torch.randn(3) + i
        return self.cache[i]
    def look(self):
        return len(self.cache), sum(v.sum().item() for v in self.cache.values())
""",
)

dataset(
    "caches_in_a_list_with_holes",
    """
class D(Dataset):
    def __init__(self):
        self.cache = [None] * 12
    def __len__(self):
        return 12
    def __getitem__(self, i):
        if self.cache[i] is None or random.random() < 0.3:
            self.cache[i] = np.random.rand(3)
        return self.cache[i]
    def look(self):
        return [None if v is None else v.sum() for v in self.cache]
""",
)

dataset(
    "writes_into_its_array",
    """
class D(Dataset):
    def __init__(self):
        self.x = np.arange(24.0).reshape(12, 2)
    def __len__(self):
        return 12
    def __getitem__(self, i):
        self.x[i] += np.random.rand(2)
        return self.x[i].copy()
    def look(self):
        return self.x.sum()
""",
)

dataset(
    "keeps_hard_examples_in_a_deque",
    """
class D(Dataset):
    def __init__(self):
        self.hard, self.seen = deque(maxlen=5), Counter()
    def __len__(self):
        return 12
    def __getitem__(self, i):
        self.seen[i] += 1
        if random.random() < 0.5:
            self.hard.append(torch.full((2,), float(i)))
        return self.hard[-1] if self.hard else torch.zeros(2)
    def look(self):
        return [v.tolist() for v in self.hard], sorted(self.seen.items())
""",
)

dataset(
    "holds_a_partial_and_a_lambda",
    """
def noisy(x, scale, rng):
    return x + scale * rng.normal(size=2)
class D(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(3)
        self.transform = partial(noisy, scale=np.array([0.1, 0.2]), rng=self.rng)
        self.target = lambda v: v * 2
        self.count = 0
    def __len__(self):
        return 12
    def __getitem__(self, i):
        self.count += 1
        return self.target(self.transform(np.full(2, float(i))))
    def look(self):
        return self.count, self.rng.bit_generator.state["state"]["state"]
""",
)

dataset(
    "moves_to_the_next_file",
    """
class D(Dataset):
    def __init__(self):
        self.files = [np.full((12, 2), float(k)) for k in range(5)]
        self.current, self.at, self.reads = self.files[0], 0, 0
    def __len__(self):
        return 12
    def __getitem__(self, i):
        self.reads += 1
        if self.reads % 7 == 0:
            self.at = (self.at + 1) % len(self.files)
            self.current = self.files[self.at]
        return self.current[i] + i
    def look(self):
        return self.at, self.reads, self.current[0, 0]
""",
)

dataset(
    "reads_the_next_file",
    """
def read(k):
    return np.full((12, 2), float(k)) + np.random.rand()
class D(Dataset):
    def __init__(self):
        self.at, self.reads = 0, 0
        self.current = read(0)
    def __len__(self):
        return 12
    def __getitem__(self, i):
        self.reads += 1
        if self.reads % 7 == 0:
            self.at += 1
            self.current = read(self.at)
        return self.current[i] + i
    def look(self):
        return self.at, self.reads, self.current[0, 0]
""",
)

dataset(
    "mixes_in_the_previous_sample",
    """
class D(Dataset):
    def __init__(self):
        self.previous = None
    def __len__(self):
        return 12
    def __getitem__(self, i):
        x = torch.rand(2) + i
        mixed = x if self.previous is None else 0.7 * x + 0.3 * self.previous
        self.previous = x
        return mixed
    def look(self):
        return None if self.previous is None else self.previous.tolist()
""",
)

dataset(
    "counts_in_a_named_index",
    """
class D(Dataset):
    def __init__(self):
        self.groups, self.order = defaultdict(lambda: [0, 0.0]), OrderedDict()
    def __len__(self):
        return 12
    def __getitem__(self, i):
        group = self.groups[i % 3]
        group[0] += 1
        group[1] += random.random()
        self.order[i] = len(self.order)
        self.order.move_to_end(i, last=False)
        return torch.tensor([float(group[0]), group[1]])
    def look(self):
        return {k: list(v) for k, v in self.groups.items()}, list(self.order)
""",
)

add(
    "dataset_sampler_weights_change_with_the_losses",
    HEAD
    + """
class Hard(Sampler):
    def __init__(self, n):
        self.n, self.weights = n, torch.ones(n)
    def __iter__(self):
        return iter(torch.multinomial(self.weights, self.n, replacement=True).tolist())
    def __len__(self):
        return self.n
    def update(self, index, loss):
        self.weights[index] = 0.5 * self.weights[index] + loss
x = torch.randn(12, 2)
sampler = Hard(12)
loader = DataLoader(list(zip(range(12), x)), batch_size=4, sampler=sampler)
total = 0.0
for epoch in range(3):
    for index, batch in loader:
        time.sleep(0.01)
        loss = batch.pow(2).sum(1)
        sampler.update(index, loss)
        total += loss.sum().item()
    print(epoch, total)
+    print("PROBE", total, sampler.weights.tolist())
""",
    restores=None,
)

add(
    "dataset_buffer_filled_by_the_loop",
    HEAD
    + """
class Buffer(Dataset):
    def __init__(self):
        self.items = []
    def push(self, *item):
        self.items.append(item)
        if len(self.items) > 9:
            self.items.pop(0)
    def __len__(self):
        return len(self.items)
    def __getitem__(self, i):
        return self.items[i]
buffer, total = Buffer(), 0.0
for epoch in range(3):
    for step in range(6):
        time.sleep(0.01)
        buffer.push(torch.rand(2), np.random.rand(2), step)
    for a, b, c in DataLoader(buffer, batch_size=3, shuffle=True):
        time.sleep(0.01)
        total += a.sum().item() + b.sum().item() + c.sum().item()
    print(epoch, total)
+    print("PROBE", total, [(a.tolist(), b.tolist(), c) for a, b, c in buffer.items])
""",
    restores=None,
)
