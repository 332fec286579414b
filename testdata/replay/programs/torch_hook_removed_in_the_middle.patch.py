# florc: exact
# florc: restores = any
# florc: why = hooks are in no checkpoint, and an iteration removes one
import torch
torch.manual_seed(0)
x, y = torch.randn(48, 6), torch.randn(48, 1)
net = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
sums = []
handles = [net[0].register_forward_hook(lambda module, given, result: sums.append(float(result.sum())))]
for epoch in range(5):
    for i in torch.randperm(48).split(12):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x[i]), y[i])
        loss.backward()
        optimizer.step()
    if epoch == 2:
        handles[0].remove()
    print("epoch", epoch, loss.item())
+print("PROBE", len(net[0]._forward_hooks), len(sums))
