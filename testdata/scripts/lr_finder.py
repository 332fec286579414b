# Learning rate range test, then training with the learning rate it suggests.
import copy
import hashlib
import math

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class LRFinder:
    """Raises the learning rate exponentially from batch to batch and notes the loss."""

    def __init__(self, model, optimizer, criterion):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion
        self.history = {"lr": [], "loss": []}
        self.best_loss = None
        self.model_state = copy.deepcopy(model.state_dict())
        self.optimizer_state = copy.deepcopy(optimizer.state_dict())

    def reset(self):
        self.model.load_state_dict(self.model_state)
        self.optimizer.load_state_dict(self.optimizer_state)

    def range_test(self, train_loader, end_lr=2.0, num_iter=80, smooth_f=0.1, diverge_th=5):
        start_lr = self.optimizer.param_groups[0]["lr"]
        schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda i: (end_lr / start_lr) ** (i / (num_iter - 1)))
        iterator = iter(train_loader)
        for iteration in range(num_iter):
            try:
                inputs, labels = next(iterator)
            except StopIteration:
                iterator = iter(train_loader)
                inputs, labels = next(iterator)
            loss = self._train_batch(inputs, labels)
            schedule.step()
            self.history["lr"].append(schedule.get_last_lr()[0])
            if iteration == 0:
                self.best_loss = loss
            else:
                loss = smooth_f * loss + (1 - smooth_f) * self.history["loss"][-1]
                if loss < self.best_loss:
                    self.best_loss = loss
            self.history["loss"].append(loss)
            if loss > diverge_th * self.best_loss:
                print("Stopping early, the loss has diverged")
                break

    def _train_batch(self, inputs, labels):
        self.model.train()
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(inputs), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def suggestion(self):
        losses, lrs = self.history["loss"], self.history["lr"]
        slopes = [(losses[i + 1] - losses[i - 1]) / math.log(lrs[i + 1] / lrs[i - 1])
                  for i in range(1, len(losses) - 1)]
        return lrs[slopes.index(min(slopes)) + 1] / 2


torch.manual_seed(2)
torch.set_num_threads(1)
images, labels = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels))
train_set, val_set = random_split(data, [1500, 297], generator=torch.Generator().manual_seed(0))
loader = DataLoader(train_set, batch_size=30, shuffle=True)
val_loader = DataLoader(val_set, batch_size=99)

net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Dropout(0.2), nn.Linear(256, 128), nn.GELU(), nn.Linear(128, 10))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)
finder = LRFinder(net, optimizer, criterion)
finder.range_test(loader)
lr = finder.suggestion()
print(f"suggested learning rate {lr:.6f}, lowest loss {finder.best_loss:.6f}")
finder.reset()
for group in optimizer.param_groups:
    group["lr"] = lr

for epoch in range(8):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in val_loader)
    print(f"epoch {epoch + 1}: loss {loss.item():.5f}, {right} of {len(val_set)} right")

sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in net.state_dict().values()))
print("weights", sha.hexdigest()[:16])
