# florc: restores = any
import time
import torch
class Counting(torch.utils.data.Dataset):
    def __init__(self):
        self.asked, self.log = 0, []
    def __len__(self):
        return 6
    def __getitem__(self, i):
        self.asked += 1
        self.log.append(i)
        return torch.tensor(float(i))
torch.manual_seed(0)
data = Counting()
loader = torch.utils.data.DataLoader(data, batch_size=2, shuffle=True)
total = 0.0
for epoch in range(3):
    for batch in loader:
        time.sleep(0)
        total += batch.sum().item() * data.asked
    print(epoch, total, data.asked)
+    print("PROBE", total, data.log)
