import time, torch
torch.manual_seed(0)

class Mixture(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.calls = torch.nn.Linear(3, 3), 0
    def forward(self, x):
        self.aux_loss = 0.01 * self.layer.weight.pow(2).sum()
        return self.layer(x)

net = Mixture()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 3)
for epoch in range(3):
    for i in range(3):
        loss = net(x).pow(2).mean() + net.aux_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0)
+    with torch.no_grad():
+        print("PROBE", net(x).sum().item())
    print(epoch, loss.item())
