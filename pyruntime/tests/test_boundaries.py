"""Loops that train: a replay of some of their iterations begins at a checkpoint between two of them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from workshop import Done, Workshop

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
SCRIPTS: dict[str, str] = {
    "for": HEAD
    + """
seen, ema = [], None
for step in range(100):
    at = torch.randint(0, 64, (8,))
    opt.zero_grad()"""
    + STEP
    + """    opt.step()
    ema = loss.item() if ema is None else 0.9 * ema + 0.1 * loss.item()
    seen.append(ema)
    #PROBE
    if step % 5 == 0:
        print(step, ema)
print("end", len(seen), ema, loss.item())
""",
    "while, gradients carried along": HEAD
    + """
def train():
    step, best = 0, 9.0
    while step < 100:
        at = torch.randint(0, 64, (8,))"""
    + STEP.replace("\n    ", "\n        ")
    + """
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
    "loader": HEAD
    + """
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 800
    def __getitem__(self, i):
        return (i + int(64 * torch.rand(1))) % 64
for step, at in enumerate(torch.utils.data.DataLoader(Rows(), batch_size=8, shuffle=True)):
    opt.zero_grad()"""
    + STEP
    + """    opt.step()
    #PROBE
print("end", net[0].weight.sum().item())
""",
}
PROBE = 'print("PROBE", step, net[0].weight.grad is None or net[0].weight.grad.sum().item(), at.tolist())'


SCRIPTS["loader of tensors"] = (
    SCRIPTS["loader"]
    .replace("DataLoader(Rows(), ", "DataLoader(torch.utils.data.TensorDataset(torch.arange(800) % 64), ")
    .replace("for step, at in enumerate", "for step, (at,) in enumerate")
)
SCRIPTS["hidden state over steps"] = (
    HEAD
    + """
cell, hidden = nn.GRUCell(8, 8), torch.zeros(8, 8)
for step in range(100):
    at = torch.randint(0, 64, (8,))
    hidden = cell(x[at], hidden.detach())
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(hidden), y[at])
    loss.backward()
    time.sleep(0.008)
    opt.step()
    #PROBE
    if step % 5 == 0:
        print(step, hidden.sum().item())
"""
)
SCRIPTS["a sum that is differentiated"] = (
    HEAD
    + """
total = 0.0
for step in range(100):
    at = torch.randint(0, 64, (8,))
    loss = nn.functional.cross_entropy(net(x[at]), y[at])
    total = total + loss
    time.sleep(0.008)
    #PROBE
    if step % 5 == 4:
        opt.zero_grad()
        total.backward()
        opt.step()
        print(step, total.item())
        total = 0.0
"""
)
EPOCHS = (
    HEAD
    + """
done = 0
for epoch in range(3):
    for step, at in enumerate(torch.utils.data.DataLoader(range(64), batch_size=1, shuffle=True)):
        opt.zero_grad()"""
    + STEP.replace("\n    ", "\n        ")
    + """        opt.step()
        done += 1
        #PROBE
    print("epoch", epoch, done, loss.item())
    #AFTER
"""
)


UNSAFE = ("loader",)
"""Whose dataset augments, with generators that the steps use, too."""
CUT = ("for", "hidden state over steps")
"""Whose replay `make test` cuts in two, at a checkpoint of a plain and of a loop-carried state: each worker imports torch anew."""


class Bench:
    """One script in a folder, recorded."""

    def __init__(self, folder: Path, text: str, options: tuple[str, ...] = ("--overhead", "0.5")):
        self.shop, self.text = Workshop(folder), text
        self.shop.write("train.py", text)
        self.recorded = self.florc("record", *options, "train.py")
        assert self.recorded.code == 0, self.recorded
        self.edit("#PROBE", PROBE)

    def edit(self, marker: str, added: str) -> None:
        self.shop.write("train.py", self.text.replace(marker, added))

    def florc(self, *words: str) -> Done:
        return self.shop.florc(*words)

    def replay(self, *words: str) -> Done:
        """One that differs in nothing from the record. (How many checkpoints there are to compare with depends on the time that
        things take.)"""
        done = self.florc("replay", "train.py", *words)
        assert done.code == 0, done.said
        return done


def of_steps(out: str, start: int, stop: int) -> list[str]:
    return [line for line in out.splitlines() if start <= int(line.split()[1]) < stop]


def beginning(done: Done) -> int:
    """The iteration with which the last loop began."""
    found = re.findall(r"began with iteration (\d+)", done.said)
    assert found, done.said
    return int(found[-1])


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_replay_begins_in_the_middle(name: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, SCRIPTS[name])
    whole = bench.replay()
    assert "exact:" in whole.said and "began with" not in whole.said
    part = bench.replay("--iterations", "70:80")
    if name in UNSAFE:
        assert "ran from its first iteration: Rows may draw" in part.said and "began with" not in part.said
        assert part.out.splitlines() == of_steps(whole.out, 70, 80)
        return
    assert part.out.splitlines() == of_steps(whole.out, 70, 80)
    if name != "a sum that is differentiated":  # between two steps it may be half of what is differentiated
        assert 0 < beginning(part) <= 70
    steps = bench.replay("--steps", "70:80")
    assert steps.out == part.out
    if name in CUT or "FLORC_FULL" in os.environ:
        workers = bench.replay("--workers", "2")
        assert workers.out == whole.out
        assert "worker 2" in workers.said


def test_a_question_about_the_end_begins_at_the_last_checkpoint(tmp_path: Path) -> None:
    text = SCRIPTS["while, gradients carried along"]
    bench = Bench(tmp_path, text, ("--checkpoint", "every"))  # on a busy machine a run of a second may have none
    (tmp_path / "train.py").write_text(
        text + "print('PROBE', net[0].weight.sum().item(), opt.state_dict()['state'][0]['step'])\n"
    )
    jumped = bench.replay()
    assert beginning(jumped) > 0
    everything = bench.replay("--step-into", "all")
    assert "began with" not in everything.said
    assert jumped.out == everything.out != ""


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_loop_without_blocks_is_verified_between_checkpoints(name: str, tmp_path: Path) -> None:
    if name == "a sum that is differentiated":
        pytest.skip("its checkpoints hold no autograd history")
    if name in UNSAFE:
        pytest.skip("no checkpoint is between its steps")
    bench = Bench(tmp_path, SCRIPTS[name])
    done = bench.florc("verify", "--samples", "2", "train.py")
    assert done.code == 0, done.said
    blocks = re.search(r"the state of (\d+) blocks? reappeared unchanged", done.said)
    assert blocks and int(blocks.group(1)) >= 1, done.said
    dry = bench.florc("replay", "--dry-run", "train.py")
    assert re.search("can begin with one (of|iteration)", dry.out), dry.out
    again = bench.florc("replay", "--step-into", "L1", "--iterations", "70:80", "train.py")
    assert "began with" not in again.said


def test_what_an_added_statement_carries_along_is_not_jumped_over(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SCRIPTS["for"])
    bench.edit("#PROBE", "total = (total if step else 0) + loss.item(); print('PROBE', step, total)")
    whole = bench.florc("replay", "train.py", "--allow-drift")
    part = bench.florc("replay", "train.py", "--allow-drift", "--iterations", "70:72")
    assert part.out.splitlines() == of_steps(whole.out, 70, 72) != []
    assert "began with" not in part.said


def test_a_changed_statement_is_not_jumped_over(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SCRIPTS["for"])
    (tmp_path / "train.py").write_text(SCRIPTS["for"].replace("0.9 * ema", "0.8 * ema").replace("#PROBE", PROBE))
    part = bench.florc("replay", "train.py", "--allow-drift", "--iterations", "70:72")
    assert len(part.out.splitlines()) == 2
    assert "began with" not in part.said


@pytest.mark.parametrize("ends", ["", "        if step == 63: break\n"])
def test_a_statement_beside_the_steps_is_answered_for_whole_epochs(ends: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, EPOCHS.replace("        #PROBE\n", f"        #PROBE\n{ends}"))
    bench.edit("#AFTER", 'print("PROBE", epoch, done, net[0].weight.sum().item())')
    whole = bench.replay()
    assert len(whole.out.splitlines()) == 3
    part = bench.replay("--steps", "40:150")  # epoch 1 has steps 64 to 127
    assert part.out.splitlines() == whole.out.splitlines()[1:2]


@pytest.mark.parametrize("steps, expected", [("40:43", range(40, 43)), ("62:66", range(62, 66)), ("-1", [191])])
def test_steps_are_counted_through_all_epochs(steps: str, expected: Any, tmp_path: Path) -> None:
    bench = Bench(tmp_path, EPOCHS)
    bench.edit("#PROBE", "print('PROBE', done - 1, loss.item(), net[0].weight.grad.sum().item())")
    whole = bench.replay()
    part = bench.replay("--steps", steps)
    assert part.out.splitlines() == [line for line in whole.out.splitlines() if int(line.split()[1]) in expected]
    assert len(part.out.splitlines()) == len(expected)
    if steps == "40:43":
        assert beginning(part) > 0


SCHEDULED = (
    HEAD
    + """
def train(done):
    for at in torch.utils.data.DataLoader(range(64), batch_size=2, shuffle=True):
        opt.zero_grad()"""
    + STEP.replace("\n    ", "\n        ")
    + """        opt.step()
        done += 1
        #STEP
    return done
def main():
    done = 0
    for epoch in range(3):
        done = train(done)
        print("epoch", epoch)
        #SCHEDULE
main()
"""
)
CRITICS = (
    HEAD
    + """
for done in range(60):
    for critic in range(3):
        at = torch.randint(0, 64, (8,))
        opt.zero_grad()"""
    + STEP.replace("\n    ", "\n        ").replace("0.008", "0.002")
    + """        opt.step()
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
    #STEP
"""
)
ACCUMULATED = (
    CRITICS.replace("        opt.zero_grad()\n", "")
    .replace("        opt.step()\n", "")
    .replace("    net(x).sum().backward()\n", "")
)


@pytest.mark.parametrize(
    "text",
    [
        SCHEDULED.replace("#SCHEDULE", "torch.optim.lr_scheduler.StepLR(opt, 1).step()"),
        SCHEDULED.replace("#SCHEDULE", "for group in opt.param_groups: group['lr'] *= 0.9"),
        CRITICS,
        ACCUMULATED,
    ],
)
def test_a_step_is_one_of_the_optimizer(text: str, tmp_path: Path) -> None:
    """Not one of the scheduler after an epoch; nor one of the loops inside a step."""
    bench = Bench(tmp_path, text)
    bench.edit("#STEP", "print('PROBE', done, loss.item(), net[0].weight.sum().item())")
    every = bench.shop.plain("train.py")
    part = bench.replay("--steps", "40:43")
    wanted = [line for line in bench.replay().out.splitlines() if line.startswith("PROBE")]
    assert len(wanted) == len(every.out.splitlines()) - 3 * ("epoch" in text)
    assert part.out.splitlines() == wanted[40:43], part.said


def test_an_iteration_of_an_inner_loop_is_named_by_both_loops(tmp_path: Path) -> None:
    bench = Bench(tmp_path, EPOCHS)
    part = bench.florc("replay", "train.py", "--iterations", "epoch=1,step=20:22")
    assert [line.split()[1] for line in part.out.splitlines()] == ["20", "21"]


def test_an_unusable_range_of_steps_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, EPOCHS)
    refused = bench.florc("replay", "train.py", "--steps", "192:200")
    assert refused.code == 2 and "only 192" in refused.said, refused.said


def test_the_last_epoch_does_not_restore_those_before(tmp_path: Path) -> None:
    bench = Bench(tmp_path, EPOCHS)
    bench.edit("#AFTER", "print('PROBE', epoch, net[0].weight.sum().item())")
    whole = bench.replay()
    last = bench.replay("--last")
    assert last.out.splitlines() == whole.out.splitlines()[-1:]
    assert re.search(r"L1 began with iteration [12]", last.said), last.said
    shards = [bench.replay("--shard", part).out for part in ("1/2", "2/2")]
    assert "".join(shards) == whole.out
