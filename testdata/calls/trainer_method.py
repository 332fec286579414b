"""A trainer whose epochs, batches and steps are methods; a global step, a scaler and a history on `self`."""
import torch


class Trainer:
    def __init__(self, model, optimizer, scheduler=None, device="cpu"):
        self.model = model.to(device)
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.device = device
        self.scaler = torch.amp.GradScaler(device)
        self.global_step = 0
        self.best_acc = 0.0
        self.history = {"loss": [], "acc": []}

    def train_step(self, batch):
        inputs, targets = (t.to(self.device) for t in batch)
        with torch.autocast(self.device):
            loss = torch.nn.functional.cross_entropy(self.model(inputs), targets)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.global_step += 1
        return loss.item()

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for batch in loader:
            total += self.train_step(batch)
        if self.scheduler is not None:
            self.scheduler.step()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        correct = count = 0
        for inputs, targets in loader:
            correct += (self.model(inputs).argmax(1) == targets).sum().item()
            count += len(targets)
        return correct / count

    def fit(self, train_loader, val_loader, epochs):
        for epoch in range(epochs):
            self.history["loss"].append(self.train_epoch(train_loader))
            acc = self.evaluate(val_loader)
            self.history["acc"].append(acc)
            if acc > self.best_acc:
                self.best_acc = acc
                torch.save(self.model.state_dict(), "best.pt")


trainer = Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1))
trainer.fit(train_loader, val_loader, 10)
