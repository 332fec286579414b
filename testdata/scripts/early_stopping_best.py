from __future__ import print_function, division

import copy
import hashlib

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.optim import lr_scheduler

torch.manual_seed(5)
np.random.seed(5)
torch.set_num_threads(1)

digits = load_digits()
X = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
Y = torch.tensor(digits.target)
order = torch.randperm(len(Y))
split = {'train': order[:1200], 'val': order[1200:]}
datasets = {x: torch.utils.data.TensorDataset(X[split[x]], Y[split[x]]) for x in ['train', 'val']}
dataloaders = {x: torch.utils.data.DataLoader(datasets[x], batch_size=24, shuffle=(x == 'train'))
               for x in ['train', 'val']}
dataset_sizes = {x: len(datasets[x]) for x in ['train', 'val']}


def build_model(dropout=0.3):
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.Flatten(),
        nn.Dropout(dropout), nn.Linear(24 * 16, 10))


def train_model(model, criterion, optimizer, scheduler, num_epochs=25, patience=2):
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    best_loss = float('inf')
    waited = 0
    history = {'train': [], 'val': []}

    for epoch in range(num_epochs):
        print('Epoch {}/{}'.format(epoch, num_epochs - 1))
        print('-' * 10)

        # Each epoch has a training and validation phase
        for phase in ['train', 'val']:
            if phase == 'train':
                model.train()
            else:
                model.eval()

            running_loss = 0.0
            running_corrects = 0

            # Iterate over data.
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()

                # track history if only in train
                with torch.set_grad_enabled(phase == 'train'):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == 'train':
                        loss.backward()
                        optimizer.step()

                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)
            if phase == 'train':
                scheduler.step()

            epoch_loss = running_loss / dataset_sizes[phase]
            epoch_acc = running_corrects.double() / dataset_sizes[phase]
            history[phase].append((epoch_loss, epoch_acc.item()))
            print('{} Loss: {:.4f} Acc: {:.4f}'.format(phase, epoch_loss, epoch_acc))

            # deep copy the model
            if phase == 'val' and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())

        if epoch_loss < best_loss - 1e-3:
            best_loss, waited = epoch_loss, 0
        else:
            waited += 1
            if waited >= patience:
                print('Early stopping at epoch {}'.format(epoch))
                break
        print()

    print('Best val Acc: {:4f}'.format(best_acc))
    # load best model weights
    model.load_state_dict(best_model_wts)
    return model, history


model_ft = build_model()
optimizer_ft = optim.SGD(model_ft.parameters(), lr=0.05, momentum=0.9)
exp_lr_scheduler = lr_scheduler.StepLR(optimizer_ft, step_size=3, gamma=0.3)
model_ft, history = train_model(model_ft, nn.CrossEntropyLoss(), optimizer_ft, exp_lr_scheduler, num_epochs=9)
print('epochs run', len(history['val']))
digest = hashlib.sha256()
for name, value in model_ft.state_dict().items():
    digest.update(value.numpy().tobytes())
print('weights', digest.hexdigest()[:16])
