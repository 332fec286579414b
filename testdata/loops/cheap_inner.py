"""Loops of nothing but arithmetic are not worth a checkpoint; what is around them is."""
import math
import random

import torch

model, optimizer = make()
for epoch in range(10):
    for batch in loader:
        weights = []
        for i in range(len(batch)):
            weights.append(math.exp(-i) + random.random())
        for row in batch:
            for value in row:
                total = abs(value)
        loss = (model(batch) * torch.tensor(weights)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    lines = []
    for i in range(100000):
        lines.append(str(i))
        if i % 2:
            lines.pop()
    print(epoch, len(lines))
