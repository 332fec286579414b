"""Siamese network with contrastive loss; a custom sampler balances classes, a custom dataset draws the pairs."""
import hashlib
import random
from collections import defaultdict

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, Sampler


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class PairDataset(Dataset):
    def __init__(self, images, labels, p_same=0.5):
        self.images, self.labels, self.p_same = images, labels, p_same
        self.by_label = defaultdict(list)
        for i, label in enumerate(labels):
            self.by_label[label].append(i)
        self.drawn = 0

    def __getitem__(self, index):
        label = self.labels[index]
        same = random.random() < self.p_same
        if same:
            other = random.choice(self.by_label[label])
        else:
            other = random.choice(self.by_label[random.choice([c for c in self.by_label if c != label])])
        self.drawn += 1
        return self.images[index], self.images[other], np.float32(same)

    def __len__(self):
        return len(self.labels)


class BalancedSampler(Sampler):
    """The same number of every class per epoch, in an order that depends on the epoch."""

    def __init__(self, by_label, per_class):
        self.by_label, self.per_class, self.epoch = by_label, per_class, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        rng = np.random.default_rng(self.epoch)
        chosen = np.concatenate([rng.choice(v, self.per_class) for v in self.by_label.values()])
        yield from rng.permutation(chosen).tolist()

    def __len__(self):
        return self.per_class * len(self.by_label)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, same):
        distance = F.pairwise_distance(a, b)
        return (same * distance.pow(2) + (1 - same) * F.relu(self.margin - distance).pow(2)).mean()


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.PReLU(), nn.Dropout(0.1), nn.Linear(128, 64),
                                    nn.PReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return F.normalize(self.layers(x))


def nearest_neighbour_accuracy(net, bank, bank_labels, queries, query_labels):
    net.eval()
    right = 0
    with torch.no_grad():
        reference = net(bank)
        for chunk, truth in zip(queries.split(64), query_labels.split(64)):
            nearest = torch.cdist(net(chunk), reference).argmin(dim=1)
            right += (bank_labels[nearest] == truth).sum().item()
    return right / len(queries)


if __name__ == "__main__":
    set_seed(17)
    torch.set_num_threads(1)
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    dataset = PairDataset(X[:1300], y[:1300].tolist())
    sampler = BalancedSampler(dataset.by_label, per_class=96)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    net = Embedder()
    criterion = ContrastiveLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[3, 5])
    bank, queries = torch.tensor(X[:1300]), torch.tensor(X[1300:])
    bank_labels, query_labels = torch.tensor(y[:1300]), torch.tensor(y[1300:])
    for epoch in range(6):
        sampler.set_epoch(epoch)
        net.train()
        running = []
        for first, second, same in loader:
            loss = criterion(net(first), net(second), same)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running.append(loss.item())
        scheduler.step()
        accuracy = nearest_neighbour_accuracy(net, bank, bank_labels, queries, query_labels)
        print(f"[{epoch + 1}] loss {np.mean(running):.6f} accuracy {accuracy:.4f} pairs {dataset.drawn}")
    sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in net.state_dict().values()))
    print("weights", sha.hexdigest()[:16])
