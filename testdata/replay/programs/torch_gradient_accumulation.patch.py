import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
step = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        ((net(X[i::4]) - Y[i::4]) ** 2).mean().backward()
        step += 1
        if step % 4 == 0:
            opt.step()
            opt.zero_grad()
    print(epoch, net.weight.sum().item())
+    print("PROBE", net.weight.norm().item(), step)
