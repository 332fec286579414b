"""Grid search over learning rate and weight decay, a fresh model for each; the best one is kept."""
import hashlib
import itertools
from collections import OrderedDict, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)


class RunBuilder():
    @staticmethod
    def get_runs(params):
        Run = namedtuple('Run', params.keys())
        return [Run(*v) for v in itertools.product(*params.values())]


class MLP(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.bn = nn.BatchNorm1d(30)
        self.fc1 = nn.Linear(30, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 1)
        self.p = p

    def forward(self, x):
        x = F.relu(self.fc1(self.bn(x)))
        x = F.dropout(F.relu(self.fc2(x)), self.p, self.training)
        return self.fc3(x).squeeze(1)


def batches(x, y, size):
    order = torch.randperm(len(x))
    for start in range(0, len(x), size):
        chosen = order[start:start + size]
        yield x[chosen], y[chosen]


def score(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    auc = roc_auc_score(y.numpy(), logits.numpy())
    return F.binary_cross_entropy_with_logits(logits, y).item(), auc


data = load_breast_cancer()
x_train, x_val, y_train, y_val = map(
    torch.tensor, train_test_split(data.data.astype(np.float32), data.target.astype(np.float32),
                                   test_size=0.3, random_state=0))

params = OrderedDict(lr=[3e-3, 3e-4], weight_decay=[0.0, 0.1], width=[32, 64])
best_auc, best_run, best_weights = 0.0, None, None
table = []

for run_id, run in enumerate(RunBuilder.get_runs(params)):
    torch.manual_seed(run_id)
    model = MLP(run.width, p=0.3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=run.lr, weight_decay=run.weight_decay)

    for epoch in range(6):
        model.train()
        total_loss = 0
        for xb, yb in batches(x_train, y_train, 16):
            loss = F.binary_cross_entropy_with_logits(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(xb)
        val_loss, auc = score(model, x_val, y_val)
        row = OrderedDict(run=run_id, epoch=epoch, loss=total_loss / len(x_train), val=val_loss, auc=auc)
        for k, v in run._asdict().items():
            row[k] = v
        table.append(row)

    print(" ".join(f"{k}={v:.5g}" for k, v in table[-1].items()))
    if auc > best_auc:
        best_auc, best_run = auc, run
        best_weights = {k: v.clone() for k, v in model.state_dict().items()}

print("best", best_run, f"{best_auc:.6f}")
model = MLP(best_run.width, p=0.0)
model.load_state_dict(best_weights)
print("again %.6f %.6f" % score(model, x_val, y_val))
sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values()))
print("weights", sha.hexdigest()[:16])
