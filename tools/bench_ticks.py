"""What it costs a training step that functions tell when they are entered (docs/decisions/0005-functions-entered.md).

    python tools/bench_ticks.py

A transformer of the script's own classes is recorded. In the recorded process: CPU time of a step, how often a step ticks, and
what one tick takes above an empty call of the same form.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """
import statistics, sys, time
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
CONTEXT, WIDTH = 32, {width}

class Head(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(WIDTH, size, bias=False) for _ in range(3))
        self.register_buffer("mask", torch.tril(torch.ones(CONTEXT, CONTEXT)))
    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / WIDTH ** 0.5
        return scores.masked_fill(self.mask == 0, float("-inf")).softmax(-1) @ self.value(x)

class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
    def forward(self, x):
        return self.net(x)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend, self.feed = Head(WIDTH), Feed()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.feed(self.norms[1](x))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.blocks = nn.Embedding(65, WIDTH), nn.Sequential(*(Block() for _ in range(6)))
        self.out = nn.Linear(WIDTH, 65)
    def forward(self, tokens):
        return self.out(self.blocks(self.embed(tokens)))

model = Model()
optimizer = torch.optim.AdamW(model.parameters())

def train_step(tokens):
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss

def count(work):
    ticks = [0]
    def profile(frame, event, function):
        ticks[0] += event == "c_call" and getattr(function, "__name__", "") == "entered"
    sys.setprofile(profile)
    work()
    sys.setprofile(None)
    return ticks[0]

def calls(function, times=200_000):
    begun = time.thread_time()
    for _ in range(times):
        function(0)
    return (time.thread_time() - begun) / times

tokens, steps = torch.randint(65, (8, CONTEXT)), []
for step in range({steps}):
    begun = time.thread_time()
    train_step(tokens)
    steps.append(time.thread_time() - begun)
tick = statistics.median(calls(sys.modules["florc"].entered) for _ in range(7))
print(count(lambda: train_step(tokens)), statistics.median(steps), tick)
"""
WIDTHS = (16, 64, 128)


def main() -> None:
    """Print a table."""
    print("| width | CPU time of a step, ms | ticks in a step | one tick, ns | share of the step, % |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for width in WIDTHS:
            Path(folder, "train.py").write_text(SCRIPT.format(width=width, steps=200))
            done = subprocess.run(
                [sys.executable, "-m", "florc", "record", "train.py"],
                cwd=folder,
                capture_output=True,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                check=True,
            )
            ticks, step, tick = (float(word) for word in done.stdout.split())
            assert ticks > 0, "no function told that it was entered"
            print(
                f"| {width} | {step * 1e3:.2f} | {ticks:.0f} | {tick * 1e9:.0f} | {100 * ticks * tick / step:.3f} |", flush=True
            )


if __name__ == "__main__":
    main()
