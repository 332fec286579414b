"""Weights averaged by hand, and by the library."""
import copy

import torch
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn

model = Net()
ema = copy.deepcopy(model)
swa_model = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
swa_scheduler = SWALR(optimizer, swa_lr=0.05)


@torch.no_grad()
def update_ema(averaged, current, decay=0.999):
    for a, c in zip(averaged.parameters(), current.parameters()):
        a.mul_(decay).add_(c, alpha=1 - decay)
    for a, c in zip(averaged.buffers(), current.buffers()):
        a.copy_(c)


for epoch in range(30):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        update_ema(ema, model)
    if epoch > 20:
        swa_model.update_parameters(model)
        swa_scheduler.step()
update_bn(loader, swa_model)
