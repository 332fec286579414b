# A compiled model: torch.compile with the eager backend, which needs no C compiler.
import hashlib

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_float32_matmul_precision("high")


class ResidualBlock(nn.Module):
    def __init__(self, dim, p):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.p = p

    def forward(self, x):
        return x + nn.functional.dropout(self.net(x), self.p, self.training)


class Regressor(nn.Module):
    def __init__(self, inputs, dim=32, blocks=2):
        super().__init__()
        self.stem = nn.Linear(inputs, dim)
        self.blocks = nn.ModuleList(ResidualBlock(dim, 0.1) for _ in range(blocks))
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


x, y = load_diabetes(return_X_y=True)
x = torch.tensor(x * 20, dtype=torch.float32)
y = torch.tensor((y - y.mean()) / y.std(), dtype=torch.float32)
train = DataLoader(TensorDataset(x[:360], y[:360]), batch_size=12, shuffle=True, drop_last=True)

raw_model = Regressor(x.shape[1])
model = torch.compile(raw_model, backend="eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)


def train_step(batch, target):
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.huber_loss(model(batch), target)
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def r2():
    raw_model.eval()
    residual = (raw_model(x[360:]) - y[360:]).square().sum()
    raw_model.train()
    return 1 - residual / (y[360:] - y[360:].mean()).square().sum()


for epoch in range(1, 9):
    losses = torch.zeros(len(train))
    for i, (batch, target) in enumerate(train):
        losses[i] = train_step(batch, target)
    print(f"epoch {epoch} loss {losses.mean():.6f} r2 {r2().item():.6f}")

print("spread of the last epoch", np.ptp(losses.numpy()))
sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in raw_model.state_dict().values()))
print("weights", sha.hexdigest()[:16])
