"""Everything inside `main`: nested functions, `nonlocal` counters, a closure for LBFGS, lambda schedules."""
import argparse

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.95 ** epoch)
    step, best = 0, float("inf")
    losses = []

    def log(value):
        nonlocal step
        losses.append(value)
        step += 1

    def train_one_epoch(epoch):
        nonlocal best
        for x, y in loader:
            def closure():
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(model(x), y)
                loss.backward()
                return loss

            value = optimizer.step(closure).item()
            log(value)
            best = min(best, value)

    for epoch in range(args.epochs):
        train_one_epoch(epoch)
        scheduler.step()
        print(epoch, step, best, sum(losses) / len(losses))


if __name__ == "__main__":
    main()
