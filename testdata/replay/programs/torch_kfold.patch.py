import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

from sklearn.model_selection import KFold
scores = []
for fold, (tr, va) in enumerate(KFold(2).split(X)):
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        for i in range(3):
            time.sleep(0)
            loss = ((net(X[tr][i::3]) - Y[tr][i::3]) ** 2).mean()
            opt.zero_grad(); loss.backward(); opt.step()
        print(fold, epoch, loss.item())
+        print("PROBE", fold, epoch, net.weight.norm().item())
    scores.append(loss.item())
print(scores)
+print("PROBE", scores)
