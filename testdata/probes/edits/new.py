import torch


def train_epoch(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()
    return loss


best = 0
for epoch in range(20):
    loss = train_epoch(model, loader, optimizer)
    optimizer.param_groups[0]["lr"] *= 0.5
    print(epoch, loss.item())
    for batch in test_loader:
        model.score(batch)
        if batch is None:
            break
