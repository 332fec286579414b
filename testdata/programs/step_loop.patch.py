# florc: exact
# florc: again outer = nothing
# florc: again inner = L3 6 ×
# florc: again callback = L3 6 ×
# florc: again after = nothing
# florc: why = What a loop of steps takes from an iterator that outlives it: blocks are restored, and the iterator lapses.
# florc: longer = range(6) -> range(10)
import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
x = torch.randn(4000, 64)
y = (x[:, :3].prod(1) > 0).long()


def together(rows):
    inputs, labels = zip(*rows)
+    print("PROBE callback", labels[0].item(), len(rows))
    return torch.stack(inputs), torch.stack(labels)


loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True, collate_fn=together)
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
+        print("PROBE inner", period, step, float(net[0].weight.grad.double().norm()))
        optimizer.step()
    with torch.no_grad():
        accuracies.append(net(test).argmax(1).float().mean().item())
    print("period", period, loss.item(), accuracies[-1])
+    print("PROBE outer", period, sum(float(p.detach().double().norm()) for p in net.parameters()))
print("best", max(accuracies), list(itertools.islice(accuracies, 2)))
+print("PROBE after", [float(p.detach().double().sum()) for p in net.parameters()])
