"""Averaged weights, a metric object, statistics in a dict, three trackers and a plot."""
import logging, time
import torch
from torch.utils.data import DataLoader
from sklearn.metrics import f1_score
import torchmetrics, wandb, mlflow
import matplotlib.pyplot as plt

class EMA:
    def __init__(self, model, decay):
        self.model, self.decay = model, decay
        self.shadow = {}
    def register(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()
    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = (1 - self.decay) * param.data + self.decay * self.shadow[name]

def train_one_epoch(epoch, model, loader, opt, ema, metric, device, log_every=10):
    model.train()
    stats = {"loss": 0.0, "n": 0}
    preds, golds = [], []
    t0 = time.time()
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device, non_blocking=True), y.to(device)
        out = model(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        ema.update()
        metric.update(out, y)
        stats["loss"] += loss.item() * len(x)
        stats["n"] += len(x)
        preds.extend(out.argmax(1).cpu().tolist())
        golds += y.cpu().tolist()
        if i % log_every == 0:
            logging.info("epoch %d %d/%d loss %.3f %.1fs", epoch, i, len(loader), loss.item(), time.time() - t0)
            wandb.log({"loss": loss.item(), "grad": grad_norm})
            mlflow.log_metric("loss", loss.item(), step=i)
            plt.plot(preds)
            plt.savefig("x.png")
    return stats["loss"] / stats["n"], f1_score(golds, preds, average="macro")

model = Net()
opt = torch.optim.AdamW([{"params": model.body.parameters()}, {"params": model.head.parameters(), "lr": 1e-3}])
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
ema = EMA(model, 0.99); ema.register()
metric = torchmetrics.Accuracy(task="multiclass", num_classes=10)
loader = DataLoader(ds, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(0))
best = {"f1": 0}
for epoch in range(10):
    loss, f1 = train_one_epoch(epoch, model, loader, opt, ema, metric, "cpu")
    sched.step()
    if f1 > best["f1"]:
        best.update(f1=f1, epoch=epoch)
    for p, s in zip(model.parameters(), ema.shadow.values()):
        p.data.copy_(s)
