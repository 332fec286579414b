import time
import torch
torch.manual_seed(0)
def make(net, opt):
    def step(x):
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        opt.step()
        return loss.item()
    return step
net = torch.nn.Linear(3, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.1)
step = make(net, opt)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        loss = step(torch.randn(4, 3))
    print(epoch, loss)
+    print("PROBE", loss, net.weight.sum().item())
