# florc: exact
# florc: why = the optimizer calls what computes gradients
import torch
torch.manual_seed(0)
x, y = torch.randn(48, 6), torch.randn(48, 1)
net = torch.nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
mse = torch.nn.functional.mse_loss
batch = torch.arange(12)


def closure():
    optimizer.zero_grad()
    loss = mse(net(x[batch]), y[batch])
    loss.backward()
    return loss


for epoch in range(4):
    for i in torch.randperm(48).split(12):
        optimizer.step(closure)
    print("epoch", epoch, net.bias.item())
+    print("PROBE", epoch, net.weight.grad.norm().item())
