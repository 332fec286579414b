import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

w = torch.zeros(4, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        loss = ((X[i::4] @ w + b - Y[i::4]) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            b -= 0.1 * b.grad
            w.grad.zero_()
            b.grad = None
    print(loss.item())
+    print("PROBE", w.norm().item(), b.item(), w.requires_grad)
