import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.b.weight = self.a.weight
    def forward(self, x): return self.b(self.a(x)).sum(1, keepdim=True)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", net.a.weight is net.b.weight, net.b.weight.norm().item())
