# Training by steps instead of epochs: an endless cycle over two loaders, and
# evaluation every so often.
import hashlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits, load_wine
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


def cycle(loader):
    while True:
        for batch in loader:
            yield batch


def make_loader(load, cut, batch_size):
    x, y = load(return_X_y=True)
    x = torch.tensor((x - x.mean(0)) / (x.std(0) + 1e-6), dtype=torch.float32)
    data = TensorDataset(x, torch.tensor(y))
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0)).tolist()
    train, val = torch.utils.data.Subset(data, order[:cut]), torch.utils.data.Subset(data, order[cut:])
    return DataLoader(train, batch_size, shuffle=True, drop_last=True), DataLoader(val, 100)


class MultiTask(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.adapters = nn.ModuleDict({"digits": nn.Linear(64, dim), "wine": nn.Linear(13, dim)})
        self.trunk = nn.Sequential(nn.ReLU(), nn.Linear(dim, dim), nn.LayerNorm(dim), nn.ReLU(), nn.Dropout(0.1))
        self.heads = nn.ModuleDict({"digits": nn.Linear(dim, 10), "wine": nn.Linear(dim, 3)})

    def forward(self, x, task):
        shared = self.trunk(self.adapters[task](x))
        return self.heads[task](shared)


@torch.no_grad()
def evaluate(model, loaders):
    model.eval()
    out = {}
    for task, loader in loaders.items():
        right = total = 0
        for x, y in loader:
            right += (model(x, task).argmax(1) == y).sum().item()
            total += len(y)
        out[task] = right / total
    model.train()
    return out


torch.manual_seed(4)
torch.set_num_threads(1)
digits_train, digits_val = make_loader(load_digits, 1400, 32)
wine_train, wine_val = make_loader(load_wine, 130, 8)
val_loaders = {"digits": digits_val, "wine": wine_val}

max_steps, eval_every, warmup = 320, 40, 20
model = MultiTask()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup) * (1 - step / max_steps))
streams = {"digits": cycle(digits_train), "wine": cycle(wine_train)}
running = {task: 0.0 for task in streams}
best = {}

step = 0
while step < max_steps:
    task = "wine" if step % 4 == 3 else "digits"
    x, y = next(streams[task])
    loss = F.cross_entropy(model(x, task), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    running[task] = 0.9 * running[task] + 0.1 * loss.item()
    step += 1

    if step % eval_every == 0:
        accuracy = evaluate(model, val_loaders)
        for task, value in accuracy.items():
            best[task] = max(best.get(task, 0.0), value)
        print(f"step {step}: " + ", ".join(f"{t} loss {running[t]:.5f} accuracy {a:.4f}" for t, a in accuracy.items()))

print("best", {task: round(value, 4) for task, value in best.items()})
sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values()))
print("weights", sha.hexdigest()[:16])
