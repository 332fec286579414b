# florc: restores = any
import time, torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(8, 3)
losses, best = [], None
for i, p in enumerate(net.parameters()):
    p.data.mul_(1.5)

def evaluate(model, data):
    out = model(data).sum().item()
    return out

for epoch in range(4):
    for i in range(3):
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0)
+        for i, p in enumerate(net.parameters()): print("PROBE", i, p.grad.norm().item())
    losses.append(loss.item())
    best = min(losses)
    print(epoch, losses[-1], best)
