"""A dataclass of settings, a state object handed around, a registry of callbacks."""
from dataclasses import dataclass, field

import torch


@dataclass
class Config:
    epochs: int = 5
    lr: float = 0.1
    clip: float = 1.0


@dataclass
class State:
    step: int = 0
    best: float = float("inf")
    losses: list = field(default_factory=list)


class Logger:
    def __init__(self):
        self.rows = []

    def on_batch(self, state, loss):
        self.rows.append((state.step, loss))


def fit(cfg: Config, model, loader, callbacks):
    state = State()
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_value_(model.parameters(), cfg.clip)
            optimizer.step()
            state.step += 1
            state.losses.append(loss.item())
            for callback in callbacks:
                callback.on_batch(state, loss.item())
        state.best = min(state.best, state.losses[-1])
        print(epoch, state.best, state.step)
    return state


fit(Config(), net, loader, [Logger()])
