import time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
X, Y = torch.randn(16, 4), torch.randn(16, 1)

rnn = nn.GRU(4, 3)
opt = torch.optim.SGD(rnn.parameters(), lr=0.1)
hidden = torch.zeros(1, 4, 3)
for epoch in range(3):
    for i in range(3):
        time.sleep(0)
        out, hidden = rnn(X[i::4].view(1, 4, 4) if len(X[i::4]) == 4 else X[:4].view(1, 4, 4), hidden.detach())
        loss = (out ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
+    print("PROBE", hidden.norm().item())
