# Random augmentation in the workers of a DataLoader, seeded as the PyTorch
# notes on reproducibility say.
import hashlib
import random

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img


class RandomShift:
    def __init__(self, pixels):
        self.pixels = pixels

    def __call__(self, img):
        return np.roll(img, random.randint(-self.pixels, self.pixels), axis=random.randint(0, 1))


class RandomErase:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        if np.random.rand() < self.p:
            i, j = np.random.randint(0, 6, size=2)
            img = img.copy()
            img[i:i + 2, j:j + 2] = 0
        return img


class ToTensor:
    def __call__(self, img):
        return torch.from_numpy(img.astype(np.float32))[None] + 0.02 * torch.randn(1, 8, 8)


class DigitsDataset(Dataset):
    def __init__(self, train=True, transform=None):
        images, labels = load_digits(return_X_y=True)
        part = slice(0, 640) if train else slice(1200, 1500)
        self.images, self.labels = images[part].reshape(-1, 8, 8) / 16.0, labels[part]
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        img = self.images[idx]
        if self.transform:
            img = self.transform(img)
        return img, int(self.labels[idx])


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2 ** 32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


def main():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    g = torch.Generator()
    g.manual_seed(0)
    train_set = DigitsDataset(True, Compose([RandomShift(1), RandomErase(), ToTensor()]))
    test_set = DigitsDataset(False, ToTensor())
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True, num_workers=2,
                              worker_init_fn=seed_worker, generator=g)
    test_loader = DataLoader(test_set, batch_size=100)
    model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten(),
                          nn.Dropout(0.25), nn.Linear(512, 10))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    best = 0
    for epoch in range(5):
        model.train()
        seen = 0
        for images, labels in train_loader:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            seen += len(labels)
        model.eval()
        correct = 0
        with torch.inference_mode():
            for images, labels in test_loader:
                predicted = model(images).argmax(1)
                correct += int((predicted == labels).sum())
        best = max(best, correct)
        print(f"epoch {epoch}: {seen} images, loss {loss.item():.6f}, {correct}/{len(test_set)} right, best {best}")
    return model


if __name__ == "__main__":
    net = main()
    sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in net.state_dict().values()))
    print("weights", sha.hexdigest()[:16])
