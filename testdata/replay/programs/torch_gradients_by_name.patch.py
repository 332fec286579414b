# florc: exact
# florc: why = the method is looked up by its name
import torch
torch.manual_seed(0)
x, y = torch.randn(48, 6), torch.randn(48, 1)
net = torch.nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
mse = torch.nn.functional.mse_loss

for epoch in range(4):
    for i in torch.randperm(48).split(12):
        optimizer.zero_grad()
        getattr(mse(net(x[i]), y[i]), "backward")()
        optimizer.step()
    print("epoch", epoch, net.bias.item())
+    print("PROBE", epoch, net.weight.grad.norm().item())
