import random, time
from collections import defaultdict
from torch.utils.data import DataLoader, Dataset
random.seed(1)
class Pairs(Dataset):
    def __init__(self):
        self.by_label, self.drawn = defaultdict(list), 0
        for i in range(12):
            self.by_label[i % 3].append(i)
    def __len__(self):
        return 12
    def __getitem__(self, i):
        self.drawn += 1
        return random.choice(self.by_label[i % 3])
data = Pairs()
loader = DataLoader(data, batch_size=4)
total = 0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += int(batch.sum())
    print(epoch, total, data.drawn)
+    print("PROBE", total, data.drawn, random.getstate()[1][:3], data.by_label[0])
