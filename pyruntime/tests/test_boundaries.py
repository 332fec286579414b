"""Loops that train without a loop inside: a replay of some of their iterations begins at a checkpoint between two of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest

pytest.importorskip("torch")

HEAD = """
import torch, time
from torch import nn
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(64, 8), torch.randint(0, 2, (64,))
"""
STEP = """
    loss = nn.functional.cross_entropy(net(x[at]), y[at])
    loss.backward()
    time.sleep(0.008)
"""
SCRIPTS: Dict[str, str] = {
    "for": HEAD + """
seen, ema = [], None
for step in range(100):
    at = torch.randint(0, 64, (8,))
    opt.zero_grad()""" + STEP + """    opt.step()
    ema = loss.item() if ema is None else 0.9 * ema + 0.1 * loss.item()
    seen.append(ema)
    #PROBE
    if step % 20 == 0:
        print(step, ema)
print("end", len(seen), ema, loss.item())
""",
    "while, gradients carried along": HEAD + """
def train():
    step, best = 0, 9.0
    while step < 100:
        at = torch.randint(0, 64, (8,))""" + STEP.replace("\n    ", "\n        ") + """
        if step % 4 == 3:
            opt.step()
            opt.zero_grad()
        best = min(best, loss.item())
        #PROBE
        step += 1
        if step == 99:
            return best
print(train())
""",
    "loader": HEAD + """
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 800
    def __getitem__(self, i):
        return i % 64 + 0 * int(torch.rand(1))
for step, at in enumerate(torch.utils.data.DataLoader(Rows(), batch_size=8, shuffle=True)):
    opt.zero_grad()""" + STEP + """    opt.step()
    #PROBE
print("end", net[0].weight.sum().item())
""",
}
PROBE = 'print("PROBE", step, net[0].weight.grad.sum().item(), at.tolist())'


class Bench:
    """One script in a folder, recorded."""

    def __init__(self, folder: Path, text: str):
        self.folder = folder
        (folder / "train.py").write_text(text)
        self.recorded = self.florc("record", "--overhead", "0.5", "train.py")
        (folder / "train.py").write_text(text.replace("#PROBE", PROBE))

    def florc(self, *words: str) -> Any:
        environment = {**os.environ, "FLORC_DIR": str(self.folder / "store"), "PYTHONHASHSEED": "0"}
        return subprocess.run([sys.executable, "-m", "florc", *words], cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=200)


def of_steps(out: str, start: int, stop: int) -> List[str]:
    return [line for line in out.splitlines() if start <= int(line.split()[1]) < stop]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_replay_begins_in_the_middle(name: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, SCRIPTS[name])
    assert bench.recorded.returncode == 0, bench.recorded.stderr
    whole = bench.florc("replay", "train.py")
    assert whole.returncode == 0 and "exact:" in whole.stderr, whole.stderr
    part = bench.florc("replay", "train.py", "--iterations", "70:80")
    assert part.returncode == 0, part.stderr
    assert part.stdout.splitlines() == of_steps(whole.stdout, 70, 80)
    began = re.search(r"began with iteration (\d+)", part.stderr)
    assert began and 0 < int(began.group(1)) <= 70, part.stderr
    workers = bench.florc("replay", "train.py", "--workers", "2")
    assert workers.returncode == 0 and workers.stdout == whole.stdout, workers.stderr


def test_what_an_added_statement_carries_along_is_not_jumped_over(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SCRIPTS["for"])
    added = "total = (total if step else 0) + loss.item(); print('PROBE', step, total)"
    (tmp_path / "train.py").write_text(SCRIPTS["for"].replace("#PROBE", added))
    whole = bench.florc("replay", "train.py", "--allow-drift")
    part = bench.florc("replay", "train.py", "--allow-drift", "--iterations", "70:72")
    assert part.stdout.splitlines() == of_steps(whole.stdout, 70, 72) != []
    assert "began with" not in part.stderr
