# florc: restores = any
import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(X, Y), batch_size=4, shuffle=True)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        time.sleep(0)
        loss = ((net(x) - y) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", loss.item(), x.sum().item(), i)
