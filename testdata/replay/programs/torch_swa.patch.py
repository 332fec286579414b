import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Linear(4, 1)
avg = torch.optim.swa_utils.AveragedModel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        avg.update_parameters(net)
    print(loss.item())
+    print("PROBE", avg.module.weight.norm().item(), avg.n_averaged.item())
