"""A step that is made by a function, bound by `partial`, compiled, or handed over."""
from functools import partial

import torch


def make_train_step(model, loss_fn, optimizer):
    def step(x, y):
        model.train()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def plain_step(net, opt, x, y):
    loss = torch.nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def run(step_fn, net, opt, data):
    losses = []
    for x, y in data:
        losses.append(step_fn(net, opt, x, y))
    return losses


net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
other = torch.nn.Linear(1, 1)
train_step = make_train_step(net, torch.nn.MSELoss(), opt)
bound_step = partial(plain_step, net, opt)
fast_step = torch.compile(plain_step)

for epoch in range(5):
    for x, y in loader:
        loss = train_step(x, y)
    for x, y in loader:
        bound_step(x, y)
    for x, y in loader:
        fast_step(other, opt, x, y)
    history = run(plain_step, net, opt, loader)
    print(epoch, loss, history[-1])
