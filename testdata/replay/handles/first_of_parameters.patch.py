# florc: exact
import time, torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
for epoch in range(3):
    for step in range(5):
        with torch.no_grad():
            for p in net.parameters():
                p.mul_(0.9)
        time.sleep(0)
+    print("PROBE", next(net.parameters()).dtype, next(net.named_parameters())[0], float(next(iter(net.parameters())).sum()))
    print("epoch", epoch)
