import torch
import math


def train_epoch(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), math.inf)
        print("grad norm", norm)
        optimizer.step()
    return loss


for epoch in range(10):
    loss = train_epoch(model, loader, optimizer)
    print(epoch, loss.item(), model.weight.norm())
    for batch in test_loader:
        model.score(batch)
