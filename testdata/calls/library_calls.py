"""Library calls that change what they are given, or what they are called on."""
import heapq, queue, random, copy, itertools, functools, operator
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

rng = random.Random(0)
gen = np.random.default_rng(1)
tg = torch.Generator()
heap, q, cache = [], queue.Queue(), {}
table = np.zeros(4)
buf = torch.zeros(3)
stream = iter(range(1000))
model = nn.Linear(2, 2)
items = list(range(10))
names = ["a"]
perm = torch.randperm(4, generator=tg)
def visit(m):
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.weight)
class Bag:
    def __init__(self): self.xs = []; self.total = 0
    def __iadd__(self, o): self.xs.append(o); return self
    def __enter__(self): self.total += 1; return self
    def __exit__(self, *a): pass
    @property
    def last(self): self.total += 1; return self.xs[-1]
bag, bag2, bag3 = Bag(), Bag(), Bag()
for epoch in range(3):
    for step in range(10):
        heapq.heappush(heap, rng.random())
        q.put(step)
        got = q.get()
        np.add.at(table, [0], 1)
        gen.shuffle(items)
        head = list(itertools.islice(stream, 2))
        model.apply(visit)
        bag += step
        with bag2 as b:
            pass
        v = bag3.last if bag3.xs else 0
        torch.add(buf, 1, out=buf)
        F.relu(buf, inplace=True)
        x = torch.randn(2, generator=tg)
        functools.reduce(lambda acc, n: acc.append(n) or acc, items, names)
        cache.setdefault(step, []).append(1)
        operator.setitem(cache, 1, 2)
        model.weight.grad = None
        time_cost = model(x)
    print(len(heap), table)
