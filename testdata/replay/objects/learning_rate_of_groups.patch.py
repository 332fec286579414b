import time
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    for group in opt.param_groups:
        time.sleep(0)
        group["lr"] = 0.1 * 0.5 ** epoch
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
    print(epoch, net.weight.sum().item())
+    print("PROBE", opt.param_groups[0]["lr"], len(opt.state))
