import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

from torch.utils.data import DataLoader, TensorDataset
g = torch.Generator().manual_seed(5)
loader = DataLoader(TensorDataset(X, Y), batch_size=4, shuffle=True, generator=g)
total = 0.0
for epoch in range(3):
    for x, y in loader:
        time.sleep(0)
        total += (x.sum() * y.sum()).item()
    print(total)
+    print("PROBE", total)
print(torch.rand(1, generator=g))
+print("PROBE", torch.rand(1).item())
