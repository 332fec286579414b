# Stochastic weight averaging and an exponential moving average side by side.
import hashlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
torch.set_num_threads(1)

x, y = load_digits(return_X_y=True)
x = torch.tensor(x, dtype=torch.float32).view(-1, 1, 8, 8) / 16
y = torch.tensor(y)
train_loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=40, shuffle=True)
val_loader = DataLoader(TensorDataset(x[1200:], y[1200:]), batch_size=100)


class DepthwiseNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.depthwise = nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False)
        self.pointwise = nn.Conv2d(width, 2 * width, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(2 * width)
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x):
        x = F.hardswish(self.bn1(self.stem(x)))
        x = F.hardswish(self.bn2(self.pointwise(self.depthwise(x))))
        return self.head(x.mean(dim=(2, 3)))


def validate(model):
    was_training = model.training
    model.eval()
    loss, correct = 0.0, 0
    with torch.no_grad():
        for inputs, targets in val_loader:
            outputs = model(inputs)
            loss += F.cross_entropy(outputs, targets, reduction="sum").item()
            correct += (outputs.argmax(1) == targets).sum().item()
    model.train(was_training)
    count = len(val_loader.dataset)
    return loss / count, correct / count


epochs, swa_start = 7, 4
model = DepthwiseNet()
swa_model = AveragedModel(model)
ema_model = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.95), use_buffers=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
swa_scheduler = SWALR(optimizer, anneal_strategy="linear", anneal_epochs=2, swa_lr=0.05)
log = []

for epoch in range(epochs):
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        ema_model.update_parameters(model)
    if epoch >= swa_start:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    (raw_loss, raw_acc), (ema_loss, ema_acc) = validate(model), validate(ema_model)
    log.append((raw_acc, ema_acc))
    print(f"{epoch}: raw {raw_loss:.5f} {raw_acc:.4f}  ema {ema_loss:.5f} {ema_acc:.4f}  "
          f"lr {optimizer.param_groups[0]['lr']:.5f}  averaged {swa_model.n_averaged.item()}")

update_bn(train_loader, swa_model)
swa_loss, swa_acc = validate(swa_model)
print(f"swa {swa_loss:.5f} {swa_acc:.4f}, best raw {max(log)[0]:.4f}")
sha = hashlib.sha256()
for net in (model, swa_model, ema_model):
    sha.update(b"".join(v.numpy().tobytes() for v in net.state_dict().values()))
print("weights", sha.hexdigest()[:16])
