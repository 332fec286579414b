"""Functions, settings and counters live in other files."""
import torch
from torch import nn

import config
import meters
from engine import evaluate, train_one_epoch

net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=config.rate)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(30)]
meter = meters.Meter()

for epoch in range(config.epochs):
    loss = train_one_epoch(net, optimizer, data, meter)
    for x, y in data[:3]:
        config.seen += len(x)
    print(epoch, loss, evaluate(net, data), config.history[-1], meter.mean)
