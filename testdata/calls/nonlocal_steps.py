"""A global step and a best value in the enclosing function; a decorated step; early return from the epoch function."""
import functools
import random

import numpy as np
import torch


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run(args, model, loader):
    seed_everything(args.seed)
    optimizer = torch.optim.RMSprop(model.parameters())
    global_step, best = 0, float("inf")

    def one_epoch():
        nonlocal global_step, best
        for x, y in loader:
            value = step(model, optimizer, x, y)
            best = min(best, value)
            global_step += 1
        return value

    def one_epoch_with_limit(limit):
        for i, (x, y) in enumerate(loader):
            step(model, optimizer, x, y)
            if i == limit:
                return i

    for epoch in range(args.epochs):
        print(epoch, one_epoch(), global_step, best)
        one_epoch_with_limit(5)


run(args, net, loader)
