# florc: restores = any
import random, time
import numpy as np
import torch
from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from torch.utils.data import DataLoader, Dataset, Sampler
torch.manual_seed(0); random.seed(0); np.random.seed(0)

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
        time.sleep(0)
        buffer.push(torch.rand(2), np.random.rand(2), step)
    for a, b, c in DataLoader(buffer, batch_size=3, shuffle=True):
        time.sleep(0)
        total += a.sum().item() + b.sum().item() + c.sum().item()
    print(epoch, total)
+    print("PROBE", total, [(a.tolist(), b.tolist(), c) for a, b, c in buffer.items])
