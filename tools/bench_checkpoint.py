"""What a checkpoint costs all in all: `make bench-checkpoint`.

A script trains, and keeps its state after every epoch: in one of the ways of others, or because `florc record --checkpoint every`
does it. Measured from outside, from a mark in the middle of the run to one at its end, so that nothing which happens once counts:
the processor seconds of the script, of its threads, its children and florc's writer, and those of the main thread alone; and, by
the script's own clock, how long an epoch takes. What the same script takes without keeping anything is subtracted. Every round
runs all ways, one after the other; the table has medians over the rounds.

    python tools/bench_checkpoint.py [--rounds N] [--only STATE,...] [--ways WAY,...] [--write] [--florc FOLDER]

`--florc`: where another build of florc is (a folder for PYTHONPATH), to compare with an earlier one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tables import put

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench-checkpoint -->", "<!-- /bench-checkpoint -->"
SKIPPED, MEASURED = 10, 60
SETTLE_S = 0.4
"""The script waits so long around each mark: what goes on beside it is done by then."""
PAUSE_S = 0.02
"""And so long in each epoch: nobody runs out of room."""

TRAINING = """
import os, sys, time
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
{setup}
waited = 0.0
def wait(seconds):
    global waited
    begun = time.perf_counter()
    time.sleep(seconds)
    waited += time.perf_counter() - begun
{imports}
for epoch in range({epochs}):
    for step in range(2):
        {step}
    {save}
    wait({pause})
    if epoch + 1 in ({skipped}, {epochs}):
        wait({settle})
        print("mark", time.perf_counter() - waited, flush=True)
        wait({settle})
"""
MODEL = """
net = torch.nn.Sequential(*[torch.nn.Linear({width}, {width}) for _ in range({layers})])
for layer in net[:{frozen}]:
    layer.requires_grad_(False)
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
x = torch.randn(8, {width})
def state():
    return {{"net": net.state_dict(), "optimizer": optimizer.state_dict()}}
"""
STEP = "optimizer.zero_grad(); loss = net(x).square().mean(); loss.backward(); optimizer.step()"
SMALL = MODEL.format(width=16, layers=4, frozen=0)
NUMBERS = """
numbers = [float(i) for i in range({count})]
of_model = state
def state():
    return {{**of_model(), "numbers": numbers}}
"""


class State(NamedTuple):
    """What a script trains: `setup` and `step` are its statements."""

    what: str
    setup: str
    step: str
    has_tensors: bool = True


STATES = {
    "4": State("4 layers and Adam: 32 tensors", MODEL.format(width=16, layers=4, frozen=0), STEP),
    "60": State("60 layers and Adam: 480 tensors", MODEL.format(width=16, layers=60, frozen=0), STEP),
    "500": State("500 layers and Adam: 4,000 tensors", MODEL.format(width=16, layers=500, frozen=0), STEP),
    "frozen": State("64 MB, of which 60 MB are frozen", MODEL.format(width=512, layers=64, frozen=60), STEP),
    "numbers": State(
        "4 layers and Adam, a list of 100,000 numbers, all new",
        SMALL + NUMBERS.format(count=100_000),
        f"{STEP}; numbers[:] = [v + 1.0 for v in numbers]",
        False,
    ),
    "grown": State(
        "4 layers and Adam, a list of 1,000,000 numbers, 2 new",
        SMALL + NUMBERS.format(count=1_000_000),
        f"{STEP}; numbers.append(0.5)",
        False,
    ),
}
WAYS = {
    "nothing": ("", "pass"),
    "florc": ("", "pass"),
    "torch.save into memory": ("import io", "torch.save(state(), io.BytesIO())"),
    "torch.save, fsync": ("", "file = open('state.pt', 'wb'); torch.save(state(), file); file.flush(); os.fsync(file.fileno())"),
    "cloudpickle, fsync": (
        "import cloudpickle",
        "file = open('state', 'wb'); cloudpickle.dump(state(), file); file.flush(); os.fsync(file.fileno())",
    ),
    "safetensors, fsync": (
        "from safetensors.torch import save_file\n"
        "def flat():\n"
        "    kept, net_state = state()['optimizer']['state'], net.state_dict()\n"
        "    return {**net_state, **{f'{i}.{k}': v for i, held in kept.items() for k, v in held.items()}}",
        "save_file(flat(), 'state'); fd = os.open('state', os.O_RDONLY); os.fsync(fd); os.close(fd)",
    ),
    "fork + torch.save": (
        "def forked():\n"
        "    while os.waitpid(-1, os.WNOHANG)[0] if children else False:\n"
        "        children.pop()\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        with open(f'{os.getpid()}.pt', 'wb') as file:\n"
        "            torch.save(state(), file)\n"
        "        os._exit(0)\n"
        "    children.append(child)\n"
        "children = []",
        "forked()",
    ),
}


class Cost(NamedTuple):
    """Of one epoch or checkpoint, in seconds: of the processor in all processes, in the main thread; by the script's clock."""

    tree: float
    main: float
    wall: float
    kept: float = 1.0
    """Checkpoints in an epoch."""

    def less(self, other: Cost) -> Cost:
        """What a checkpoint costs; `other`: of an epoch without any."""
        tree, main, wall = (a - b / self.kept for a, b in zip(self[:3], other[:3]))
        return Cost(tree, main, wall, self.kept)


def _schedstat(path: str) -> float:
    with open(path, encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def _used(root: int) -> tuple[float, float]:
    """Processor seconds of a process and all that descend from it, gone ones included, and of its main thread."""
    parents, ended = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry)] = int(fields[1])
            ended[int(entry)] = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    tree, work = 0.0, [root]
    while work:
        pid = work.pop()
        work += [child for child, parent in parents.items() if parent == pid]
        tree += ended.get(pid, 0.0)
        try:
            tree += sum(_schedstat(f"/proc/{pid}/task/{task}/schedstat") for task in os.listdir(f"/proc/{pid}/task"))
        except OSError:
            continue
    return tree, _schedstat(f"/proc/{root}/task/{root}/schedstat")


def measure(state: State, way: str, florc: str | None) -> Cost:
    """One run of a script."""
    folder = tempfile.mkdtemp(prefix="florc-bench-")
    try:
        imports, save = WAYS[way]
        script = os.path.join(folder, "train.py")
        Path(script).write_text(
            TRAINING.format(
                setup=state.setup, imports=imports, step=state.step, save=save, pause=PAUSE_S, settle=SETTLE_S,
                skipped=SKIPPED, epochs=SKIPPED + MEASURED,
            )
        )  # fmt: skip
        recorded = ["-m", "florc", "record", "--checkpoint", "every"] if way == "florc" else []
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **({"PYTHONPATH": florc} if florc else {})}
        command = [sys.executable, *recorded, script]
        run = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        marks = []
        assert run.stdout and run.stderr
        for line in run.stdout:
            if line.startswith("mark"):
                marks.append((*_used(run.pid), float(line.split()[1])))
        said = run.stderr.read()
        if run.wait() or len(marks) != 2:
            raise RuntimeError(f"{way}: {said}")
        times = MEASURED
        if recorded:  # besides the state after an epoch it keeps that before an iteration: of both loops
            report = json.loads(next(Path(folder).glob(".florc/runs/*/run.json")).read_text())["report"]
            times *= round(report["checkpoints"] / (SKIPPED + MEASURED))
        return Cost(*((b - a) / times for a, b in zip(*marks)))._replace(kept=times / MEASURED)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def rows(name: str, rounds: int, florc: str | None, wanted: list[str]) -> list[str]:
    """The table of a state."""
    state = STATES[name]
    wanted = wanted or [way for way in WAYS if state.has_tensors or "safetensors" not in way]
    ways = [way for way in WAYS if way in wanted or way == "nothing"]
    found: dict[str, list[Cost]] = {way: [] for way in ways}
    for _ in range(rounds):
        of_round = {way: measure(state, way, florc) for way in ways}
        for way, cost in of_round.items():
            found[way].append(cost.less(of_round["nothing"]))
    medians = {way: Cost(*map(statistics.median, zip(*costs))) for way, costs in found.items() if way != "nothing"}
    base = medians.get("torch.save into memory")
    lines = [f"| {state.what} | processor, all | of torch.save | main thread | longer, by its clock |", "|---|--:|--:|--:|--:|"]
    for way, cost in medians.items():
        ratio = f"{cost.tree / base.tree:.2f} ×" if base else ""
        lines.append(f"| {way} | {_ms(cost.tree)} | {ratio} | {_ms(cost.main)} | {_ms(cost.wall)} |")
    return [*lines, ""]


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(STATES))
    parser.add_argument("--ways", default="")
    parser.add_argument("--florc")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    wanted = [way for way in arguments.ways.split(",") if way]
    lines = []
    for name in arguments.only.split(","):
        of_state = rows(name, arguments.rounds, arguments.florc, wanted)
        print("\n".join(of_state), flush=True)
        lines += of_state
    if arguments.write:
        head = (
            f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, Python {platform.python_version()}. Per checkpoint: medians "
            f"of {arguments.rounds} rounds over {MEASURED} epochs, less what the script takes without keeping anything.\n"
        )
        put(DOCS, BEGIN, END, "\n".join([head, *lines]))


if __name__ == "__main__":
    main()
