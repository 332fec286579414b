# florc: exact
# florc: why = What a loop of steps takes from an iterator that outlives it: blocks are restored, and the iterator lapses.
import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
x = torch.randn(4000, 64)
y = (x[:, :3].prod(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
test = torch.randn(500, 64)


def forever(batches):
    while True:
        yield from batches


net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
batches = forever(loader)
accuracies = []
for period in range(6):
    for step in range(120):
        inputs, labels = next(batches)
        loss = nn.functional.cross_entropy(net(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracies.append(net(test).argmax(1).float().mean().item())
    print("period", period, loss.item(), accuracies[-1])
+    print("PROBE norm", period, sum(float(p.detach().double().norm()) for p in net.parameters()))
print("best", max(accuracies), list(itertools.islice(accuracies, 2)))
+print("PROBE end", [float(p.detach().double().sum()) for p in net.parameters()])
