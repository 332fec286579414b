# florc: exact
# florc: restores = any
# florc: why = torch.compile puts functions, and the dict of builtins, into the globals of the script: nobody's state.
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))

    def forward(self, x):
        assert len(x.shape) == 2
        for layer in self.layers:
            x = layer(x).tanh()
        return x.pow(2).mean()


net = Net()
model = torch.compile(net, backend="eager")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for step in range(4):
        loss = model(torch.randn(5, 8))
        optimizer.zero_grad()
        loss.backward()
+        print("PROBE", step, loss.item())
        optimizer.step()
    for step in range(4):
        optimizer.param_groups[0]["lr"] *= 0.99
    print(epoch, loss.item())
+    print("PROBE", epoch, net.layers[0].weight.sum().item())
