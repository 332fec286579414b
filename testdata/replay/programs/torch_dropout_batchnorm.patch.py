import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
def train():
    net.train()
    total = 0.0
    for i in torch.randperm(4):
        time.sleep(0)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        total += loss.item()
    return total
@torch.no_grad()
def test():
    net.eval()
    return ((net(X) - Y) ** 2).mean().item()
for epoch in range(3):
    a = train()
    b = test()
    print(a, b)
+    print("PROBE", a, b, net[1].running_mean.norm().item(), net.training)
print(torch.rand(1))
+print("PROBE", net[1].num_batches_tracked.item())
