import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Linear(4, 1)
old = net
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        grown = nn.Linear(4, 1)
        with torch.no_grad():
            grown.weight.copy_(net.weight + 0.1)
        net = grown
    print(net.weight.sum().item())
+    print("PROBE", net.weight.norm().item(), old.weight.norm().item(), old is net)
