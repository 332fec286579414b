"""A class that stops the loop over epochs."""
import torch


class EarlyStopping:
    def __init__(self, patience=5, delta=0.0):
        self.patience, self.delta = patience, delta
        self.counter, self.best, self.stop = 0, None, False

    def __call__(self, loss, model):
        if self.best is None or loss < self.best - self.delta:
            self.best = loss
            self.counter = 0
            torch.save(model.state_dict(), "checkpoint.pt")
        else:
            self.counter += 1
            self.stop = self.counter >= self.patience


model = Net()
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
loss_fn = torch.nn.MSELoss()
stopper = EarlyStopping(patience=7)
for epoch in range(100):
    model.train()
    train_losses = []
    for xb, yb in train_dl:
        pred = model(xb)
        loss = loss_fn(pred, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        valid_loss = sum(loss_fn(model(xb), yb) for xb, yb in valid_dl)
    scheduler.step(valid_loss)
    stopper(valid_loss, model)
    if stopper.stop:
        print("stopped at", epoch)
        break
