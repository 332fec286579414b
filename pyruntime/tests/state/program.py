"""A small training program: tied weights, recurrence, batch norm, dropout, EMA, a replay buffer, a shuffled loader."""

import collections
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.norm = nn.BatchNorm1d(8)
        self.rnn = nn.GRU(8, 8, batch_first=True)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(8, 11)
        self.out.weight = self.embed.weight
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.history = []

    def forward(self, x):
        self.seen += 1
        h = self.norm(self.embed(x).transpose(1, 2)).transpose(1, 2)
        h, _ = self.rnn(h)
        self.history.append(float(h.detach().mean()))
        return self.out(self.drop(h))


class EMA:
    def __init__(self, model, decay=0.9):
        self.model, self.decay = model, decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self):
        for name, p in self.model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * p.detach()


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "plain sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "lbfgs": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=3),
}
SCHEDULERS = {
    "step": lambda o: torch.optim.lr_scheduler.StepLR(o, 2, 0.5),
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 10),
    "onecycle": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=50, cycle_momentum=False),
    "lambda": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda e: 0.9**e),
    "sequential": lambda o: torch.optim.lr_scheduler.SequentialLR(
        o, [torch.optim.lr_scheduler.LinearLR(o), torch.optim.lr_scheduler.ExponentialLR(o, 0.9)], [3]
    ),
}


class Program:
    """What a script would have at module level."""

    def __init__(self, optimizer="adam", scheduler="step", seed=0):
        torch.manual_seed(seed), np.random.seed(seed), random.seed(seed)
        self.net = Net()
        self.optimizer = OPTIMIZERS[optimizer](self.net.parameters())
        self.scheduler = SCHEDULERS[scheduler](self.optimizer)
        self.ema = EMA(self.net)
        self.data = TensorDataset(torch.arange(60).reshape(12, 5) % 11)
        self.loader = DataLoader(self.data, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(seed))
        self.replay = collections.deque(maxlen=5)
        self.losses = []

    def epoch(self):
        for (x,) in self.loader:

            def closure():
                self.optimizer.zero_grad()
                loss = nn.functional.cross_entropy(self.net(x).flatten(0, 1), x.flatten())
                loss.backward()
                return loss

            loss = self.optimizer.step(closure)
            self.ema.update()
            self.losses.append(loss.item() + 0 * random.random() + 0 * np.random.rand())
            self.replay.append((x.clone(), loss.detach()))
        self.scheduler.step()

    def places(self):
        return {
            "net": self.net,
            "optimizer": self.optimizer,
            "scheduler": self.scheduler,
            "ema": self.ema,
            "loader": self.loader,
            "replay": self.replay,
            "losses": self.losses,
        }

    def fingerprint(self):
        tensors = [*self.net.state_dict().values(), *self.ema.shadow.values(), *(t for pair in self.replay for t in pair)]
        return (
            [t.numpy().tobytes() for t in tensors],
            [x.hex() for x in self.losses],
            list(map(float.hex, self.net.history)),
            random.random(),
            np.random.rand(),
            torch.rand(1).item(),
            self.scheduler.get_last_lr(),
        )
