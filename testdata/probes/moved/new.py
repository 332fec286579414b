"""A comment, blank lines and a helper above: nothing of the old code changed."""
import torch


def norm(model):
    # how large the weights are
    return sum(p.norm() for p in model.parameters())


def train_epoch(model, loader, optimizer):

    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).mean()

        loss.backward()
        optimizer.step()   # one step
    return loss


for epoch in range(10):
    loss = train_epoch(model, loader, optimizer)
    print(epoch, loss.item())
    if epoch % 2 == 0:
        print("norm", norm(model))
    for batch in test_loader:
        model.score(batch)
