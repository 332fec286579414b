"""The well-known example's shape: `train` and `test` are called from the loop over epochs."""
import argparse

import torch
import torch.nn.functional as F


def train(args, model, device, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print(f"Train Epoch: {epoch} Loss: {loss.item():.6f}")
            if args.dry_run:
                break


def test(model, device, test_loader):
    model.eval()
    test_loss = 0
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            correct += output.argmax(dim=1).eq(target).sum().item()
    print(test_loss / len(test_loader.dataset), correct)


def main():
    args = argparse.ArgumentParser().parse_args()
    model, optimizer = build(args)
    for epoch in range(1, args.epochs + 1):
        train(args, model, "cpu", loader, optimizer, epoch)
        test(model, "cpu", loader)


if __name__ == "__main__":
    main()
