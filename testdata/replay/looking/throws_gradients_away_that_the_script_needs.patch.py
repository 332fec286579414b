# florc: flagged
import time, torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 3)
for epoch in range(4):
    for i in range(5):
        net(x).pow(2).mean().backward()
        if (5 * epoch + i) % 2:
            optimizer.step()
            optimizer.zero_grad()
        time.sleep(0)
    print(epoch, net.weight.sum().item())
+    optimizer.zero_grad()
+    print("PROBE", net.weight.sum().item())
