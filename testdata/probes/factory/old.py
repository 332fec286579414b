"""An optimizer by its name in the settings: what the library has by a computed name is none of the script's functions."""

import torch
import torch.optim as optim


class Config:
    def __init__(self, settings):
        self.settings = settings

    def make(self, name, module, *args):
        return getattr(module, self.settings[name])(*args)


def train(net, optimizer, data):
    for epoch in range(10):
        for batch in data:
            loss = net(batch).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch)


def main(config, data):
    net = torch.nn.Linear(2, 2)
    optimizer = config.make("optimizer", optim, net.parameters())
    scheduler = config.make("scheduler", torch.optim.lr_scheduler, optimizer, 3)
    train(net, optimizer, data)
    print(scheduler)


main(Config({"optimizer": "SGD", "scheduler": "StepLR"}), data)
