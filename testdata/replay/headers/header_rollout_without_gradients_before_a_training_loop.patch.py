import time, torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for iteration in range(3):
    seen = []
    for step in range(4):
        time.sleep(0)
        with torch.no_grad():
            x = torch.randn(4, 3)
            seen.append((x, net(x)))
    for x, y in seen:
        time.sleep(0)
        optimizer.zero_grad()
        (net(x) - 2 * y - 1).pow(2).mean().backward()
        optimizer.step()
    print(iteration, net.weight.sum().item())
+    print("PROBE", net.bias.item(), len(seen))
