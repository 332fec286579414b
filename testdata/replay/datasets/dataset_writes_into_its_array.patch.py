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
        self.x = np.arange(24.0).reshape(12, 2)
    def __len__(self):
        return 12
    def __getitem__(self, i):
        self.x[i] += np.random.rand(2)
        return self.x[i].copy()
    def look(self):
        return self.x.sum()
data = D()
loader = DataLoader(data, batch_size=4, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += batch.sum().item()
    print(epoch, total)
+    print("PROBE", total, data.look())
