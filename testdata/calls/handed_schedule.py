# The library that is handed the function calls it. Its epochs end with the step of a schedule, which is no training step:
# the loop inside takes those, and is a block of its own, as it is in a script.
import torch
import torch.multiprocessing as mp
from torch import nn


def train(rank, loader):
    net = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for epoch in range(3):
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(rank, epoch, loss.item())


def accumulate(rank, loader):
    net = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        # gradients are collected inside, and the step follows: it is the outer loop that trains
        for x, y in loader:
            nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        print(rank, epoch)


mp.spawn(train, args=([],), nprocs=2)
mp.spawn(accumulate, args=([],), nprocs=2)
