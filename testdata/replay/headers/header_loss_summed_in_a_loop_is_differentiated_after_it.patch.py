# florc: restores = any
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def unroll(net, x):
    loss = 0
    for t in range(40):
        x = torch.roll(x, 1, 1)
        loss = loss + net(x).pow(2).mean()
    return loss
for epoch in range(3):
    for step in range(3):
        optimizer.zero_grad()
        loss = unroll(net, torch.randn(4, 3))
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
+    print("PROBE", net.weight.sum().item())
