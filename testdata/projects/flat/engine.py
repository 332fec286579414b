import config
from config import history

steps = 0


def train_one_epoch(net, optimizer, data, meter):
    global steps
    total = 0.0
    for x, y in data:
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        steps += 1
        meter.update(loss.item())
        config.rate *= 0.99
        history.append(loss.item())
        total += loss.item()
    return total


def evaluate(net, data):
    return sum(((net(x) - y) ** 2).mean().item() for x, y in data)
