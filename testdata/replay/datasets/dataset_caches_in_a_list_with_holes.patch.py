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
        self.cache = [None] * 12
    def __len__(self):
        return 12
    def __getitem__(self, i):
        if self.cache[i] is None or random.random() < 0.3:
            self.cache[i] = np.random.rand(3)
        return self.cache[i]
    def look(self):
        return [None if v is None else v.sum() for v in self.cache]
data = D()
loader = DataLoader(data, batch_size=4, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += batch.sum().item()
    print(epoch, total)
+    print("PROBE", total, data.look())
