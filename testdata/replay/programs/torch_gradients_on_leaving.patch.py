# florc: exact
# florc: why = a `with` computes gradients when it is left
import torch
torch.manual_seed(0)
x, y = torch.randn(48, 6), torch.randn(48, 1)
net = torch.nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
mse = torch.nn.functional.mse_loss


class Batch:
    def __init__(self, rows):
        self.rows = rows

    def __enter__(self):
        return self

    def __exit__(self, *error):
        mse(net(x[self.rows]), y[self.rows]).backward()


for epoch in range(4):
    for i in torch.randperm(48).split(12):
        with Batch(i):
            optimizer.zero_grad()
        optimizer.step()
    print("epoch", epoch, net.bias.item())
+    print("PROBE", epoch, net.weight.grad.norm().item())
