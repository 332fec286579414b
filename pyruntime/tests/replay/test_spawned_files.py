"""Ranks that the script starts itself: files that the script looks for, and objects that are called as functions are."""

from __future__ import annotations

import shutil

import pytest
from workshop import Workshop

pytest.importorskip("torch")
RESUMING = """
    import os
    import sys
    import torch
    import torch.multiprocessing as mp

    def fit(rank):
        weights = torch.load("model.pt") if rank == 0 and os.path.exists("model.pt") else torch.zeros(4)
        for epoch in range(3):
            for batch in range(20):
                weights += torch.ones(4) * (batch + rank)
            sys.stdout.write(f"epoch {rank} {epoch} {weights[0].item()}\\n")
        if rank == 0:
            os.makedirs("out", exist_ok=True)
            torch.save(weights, "model.pt")
            with open("out/log.txt", "a") as log:
                log.write(f"{weights[0].item()}\\n")

    if __name__ == "__main__":
        print("resumes", os.path.exists("model.pt"), os.path.exists("out"), sorted(os.listdir()))
        for turn in range(2):
            mp.spawn(fit, nprocs=2)
            print("turn", turn, torch.load("model.pt")[0].item(), open("out/log.txt").read().split())
"""


@pytest.mark.parametrize("is_there", [False, True], ids=["new", "resumed"])
def test_a_script_that_looks_for_files_of_its_ranks_finds_what_it_found(is_there: bool, workshop: Workshop) -> None:
    files = ("model.pt", "out")
    workshop.write("train.py", RESUMING)
    if is_there:
        assert workshop.plain("train.py").code == 0
        for name in files:
            (shutil.copytree if name == "out" else shutil.copy)(workshop.path / name, workshop.path.parent / f"before-{name}")

    def begin() -> None:
        for name in files:
            path = workshop.path / name
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            if is_there:
                before = workshop.path.parent / f"before-{name}"
                (shutil.copytree if name == "out" else shutil.copy)(before, path)

    begin()
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    left = {name: (workshop.path / name).read_bytes() for name in ("model.pt", "out/log.txt")}
    text = RESUMING.replace("        if rank == 0:", '        print("PROBE", rank, weights.sum().item())\n        if rank == 0:')
    workshop.write("train.py", text)
    done = workshop.florc("replay", "train.py")
    assert left == {name: (workshop.path / name).read_bytes() for name in left}
    begin()
    truth = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    assert sorted(done.out.splitlines()) == sorted(truth) and truth and "exact: " in done.said, done.said


CALLED = """
    import sys
    import torch
    import torch.multiprocessing as mp

    class Trainer:
        def __init__(self, lr):
            self.lr = lr

        def __call__(self, rank, epochs):
            torch.manual_seed(rank)
            self.net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(self.net.parameters(), self.lr)
            for epoch in range(epochs):
                for batch in range(40):
                    loss = self.net(torch.randn(8, 4)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                sys.stdout.write(f"epoch {rank} {epoch} {loss.item()}\\n")

    if __name__ == "__main__":
        mp.spawn(Trainer(0.1), args=(4,), nprocs=2)
        print("done")
"""


def test_an_object_that_is_called_in_each_rank_is_restored(workshop: Workshop) -> None:
    workshop.write("train.py", CALLED)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    line = 'sys.stdout.write(f"epoch'
    text = CALLED.replace(line, f'sys.stdout.write(f"P {{rank}} {{self.net.weight.tolist()}}\\n")\n                {line}')
    workshop.write("train.py", text)
    truth = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("P ")]
    done = workshop.florc("replay", "train.py")
    assert sorted(done.out.splitlines()) == sorted(truth) and len(truth) == 8 and "exact: " in done.said, done.said
    assert " 0 blocks restored" not in done.said, done.said
