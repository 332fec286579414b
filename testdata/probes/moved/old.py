import torch


def train_epoch(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
    return loss


for epoch in range(10):
    loss = train_epoch(model, loader, optimizer)
    print(epoch, loss.item())
    for batch in test_loader:
        model.score(batch)
