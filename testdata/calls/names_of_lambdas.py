# A name that only comprehensions and lambdas have is no global: it must not be asked for.
import torch
import torch.nn as nn

net = nn.Linear(1, 1)
data = torch.randn(50, 1)


def norms(model):
    params = {k: v.detach() for k, v in model.named_parameters()}
    for i in range(3):
        norm = {k: p.norm() for k, p in params.items()}
    return norm


print(norms(net))
square = lambda v: v * v
for epoch in range(4):
    optimizer = torch.optim.Adam(net.parameters(), 0.1)
    for _ in range(30):
        optimizer.zero_grad()
        loss = net(data).pow(2).mean()
        loss.backward()
        optimizer.step()
    k = lambda a, b: net.weight * a * b
    print(epoch, loss.item(), k(1, 2).item(), square(3))
