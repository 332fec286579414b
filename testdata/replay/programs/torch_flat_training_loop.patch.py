# florc: restores = any
import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    time.sleep(0)
    loss = ((net(X[step % 4::4]) - Y[step % 4::4]) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 4 == 3:
        print(step, loss.item())
+        print("PROBE", net.weight.norm().item())
print(net.weight.sum().item())
