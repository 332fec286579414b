# florc: restores = any
import random, time
import numpy as np
import torch
from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from torch.utils.data import DataLoader, Dataset, Sampler
torch.manual_seed(0); random.seed(0); np.random.seed(0)
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
data = D()
loader = DataLoader(data, batch_size=4, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += batch.sum().item()
    print(epoch, total)
+    print("PROBE", total, data.look())
