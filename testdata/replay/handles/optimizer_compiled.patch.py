# florc: exact
# florc: why = A compiled step of an optimizer holds the parameters in a module that the compiler makes: it owns nothing.
import logging

import torch
from torch import nn

torch.manual_seed(0)
torch._logging.set_logs(all=logging.ERROR)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
net.compile(backend="eager")
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


@torch.compile(backend="eager")
def step():
    optimizer.step()


x = torch.randn(400, 4)
y = x.sum(1, keepdim=True)
for epoch in range(4):
    for batch in range(40):
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        step()
    print(epoch, loss.item())
+    print("PROBE", epoch, [p.sum().item() for p in net.parameters()], net[1].running_mean.sum().item())
