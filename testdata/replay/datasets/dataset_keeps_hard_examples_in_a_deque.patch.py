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
data = D()
loader = DataLoader(data, batch_size=4, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += batch.sum().item()
    print(epoch, total)
+    print("PROBE", total, data.look())
