# florc: exact
# florc: why = as gradients_left_for_a_step, in a function, and for the script's own norm
import torch
torch.manual_seed(0)
x, y = torch.randn(60, 30), torch.randn(60, 30)
net = torch.nn.Linear(30, 30)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
mse = torch.nn.functional.mse_loss

def tune():
    mse(net(x[:5]), y[:5]).backward()
    norm = sum(p.grad.norm().item() for p in net.parameters())
    optimizer.step()
    net.zero_grad()
    return norm

for epoch in range(4):
    for i in range(0, 60, 20):
        optimizer.zero_grad()
        loss = mse(net(x[i : i + 20]), y[i : i + 20])
        loss.backward()
        optimizer.step()
    norm = tune()
    print("epoch", epoch, loss.item())
+    print("PROBE", epoch, net.weight.norm().item(), norm)
