import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
for p in net[0].parameters():
    p.requires_grad = False
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    for i in range(3):
        time.sleep(0)
        if epoch == 1 and i == 1:
            for p in net[0].parameters():
                p.requires_grad_(True)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", net[0].weight.requires_grad, net[0].weight.norm().item())
