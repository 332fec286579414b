import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

import copy
net = nn.Linear(4, 1)
ema = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        with torch.no_grad():
            for p, e in zip(net.parameters(), ema.parameters()):
                e.mul_(0.9).add_(p, alpha=0.1)
    print(loss.item())
+    print("PROBE", ema.weight.norm().item(), net.weight.norm().item())
