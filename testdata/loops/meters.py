"""Dicts of meters, a smoothed value, timing."""
import time
from collections import defaultdict

import torch


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def accuracy(output, target):
    return (output.argmax(1) == target).float().mean().item()


def train(loader, model, criterion, optimizer, epoch):
    batch_time, losses, top1 = AverageMeter(), AverageMeter(), AverageMeter()
    meters = defaultdict(list)
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(loader):
        output = model(images)
        loss = criterion(output, target)
        losses.update(loss.item(), images.size(0))
        top1.update(accuracy(output, target), images.size(0))
        meters["loss"].append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batch_time.update(time.time() - end)
        end = time.time()
    return losses.avg, top1.avg, meters


def main():
    model = Net()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    log = defaultdict(dict)
    for epoch in range(90):
        loss, acc, _ = train(loader, model, criterion, optimizer, epoch)
        log[epoch].update(loss=loss, acc=acc)


main()
