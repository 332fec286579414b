"""Train and eval functions used in main."""
import math
import sys

import torch

from utils.meters import MetricLogger, SmoothedValue


def train_one_epoch(model, criterion, data_loader, optimizer, epoch, print_freq, warmup):
    model.train()
    metric_logger = MetricLogger(delimiter="  ")
    metric_logger.add_meter("lr", SmoothedValue(window_size=1))
    header = "Epoch: [{}]".format(epoch)

    lr_scheduler = None
    if warmup:
        lr_scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=30)

    for samples, targets in metric_logger.log_every(data_loader, print_freq, header):
        outputs = model(samples)
        loss = criterion(outputs, targets)
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            print("Loss is {}, stopping training".format(loss_value))
            sys.exit(1)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        if lr_scheduler is not None:
            lr_scheduler.step()

        metric_logger.update(loss=loss_value, lr=optimizer.param_groups[0]["lr"])

    return {k: meter.global_avg for k, meter in metric_logger.meters.items()}


@torch.no_grad()
def evaluate(model, criterion, data_loader):
    metric_logger = MetricLogger(delimiter="  ")
    model.eval()
    for samples, targets in metric_logger.log_every(data_loader, 10, "Test:"):
        outputs = model(samples)
        accuracy = (outputs.argmax(dim=1) == targets).float().mean()
        metric_logger.update(loss=criterion(outputs, targets).item(), accuracy=accuracy.item())
    return {k: meter.global_avg for k, meter in metric_logger.meters.items()}
