# florc: restores = any
import random, time
import numpy as np
import torch
from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from torch.utils.data import DataLoader, Dataset, Sampler
torch.manual_seed(0); random.seed(0); np.random.seed(0)
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
data = D()
loader = DataLoader(data, batch_size=4, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += batch.sum().item()
    print(epoch, total)
+    print("PROBE", total, data.look())
