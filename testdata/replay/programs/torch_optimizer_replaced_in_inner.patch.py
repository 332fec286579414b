# florc: restores = any
import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
step = 0
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        step += 1
        if step == 5:
            opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", type(opt).__name__, len(opt.state), net.weight.norm().item())
