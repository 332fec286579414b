"""Train a small patch transformer on handwritten digits.

The trainer keeps an exponential moving average of the weights and evaluates
both the raw and the averaged model after every epoch.
"""
from __future__ import annotations

import argparse
import hashlib
import random
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


@dataclass
class Config:
    epochs: int = 8
    batch_size: int = 32
    lr: float = 4e-3
    weight_decay: float = 0.05
    warmup_steps: int = 40
    clip: float = 1.0
    ema_decay: float = 0.98
    dim: int = 64
    depth: int = 2
    heads: int = 4
    dropout: float = 0.1
    seed: int = 7


class Digits(Dataset):
    """The digits, shifted sideways by up to one pixel in training."""

    def __init__(self, augment: bool = False):
        images, labels = load_digits(return_X_y=True)
        self.images = torch.as_tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1
        self.labels = torch.as_tensor(labels, dtype=torch.int64)
        self.augment = augment

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        if self.augment:
            image = torch.roll(image, shifts=random.randint(-1, 1), dims=2)
        return image, self.labels[index]


class PatchTransformer(nn.Module):
    def __init__(self, cfg: Config, num_classes: int = 10):
        super().__init__()
        self.patch = nn.Conv2d(1, cfg.dim, kernel_size=2, stride=2)
        self.pos = nn.Parameter(torch.randn(1, 16, cfg.dim) * 0.5)
        layer = nn.TransformerEncoderLayer(
            cfg.dim,
            cfg.heads,
            dim_feedforward=4 * cfg.dim,
            dropout=cfg.dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.blocks = nn.TransformerEncoder(layer, cfg.depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, num_classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        x = self.blocks(x)
        return self.head(self.norm(x).mean(dim=1))


class AverageMeter:
    """Keeps the latest value and the running average."""

    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val = 0.0
        self.avg = 0.0
        self.sum = 0.0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return f"{self.name} {self.avg:.4f}"


class EMA:
    """Exponential moving average of the trainable weights."""

    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {}
        self.backup = {}
        for name, param in model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.detach().clone()

    @torch.no_grad()
    def update(self, model):
        for name, param in model.named_parameters():
            if name in self.shadow:
                self.shadow[name].mul_(self.decay).add_(param, alpha=1 - self.decay)

    @torch.no_grad()
    def apply(self, model):
        for name, param in model.named_parameters():
            if name in self.shadow:
                self.backup[name] = param.detach().clone()
                param.copy_(self.shadow[name])

    @torch.no_grad()
    def restore(self, model):
        for name, param in model.named_parameters():
            if name in self.backup:
                param.copy_(self.backup[name])
        self.backup = {}


class Trainer:
    def __init__(self, cfg: Config, model, train_loader, val_loader, device):
        self.cfg = cfg
        self.device = device
        self.model = model.to(device)
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay
        )
        total_steps = cfg.epochs * len(train_loader)

        def warmup(step):
            if step < cfg.warmup_steps:
                return (step + 1) / cfg.warmup_steps
            return max(0.05, (total_steps - step) / (total_steps - cfg.warmup_steps))

        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, warmup)
        self.ema = EMA(self.model, cfg.ema_decay)
        self.loss_meter = AverageMeter("loss")
        self.norm_meter = AverageMeter("grad")
        self.global_step = 0
        self.best_acc = 0.0
        self.history = []

    def train_epoch(self):
        self.model.train()
        self.loss_meter.reset()
        self.norm_meter.reset()
        for images, labels in self.train_loader:
            images, labels = images.to(self.device), labels.to(self.device)
            logits = self.model(images)
            loss = self.criterion(logits, labels)

            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
            self.optimizer.step()
            self.scheduler.step()
            self.ema.update(self.model)

            self.global_step += 1
            self.loss_meter.update(loss.item(), labels.size(0))
            self.norm_meter.update(norm.item())
        return self.loss_meter.avg

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        hits = AverageMeter("acc")
        for images, labels in self.val_loader:
            images, labels = images.to(self.device), labels.to(self.device)
            pred = self.model(images).argmax(dim=-1)
            hits.update((pred == labels).float().mean().item(), labels.size(0))
        return hits.avg

    def fit(self):
        for epoch in range(self.cfg.epochs):
            train_loss = self.train_epoch()
            val_acc = self.evaluate()
            self.ema.apply(self.model)
            ema_acc = self.evaluate()
            self.ema.restore(self.model)
            self.history.append({
                "epoch": epoch,
                "step": self.global_step,
                "loss": train_loss,
                "val_acc": val_acc,
                "ema_acc": ema_acc,
            })
            marker = ""
            if ema_acc > self.best_acc:
                self.best_acc = ema_acc
                marker = " *"
            print(
                f"epoch {epoch:2d}  step {self.global_step:4d}  {self.loss_meter}  "
                f"{self.norm_meter}  val {val_acc:.4f}  ema {ema_acc:.4f}{marker}"
            )
        return self.history


def fingerprint(tensors):
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode("utf-8"))
        digest.update(tensors[name].detach().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=Config.epochs)
    parser.add_argument("--lr", type=float, default=Config.lr)
    parser.add_argument("--seed", type=int, default=Config.seed)
    parser.add_argument("--save", help="file to save the averaged weights to")
    args = parser.parse_args()
    cfg = Config(epochs=args.epochs, lr=args.lr, seed=args.seed)

    random.seed(cfg.seed)
    np.random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    order = np.random.permutation(len(Digits()))
    train_set = Subset(Digits(augment=True), order[:1400].tolist())
    val_set = Subset(Digits(), order[1400:].tolist())
    train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=100)

    model = PatchTransformer(cfg)
    trainer = Trainer(cfg, model, train_loader, val_loader, device)
    history = trainer.fit()

    best = max(history, key=lambda row: row["ema_acc"])
    print(f"best ema accuracy {trainer.best_acc:.4f} in epoch {best['epoch']}")
    if args.save:
        torch.save(trainer.ema.shadow, args.save)
    print("weights", fingerprint(model.state_dict()))
    print("ema", fingerprint(trainer.ema.shadow))


if __name__ == "__main__":
    main()
