# k-fold cross-validation around the training loop, results per fold.
import hashlib

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset


def reset_weights(m):
    """Try resetting model weights to avoid weight leakage."""
    for layer in m.children():
        if hasattr(layer, 'reset_parameters'):
            layer.reset_parameters()


def weighted_accuracy(outputs, targets, weights):
    predicted = outputs.argmax(dim=1)
    hits = (predicted == targets).float() * weights[targets]
    return (hits.sum() / weights[targets].sum()).item()


if __name__ == '__main__':

    k_folds = 4
    num_epochs = 6
    torch.manual_seed(42)
    torch.set_num_threads(1)
    loss_function = nn.CrossEntropyLoss()
    results = {}

    wine = load_wine()
    features = StandardScaler().fit_transform(wine.data).astype(np.float32)
    rng = np.random.RandomState(0)
    features = np.concatenate([features + rng.normal(0, 0.5, features.shape).astype(np.float32) for _ in range(6)])
    dataset = TensorDataset(torch.from_numpy(features), torch.from_numpy(np.tile(wine.target, 6)))
    class_weights = torch.tensor([1.0, 2.0, 1.5])

    kfold = StratifiedKFold(n_splits=k_folds, shuffle=True, random_state=1)
    network = nn.Sequential(nn.Linear(13, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2),
                            nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3))

    for fold, (train_ids, test_ids) in enumerate(kfold.split(features, np.tile(wine.target, 6))):
        print(f'FOLD {fold}')
        print('--------------------------------')
        trainloader = DataLoader(dataset, batch_size=16, sampler=SubsetRandomSampler(train_ids), drop_last=True)
        testloader = DataLoader(dataset, batch_size=64, sampler=SubsetRandomSampler(test_ids))
        network.apply(reset_weights)
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

        for epoch in range(0, num_epochs):
            network.train()
            current_loss = 0.0
            for i, data in enumerate(trainloader, 0):
                inputs, targets = data
                optimizer.zero_grad()
                outputs = network(inputs)
                loss = loss_function(outputs, targets)
                loss.backward()
                optimizer.step()
                current_loss += loss.item()
            print('epoch %d: loss %.5f' % (epoch + 1, current_loss / (i + 1)))

        network.eval()
        correct, total = 0, 0
        scores = []
        with torch.no_grad():
            for i, data in enumerate(testloader, 0):
                inputs, targets = data
                outputs = network(inputs)
                _, predicted = torch.max(outputs.data, 1)
                scores.append(weighted_accuracy(outputs, targets, class_weights))
                total += targets.size(0)
                correct += (predicted == targets).sum().item()
        results[fold] = 100.0 * (correct / total)
        print('Accuracy for fold %d: %.3f %%, weighted %.4f' % (fold, results[fold], np.mean(scores)))

    print(f'K-FOLD CROSS VALIDATION RESULTS FOR {k_folds} FOLDS')
    total = sum(results.values())
    print(f'Average: {total / len(results):.4f} %')
    sha = hashlib.sha256()
    for value in network.state_dict().values():
        sha.update(value.numpy().tobytes())
    print('weights', sha.hexdigest()[:16])
