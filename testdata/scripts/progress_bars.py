# Progress bars everywhere: tqdm with postfix, enumerate, zip and islice.
import hashlib
import sys
from itertools import islice

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm, trange

torch.manual_seed(11)
torch.set_num_threads(1)

data = load_breast_cancer()
x = (data.data - data.data.mean(0)) / data.data.std(0)
x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(data.target, dtype=torch.float32)
labelled = TensorDataset(x[:400], y[:400])
unlabelled = TensorDataset(x[100:])
train_loader = DataLoader(labelled, batch_size=8, shuffle=True)
unlabelled_loader = DataLoader(unlabelled, batch_size=8, shuffle=True)
val_loader = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=32)

EPOCHS = 6
MAX_BATCHES = 48


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(30, 96), nn.SiLU(), nn.Linear(96, 48), nn.SiLU())
        self.head = nn.Linear(48, 1)
        self.decode = nn.Linear(48, 30)

    def forward(self, x):
        h = self.body(x)
        return self.head(h).squeeze(-1), self.decode(h)


def accuracy(model, loader):
    hits = []
    for xb, yb in tqdm(loader, leave=False, file=sys.stderr, desc="validate"):
        with torch.no_grad():
            logits, _ = model(xb)
        hits.extend(((logits > 0) == yb.bool()).tolist())
    return np.mean(hits)


model = Net()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
history = []

with trange(EPOCHS, desc="epochs", file=sys.stderr) as bar:
    for epoch in bar:
        model.train()
        train_losses = []
        steps = zip(train_loader, unlabelled_loader)
        inner = tqdm(enumerate(islice(steps, MAX_BATCHES)), total=MAX_BATCHES, leave=False, file=sys.stderr)
        for step, ((xb, yb), (ub,)) in inner:
            inner.set_description(f"epoch {epoch + 1}")
            logits, _ = model(xb)
            _, rebuilt = model(ub + 0.1 * torch.randn_like(ub))
            loss = bce(logits, yb) + 0.5 * (rebuilt - ub).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            train_losses.append(loss.item())
            inner.set_postfix(loss=f"{np.mean(train_losses[-10:]):.4f}")
        model.eval()
        acc = accuracy(model, val_loader)
        history.append((np.mean(train_losses), acc))
        bar.set_postfix(loss=history[-1][0], acc=acc)
        tqdm.write(f"epoch {epoch + 1}: train loss {history[-1][0]:.6f}, validation accuracy {acc:.4f}")

for (loss, acc), (next_loss, next_acc) in zip(history, history[1:]):
    print(f"loss {next_loss - loss:+.6f} accuracy {next_acc - acc:+.4f}")
sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values()))
print("weights", sha.hexdigest()[:16])
