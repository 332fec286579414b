# Convolutional net on the handwritten digits that come with scikit-learn,
# scaled up to 28x28 pixels.
import hashlib
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

seed = 1234
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# Hyper-parameters
num_epochs = 12
batch_size = 32
learning_rate = 0.05
momentum = 0.9
weight_decay = 5e-4
noise = 0.1
num_classes = 10

# Data
digits = load_digits()
x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
x = F.interpolate(x, size=(28, 28), mode="bilinear", align_corners=False)
y = torch.tensor(digits.target, dtype=torch.long)
mean, std = x.mean(), x.std()
x = (x - mean) / std

train_idx, test_idx = train_test_split(
    np.arange(len(y)), test_size=0.2, random_state=seed, stratify=digits.target
)
train_set = TensorDataset(x[train_idx], y[train_idx])
test_set = TensorDataset(x[test_idx], y[test_idx])
train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
test_loader = DataLoader(test_set, batch_size=120, shuffle=False)

print("train", len(train_set), "test", len(test_set))


class ConvNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.layer1 = nn.Sequential(
            nn.Conv2d(1, 16, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 24, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(24),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.layer2 = nn.Sequential(
            nn.Conv2d(24, 48, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(48),
            nn.ReLU(),
            nn.Conv2d(48, 64, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.layer3 = nn.Sequential(
            nn.Conv2d(64, 96, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(96),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.drop = nn.Dropout(0.4)
        self.fc = nn.Linear(96 * 2 * 2, num_classes)

    def forward(self, x):
        out = self.layer1(x)
        out = self.layer2(out)
        out = self.layer3(out)
        out = out.reshape(out.size(0), -1)
        out = self.drop(out)
        return self.fc(out)


model = ConvNet(num_classes).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(
    model.parameters(), lr=learning_rate, momentum=momentum, weight_decay=weight_decay
)
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=num_epochs)

# Train the model
best_acc = 0.0
for epoch in range(num_epochs):
    model.train()
    running_loss = 0.0
    correct = 0
    total = 0
    for i, (images, labels) in enumerate(train_loader):
        images = images.to(device)
        labels = labels.to(device)
        images = images + noise * torch.randn_like(images)

        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()

        running_loss += loss.item() * labels.size(0)
        _, predicted = outputs.max(1)
        total += labels.size(0)
        correct += predicted.eq(labels).sum().item()

    scheduler.step()
    train_loss = running_loss / total
    train_acc = 100.0 * correct / total

    # Test the model
    model.eval()
    test_loss = 0.0
    correct = 0
    total = 0
    with torch.no_grad():
        for images, labels in test_loader:
            images = images.to(device)
            labels = labels.to(device)
            outputs = model(images)
            test_loss += criterion(outputs, labels).item() * labels.size(0)
            _, predicted = outputs.max(1)
            total += labels.size(0)
            correct += predicted.eq(labels).sum().item()

    test_loss /= total
    test_acc = 100.0 * correct / total
    if test_acc > best_acc:
        best_acc = test_acc
    print(
        "Epoch [{}/{}] train loss {:.4f} acc {:.2f}% | test loss {:.4f} acc {:.2f}%".format(
            epoch + 1, num_epochs, train_loss, train_acc, test_loss, test_acc
        )
    )

print("Finished training, best test accuracy {:.2f}%".format(best_acc))

h = hashlib.sha256()
for name, tensor in model.state_dict().items():
    h.update(name.encode())
    h.update(tensor.cpu().numpy().tobytes())
print("weights", h.hexdigest()[:16])
