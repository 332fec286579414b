import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 1)
        self.calls = 0
        self.seen = []
    def forward(self, x):
        self.calls += 1
        self.seen.append(x.sum().item())
        return self.lin(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", net.calls, net.seen)
