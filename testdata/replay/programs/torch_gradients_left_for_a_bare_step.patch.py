# florc: exact
# florc: why = a step after the loop takes the gradients of its last batch once more
import torch
torch.manual_seed(0)
x, y = torch.randn(60, 30), torch.randn(60, 30)
net = torch.nn.Linear(30, 30)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
mse = torch.nn.functional.mse_loss

for epoch in range(4):
    for i in range(0, 60, 20):
        optimizer.zero_grad()
        loss = mse(net(x[i : i + 20]), y[i : i + 20])
        loss.backward()
        optimizer.step()
    optimizer.step()
    optimizer.zero_grad()
    print("epoch", epoch, loss.item())
+    print("PROBE", epoch, net.weight.norm().item())
