import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
warm = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        loss = ((net(X[i::4]) - Y[i::4]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        sched.step()
    warm.step(loss.item())
    print(loss.item())
+    print("PROBE", sched.get_last_lr(), opt.param_groups[0]["lr"], warm.best, sched.last_epoch)
