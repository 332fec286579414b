"""`make bench-replay`: does the time of a replay grow with the compute per epoch?

One script, recorded with ever longer epochs. Asked of each run: a value of every epoch (a statement in the outer loop); the
gradient norm of ten steps in the middle (`--steps`). Beside them: running the edited script again. Wall time of the
whole command, start-up and import of torch included.

    python tools/latency.py [--write]
"""

from __future__ import annotations

import platform
import sys
import tempfile
import time
from pathlib import Path

import tables
from exactness import Ran, run, said

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench-latency -->", "<!-- /bench-latency -->"
EPOCHS = 8
PASSES = (1, 4, 16, 64, 256)
SCRIPT = """
import sys
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

passes = int(sys.argv[1])
torch.manual_seed(0)
torch.set_num_threads(1)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
data = TensorDataset(images, torch.tensor(digits.target))
loader = DataLoader(data, batch_size=64, shuffle=True)
net = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2),
                    nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(8):
    for step in range(passes * len(loader)):
        if step % len(loader) == 0:
            batches = list(loader)
        x, y = batches[step % len(loader)]
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        #INNER
    #OUTER
    print(epoch, loss.item())
"""
OUTER = 'print("norm", epoch, sum(p.norm() ** 2 for p in net.parameters()).sqrt().item())'
INNER = 'print("step", epoch, step, sum(p.grad.norm() ** 2 for p in net.parameters()).sqrt().item())'


def checked(folder: Path, *command: str) -> Ran:
    """A command that must not fail."""
    done = run(folder, *command)
    if done.code != 0:
        raise SystemExit(done.err)
    return done


def row(folder: Path, passes: int) -> str:
    """Record, ask, run again; every answer is compared with the re-run."""
    script = folder / "train.py"
    script.write_text(SCRIPT)
    recorded = checked(folder, "florc", "record", "train.py", str(passes))
    steps = EPOCHS * passes * 29
    asked = range(steps // 2 + 40, steps // 2 + 50)
    script.write_text(SCRIPT.replace("#OUTER", OUTER))
    outer = checked(folder, "florc", "replay", "train.py")
    script.write_text(SCRIPT.replace("#INNER", INNER))
    inner = checked(folder, "florc", "replay", "train.py", "--steps", f"{asked.start}:{asked.stop}")
    script.write_text(SCRIPT.replace("#OUTER", OUTER).replace("#INNER", INNER))
    again = checked(folder, sys.executable, "train.py", str(passes))
    lines = [line for line in again.out.splitlines() if line.startswith("step")]
    exact = outer.out.splitlines() == [line for line in again.out.splitlines() if line.startswith("norm")]
    exact &= inner.out.splitlines() == [lines[i] for i in asked]
    times = [done.seconds for done in (recorded, again, outer, inner)]
    cells = (
        29 * passes,
        f"{times[0]:.1f}",
        f"{times[1]:.1f}",
        f"{times[2]:.1f}",
        f"{times[1] / times[2]:.1f}",
        f"{times[3]:.1f}",
        f"{times[1] / times[3]:.1f}",
        said(exact),
    )
    return f"| {' | '.join(map(str, cells))} |"


def main(arguments: list[str]) -> int:
    """Print the table; `--write` puts it into docs/benchmarks.md."""
    import torch

    text = (
        f"`make bench-replay`, {time.strftime('%Y-%m-%d')}, two cores, no GPU, CPython {platform.python_version()}, torch "
        f"{torch.__version__}, one run, wall time in seconds, start-up included: {EPOCHS} epochs of a small CNN.\n\n"
        "| steps per epoch | record | re-run | a value of each epoch | speed-up | ten steps in the middle | speed-up "
        "| exact |\n|---|---|---|---|---|---|---|---|\n"
    )
    print(text, end="", flush=True)
    for passes in PASSES:
        with tempfile.TemporaryDirectory() as folder:
            found = row(Path(folder), passes)
        print(found, flush=True)
        text += found + "\n"
    if "--write" in arguments:
        tables.put(DOCS, BEGIN, END, text)
    return "NO |" in text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
