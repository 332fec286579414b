"""What logging costs a training whose activations, weights and gradients are logged as histograms: `make bench-background`.

The paper's first figure: four times an epoch. A small convolutional network is trained on images made of noise, in a process of
its own for each way and round, by turns: without a log; with torch's SummaryWriter; with `florc.background` around it; with one
thread that calls it on clones. Seconds are those of the training loop, the writer's `close()` included, without imports (those of
florc's own process neither). Processor seconds are those of the script's process, and of all processes, from the first step to
the end. The event files of all ways have to hold the same.

    python tools/bench_background.py [--rounds N] [--threads 1,2] [--write]
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tables import put

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench-background -->", "<!-- /bench-background -->"
WAYS = ("nothing", "plain", "background", "thread")
SAID = {
    "nothing": "no log",
    "plain": "`SummaryWriter`",
    "background": "`florc.background(SummaryWriter)`",
    "thread": "one thread, clones",
}
LOGS_AN_EPOCH = 4
_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER`: a process that outlives the run is waited for here."""


class Pool:
    """What one writes oneself: a thread that calls the writer with clones."""

    def __init__(self, writer: Any):
        self._writer, self._pool = writer, ThreadPoolExecutor(1)

    def add_histogram(self, tag: str, values: Any, step: int) -> None:
        self._pool.submit(self._writer.add_histogram, tag, values.detach().clone(), step)

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self._pool.submit(self._writer.add_scalar, tag, value, step)

    def close(self) -> None:
        self._pool.shutdown()
        self._writer.close()


def train(way: str, folder: str, threads: int, epochs: int, steps: int) -> None:
    """One training; prints its seconds and a digest of what was logged."""
    import torch
    from torch import nn
    from torch.utils.tensorboard import SummaryWriter

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 32, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(4096, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 100),
    )  # fmt: skip
    found: dict[str, Any] = {}
    for name, layer in net.named_children():
        if isinstance(layer, (nn.Conv2d, nn.ReLU, nn.Linear)):
            layer.register_forward_hook(lambda _, __, out, name=name: found.__setitem__(name, out))
    sgd = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    images, labels = torch.randn(1024, 3, 32, 32), torch.randint(0, 100, (1024,))
    lose = nn.CrossEntropyLoss()

    def step(number: int) -> Any:
        rows = torch.arange(number * 32, number * 32 + 32) % 1024
        sgd.zero_grad()
        loss = lose(net(images[rows]), labels[rows])
        loss.backward()
        sgd.step()
        return loss

    for number in range(3):
        step(number)
    writer: Any = None
    if way != "nothing":
        writer = SummaryWriter(folder)
        if way == "background":
            import florc

            writer = florc.background(writer)
            writer.flush()  # its process has imported what it needs
        elif way == "thread":
            writer = Pool(writer)
    before, begun = cpu_seconds(), time.perf_counter()
    every = steps // LOGS_AN_EPOCH
    for epoch in range(epochs):
        for number in range(steps):
            loss = step(number)
            if writer is not None and number % every == every - 1:
                at = epoch * steps + number
                for name, values in found.items():
                    writer.add_histogram(f"activations/{name}", values, at)
                for name, parameter in net.named_parameters():
                    writer.add_histogram(f"weights/{name}", parameter, at)
                    writer.add_histogram(f"gradients/{name}", parameter.grad, at)
                writer.add_scalar("loss", loss.item(), at)
    looped = time.perf_counter() - begun
    if writer is not None:
        writer.close()
    wall = time.perf_counter() - begun
    waited = writer._florc_logging.waited if way == "background" else 0.0  # of a call for room
    print(json.dumps({"wall": wall, "loop": looped, "own": cpu_seconds() - before, "waited": waited}))


def cpu_seconds() -> float:
    return time.process_time()


def digest(folder: Path) -> str:
    """Of the events, without times."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    made = hashlib.sha256()
    for path in sorted(folder.glob("*tfevents*")):
        for raw in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(raw)
            event.wall_time = 0
            made.update(event.SerializeToString(deterministic=True))
    return made.hexdigest()


def ran(way: str, threads: int, epochs: int, steps: int) -> tuple[dict[str, float], str]:
    """One way once: its seconds, processor seconds of processes beside it, and what is on disk."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, __file__, "--one", way, folder, str(threads), str(epochs), str(steps)]
        done = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        out, _ = done.communicate()
        if done.returncode:
            raise RuntimeError(f"{way} ended with {done.returncode}")
        before = os.times()
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        after = os.times()
        found: dict[str, float] = json.loads(out.splitlines()[-1])
        beside = sum(after[2:4]) - sum(before[2:4])
        found["cpu"] = found["own"] + beside
        return found, digest(Path(folder)) if way != "nothing" else ""


def table(threads: int, rounds: int, epochs: int, steps: int) -> str:
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    digests = set()
    for number in range(rounds):
        for way in WAYS[number % len(WAYS) :] + WAYS[: number % len(WAYS)]:
            run, logged = ran(way, threads, epochs, steps)
            found[way].append(run)
            digests |= {logged} - {""}
            print(threads, number, way, {name: round(value, 2) for name, value in run.items()}, flush=True)
    if len(digests) != 1:
        raise RuntimeError("the ways logged different events")
    middle = {way: {name: statistics.median(run[name] for run in runs) for name in runs[0]} for way, runs in found.items()}
    bare = middle["nothing"]
    spread = max(run["wall"] for run in found["nothing"]) / bare["wall"] - 1
    lines = [
        f"{threads} torch thread{'s' * (threads > 1)}: the training alone takes {bare['wall']:.1f} s, its slowest round "
        f"{spread:+.1%}.\n",
        "| | seconds | longer | the loop alone | waited for room | processor seconds of the script | more | of all | more |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for way, runs in middle.items():
        wall, own, cpu = (runs[name] / bare[name] - 1 for name in ("wall", "own", "cpu"))
        loop = runs["loop"] / bare["wall"] - 1
        lines.append(
            f"| {SAID[way]} | {runs['wall']:.2f} | {wall:+.1%} | {loop:+.1%} | {runs['waited']:.1f} s | {runs['own']:.1f} "
            f"| {own:+.1%} | {runs['cpu']:.1f} | {cpu:+.1%} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        way, folder, threads, epochs, steps = sys.argv[2:]
        train(way, folder, int(threads), int(epochs), int(steps))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=32, help="in an epoch")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    import torch

    machine = f"{os.cpu_count()} cores, CPython {platform.python_version()}, torch {torch.__version__}"
    head = (
        f"{time.strftime('%Y-%m-%d')}, {machine}; medians of {arguments.rounds} rounds in which every way takes its turn; "
        f"{arguments.epochs} epochs of {arguments.steps} steps. *longer*: with `close()`; *the loop alone*: without.\n"
    )
    tables = [
        table(int(threads), arguments.rounds, arguments.epochs, arguments.steps) for threads in arguments.threads.split(",")
    ]
    text = "\n".join([head, *tables])
    print(text)
    if arguments.write:
        put(DOCS, BEGIN, END, text)


if __name__ == "__main__":
    main()
