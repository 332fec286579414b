# florc: restores = any
import random, time
import numpy as np
import torch
from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from torch.utils.data import DataLoader, Dataset, Sampler
torch.manual_seed(0); random.seed(0); np.random.seed(0)

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
        time.sleep(0)
        loss = batch.pow(2).sum(1)
        sampler.update(index, loss)
        total += loss.sum().item()
    print(epoch, total)
+    print("PROBE", total, sampler.weights.tolist())
