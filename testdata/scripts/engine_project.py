"""Detection-style reference training: main program here, the epoch in engine.py, meters in utils/meters.py."""
import argparse
import hashlib

import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, TensorDataset

import engine
from utils import meters
from utils.misc import count_parameters, set_seed


def get_args_parser():
    parser = argparse.ArgumentParser("tabular classifier", add_help=False)
    parser.add_argument("--lr", default=2e-3, type=float)
    parser.add_argument("--batch-size", default=8, type=int)
    parser.add_argument("--epochs", default=6, type=int)
    parser.add_argument("--lr-steps", default=[4], nargs="+", type=int)
    parser.add_argument("--print-freq", default=20, type=int)
    parser.add_argument("--seed", default=42, type=int)
    return parser


def build(args):
    model = nn.Sequential(nn.Linear(30, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 2))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=args.lr_steps, gamma=0.1)
    return model, criterion, optimizer, scheduler


def main(args):
    set_seed(args.seed)
    data = load_breast_cancer()
    x = torch.tensor((data.data - data.data.mean(0)) / data.data.std(0), dtype=torch.float32)
    dataset = TensorDataset(x, torch.tensor(data.target))
    train_set, val_set = torch.utils.data.random_split(dataset, [440, len(dataset) - 440])
    loader_train = DataLoader(train_set, args.batch_size, sampler=RandomSampler(train_set))
    loader_val = DataLoader(val_set, 43, sampler=SequentialSampler(val_set))

    model, criterion, optimizer, lr_scheduler = build(args)
    print("number of params:", count_parameters(model))
    print("Start training")
    best = meters.Best("accuracy")
    for epoch in range(args.epochs):
        train_stats = engine.train_one_epoch(
            model, criterion, loader_train, optimizer, epoch, print_freq=args.print_freq, warmup=epoch == 0)
        lr_scheduler.step()
        test_stats = engine.evaluate(model, criterion, loader_val)
        log_stats = {**{f"train_{k}": v for k, v in train_stats.items()},
                     **{f"test_{k}": v for k, v in test_stats.items()}, "epoch": epoch}
        best.update(test_stats["accuracy"], epoch)
        print(" ".join(f"{k}={v:.5f}" for k, v in log_stats.items()))
    print(best)
    return model


if __name__ == "__main__":
    model = main(get_args_parser().parse_args())
    sha = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values()))
    print("weights", sha.hexdigest()[:16])
