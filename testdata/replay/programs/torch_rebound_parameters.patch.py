import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

params = {"w": torch.zeros(4, 1)}
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        w = params["w"].clone().requires_grad_()
        loss = ((X[i::4] @ w - Y[i::4]) ** 2).mean()
        (g,) = torch.autograd.grad(loss, w)
        params["w"] = (w - 0.1 * g).detach()
    print(loss.item())
+    print("PROBE", params["w"].norm().item())
