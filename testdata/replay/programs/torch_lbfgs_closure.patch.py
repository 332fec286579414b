import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Linear(4, 1)
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=3)
evals = 0
for epoch in range(3):
    for i in range(2):
        time.sleep(0)
        def closure():
            global evals
            evals += 1
            opt.zero_grad()
            loss = ((net(X) - Y) ** 2).mean()
            loss.backward()
            return loss
        loss = opt.step(closure)
    print(loss.item(), evals)
+    print("PROBE", net.weight.norm().item(), evals)
