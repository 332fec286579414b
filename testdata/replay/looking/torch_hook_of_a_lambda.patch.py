# florc: exact
# florc: restores = any
# florc: why = a lambda in an added statement is called by the module, later: what it prints is an answer
import torch
torch.manual_seed(0)
x = torch.randn(48, 6)
net = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
+net[0].register_forward_hook(lambda module, given, result: print("PROBE", result.mean().item(), sorted([2, 1], key=lambda n: abs(n))))
for epoch in range(3):
    for i in range(0, 48, 12):
        optimizer.zero_grad()
        loss = net(x[i : i + 12]).pow(2).mean()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, loss.item())
