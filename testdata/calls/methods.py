"""A trainer class: attributes of `self` are places of their own, and calls are followed into methods."""


class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value):
        self.total += value
        self.count += 1


class Trainer:
    def __init__(self, model, optimizer, loader):
        self.model = model
        self.optimizer = optimizer
        self.loader = loader
        self.meter = Meter()
        self.global_step = 0
        self.history = []

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).mean()
        loss.backward()
        self.optimizer.step()
        self.global_step += 1
        return loss

    def train_epoch(self, epoch):
        last = None
        for batch in self.loader:
            last = self.step(batch)
            self.meter.update(last.item())
        self.history.append(last.item())

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train_epoch(epoch)
            print(self.meter.total, self.global_step)
