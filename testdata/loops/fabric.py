"""Fabric sets up the model and does the backward pass; checkpoints are kept in a list of the best three."""
import heapq

import torch
from lightning.fabric import Fabric


def main():
    fabric = Fabric(accelerator="cuda", devices=2)
    fabric.launch()
    model = Net()
    optimizer = torch.optim.Adadelta(model.parameters())
    model, optimizer = fabric.setup(model, optimizer)
    loader = fabric.setup_dataloaders(make_loader())
    best = []
    for epoch in range(5):
        model.train()
        epoch_loss = torch.tensor(0.0)
        for batch_idx, (data, target) in enumerate(loader):
            optimizer.zero_grad()
            loss = torch.nn.functional.nll_loss(model(data), target)
            fabric.backward(loss)
            optimizer.step()
            epoch_loss += loss.detach()
            if batch_idx % 10 == 0:
                fabric.print(epoch, batch_idx, loss.item())
        heapq.heappush(best, (-epoch_loss.item(), epoch))
        if len(best) > 3:
            heapq.heappop(best)


if __name__ == "__main__":
    main()
