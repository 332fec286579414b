# florc: restores = any
import random, time
import numpy as np
import torch
from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from torch.utils.data import DataLoader, Dataset, Sampler
torch.manual_seed(0); random.seed(0); np.random.seed(0)
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
data = D()
loader = DataLoader(data, batch_size=4, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += batch.sum().item()
    print(epoch, total)
+    print("PROBE", total, data.look())
