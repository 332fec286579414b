"""Data loaders whose workers live on (`persistent_workers=True`): what a worker drew or counted in one pass is there in the next."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from workshop import Workshop

pytest.importorskip("torch")

HEAD = """
import torch
from torch import nn
from torch.utils import data as d

class Rows(d.Dataset):
    def __init__(self, count):
        self.x, self.y, self.asked = torch.randn(count, 8), torch.randn(count, 1), 0
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        self.asked += 1
        return self.x[i] + torch.randn(8) * 0.01 + self.asked, self.y[i]

class Trainer:
    def __init__(self):
        self.net = nn.Linear(8, 1)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.loader = d.DataLoader(Rows(32), 4, shuffle=True, num_workers=1, persistent_workers=True)
        self.others = d.DataLoader(Rows(20), 5, num_workers=1, persistent_workers=True)
        self.wrong = 0.0

    def train(self):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.optimizer.step()
            #STEP
        return loss.item()

    def look(self):
        self.wrong = 0.0
        for x, y in self.others:
            with torch.no_grad():
                self.wrong += nn.functional.mse_loss(self.net(x), y).item()
            #LOOK

def main():
    trainer = Trainer()
    for epoch in range(4):
        loss = trainer.train()
        trainer.look()
        print("epoch", epoch, loss, trainer.wrong)
        #EPOCH
    count = 0
    for x, y in LAST:
        count += len(x)
        #LAST
    END
    print("end", count)
    #END

if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    main()
"""
STEP = 'print("PROBE", loss.item(), float(x.sum()))'
LOOK = 'print("PROBE", self.wrong, float(x.sum()))'
EPOCH = 'print("PROBE", epoch, float(trainer.net.weight.sum()))'
LAST = 'print("PROBE", float(x.sum()))'


def script(last: str = "range(0)", end: str = "pass", **probes: str) -> str:
    """The script, with statements at these places. `last`: over what a loop behind the training is."""
    text = HEAD.replace("in LAST", f"in {last}").replace("    END", f"    {end}")
    for name in ("STEP", "LOOK", "EPOCH", "LAST", "END"):
        text = text.replace(f"#{name}", probes.get(name, "pass"))
    return text


CASES = {
    "each epoch": ({}, {"EPOCH": EPOCH}, [], "8 blocks restored"),
    "each epoch, from the second": ({}, {"EPOCH": EPOCH}, ["--iterations", "2:3"], "restored"),
    "each step": ({}, {"STEP": STEP}, [], "4 blocks restored"),
    "each step of one epoch": ({}, {"STEP": STEP}, ["--iterations", "2:3"], "run again"),
    "each step, the last epoch": ({}, {"STEP": STEP}, ["--last"], "run again"),
    "each step, by two": ({}, {"STEP": STEP}, ["--workers", "2"], "run again"),
    "each look": ({}, {"LOOK": LOOK}, [], "4 blocks restored"),
    "each look, the last epoch": ({}, {"LOOK": LOOK}, ["--last"], "run again"),
    "behind, over data of the training": ({"last": "trainer.loader"}, {"LAST": LAST}, [], "run again"),
    "behind, over data that was looked at": ({"last": "trainer.others"}, {"LAST": LAST}, [], "4 blocks restored"),
    "behind, as a library ends them": (
        {"end": "trainer.loader._iterator._shutdown_workers(); trainer.loader._iterator = None"},
        {"END": 'print("PROBE", float(trainer.net.weight.sum()), type(trainer.loader._iterator))'},
        [],
        "8 blocks restored",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_worker_that_lives_on_is_where_it_was(name: str, workshop: Workshop) -> None:
    of_script, probes, options, done_with = CASES[name]
    workshop.write("train.py", script(**of_script))
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert (recorded.out, recorded.code) == (plain.out, plain.code), recorded.err
    workshop.write("train.py", script(**of_script, **probes))
    truth = [line for line in workshop.plain("train.py").out.splitlines(True) if line.startswith("PROBE")]
    assert truth
    done = workshop.florc("replay", *options, "train.py")
    found = done.out.splitlines(True)
    if options[:1] == ["--iterations"]:
        count = len(truth) // 4
        truth = truth[2 * count : 3 * count]
    elif options == ["--last"]:
        truth = truth[-len(truth) // 4 :]
    assert found == truth and "exact: " in done.said, done.said
    if "8 checkpoints" in recorded.said:  # a busy machine may keep fewer
        assert done_with in done.said, done.said


STREAM = """
import torch
from torch.utils import data as d

class Rows(d.IterableDataset):
    def __iter__(self):
        return iter(torch.randn(12, 4, generator=torch.Generator().manual_seed(1)))

class Pairs(d.Sampler):
    "Of no length that it tells."
    def __init__(self): pass
    def __iter__(self): return iter([[0, 1], [2, 3]])

def main():
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    stream = d.DataLoader(Rows(), 4, num_workers=1, persistent_workers=True)
    pairs = d.DataLoader(d.TensorDataset(torch.randn(4, 4)), batch_sampler=Pairs(), num_workers=1, persistent_workers=True)
    for epoch in range(3):
        for x in stream:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
        for x, in pairs:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
        print(epoch, float(net.weight.sum()))
        #PROBE

if __name__ == "__main__":
    main()
"""


def test_what_such_a_loader_runs_over_needs_no_length(workshop: Workshop) -> None:
    """A stream has none, and a sampler of the user's need not tell it."""
    workshop.write("train.py", STREAM)
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert "error" not in recorded.said and "6 checkpoints" in recorded.said, recorded
    workshop.write("train.py", STREAM.replace("#PROBE", 'print("PROBE", float(net.bias.sum()))'))
    truth = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    done = workshop.florc("replay", "train.py")
    assert len(truth) == 3 and done.out.splitlines() == truth and "exact: " in done.said, done


def test_no_worker_outlives_a_replay_of_a_range(workshop: Workshop) -> None:
    script = """
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        torch.manual_seed(0)
        data = DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=8, num_workers=2, persistent_workers=True)
        total = torch.zeros(4)
        for epoch in range(4):
            for (x,) in data:
                total += x.sum(0)
            print("epoch", epoch, total.sum().item())
    """
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write(
        "train.py", script.replace("total += x.sum(0)", "total += x.sum(0)\n                print('P', epoch, x.sum().item())")
    )
    command = (sys.executable, "-m", "florc", "replay", "--iterations", "1:2", "train.py")
    with open(workshop.path / "said", "wb") as said:  # no pipe: what waits for its end would wait for the workers
        done = subprocess.run(command, cwd=workshop.path, env=workshop.environment(), stdout=said, stderr=said)
    left = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            left += [folder.name] if os.readlink(folder / "cwd").startswith(str(workshop.path)) else []
    assert done.returncode == 0 and b"P 1 " in (workshop.path / "said").read_bytes()
    assert left == []
