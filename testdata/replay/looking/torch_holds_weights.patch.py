# florc: exact
# florc: why = added statements hold weights by names and in a list of their own, while blocks are restored
import torch
torch.manual_seed(0)
x, y = torch.randn(48, 6), torch.randn(48, 1)
net = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
+held = {"all": [list(net.parameters())], "last": net[1]}
+head = net[1]
for epoch in range(5):
    for i in torch.randperm(48).split(12):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x[i]), y[i])
        loss.backward()
        optimizer.step()
    print("epoch", epoch, loss.item())
+    total = 0.0
+    for p in net.parameters():
+        total += p.norm().item()
+    print("PROBE", epoch, total, [w.sum().item() for w in held["all"][0]], head.bias.item(), head is net[1], held["last"] is net[1])
