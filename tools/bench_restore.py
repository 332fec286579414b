"""What a restored epoch costs a replay: `make bench-restore`.

A script trains a model of 50 million parameters with Adam (600 MB a checkpoint) for some epochs, or only the last layer of it. A
replay restores every epoch and prints, after each, what the clocks show; the first three epochs are not counted. Others load a
state dict for each epoch. The limit reads the chunks that the answer needs and checks their hashes, natively, by as many cores.
Every round runs all ways, one after the other; the table has medians over the rounds.

    python tools/bench_restore.py [--rounds N] [--epochs N] [--only MODEL,...] [--write] [--florc NAME=FOLDER]

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
BEGIN, END = "<!-- bench-restore -->", "<!-- /bench-restore -->"
SKIPPED = 3

TRAINING = """
import os, time
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(*[torch.nn.Linear({width}, {width}) for _ in range({layers})])
for layer in net[:{frozen}]:
    layer.requires_grad_(False)
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
x = torch.randn(2, {width})
for epoch in range({epochs}):
    for step in range(1):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
"""
PROBE = """    print(float(net[-1].weight[0, 0]), time.perf_counter(), time.process_time())
"""
OTHERS = """
import sys, time
import torch
path, way, width, layers, frozen, epochs = *sys.argv[1:3], *map(int, sys.argv[3:])
net = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(layers)])
trained = [p for layer in net[frozen:] for p in layer.parameters()]
optimizer = torch.optim.Adam(trained, lr=1e-3)
if way == "save":
    for p in trained:
        p.grad = torch.randn_like(p)
    optimizer.step()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, path)
    sys.exit()
for epoch in range(epochs):
    if way == "all":
        held = torch.load(path)
        net.load_state_dict(held["net"])
        optimizer.load_state_dict(held["optimizer"])
    else:
        net.load_state_dict(torch.load(path, mmap=True)["net"])
    print(float(net[-1].weight[0, 0]), time.perf_counter(), time.process_time())
"""
LIMIT = """
import json, sys, time
from florc import state
from florc._native import RunReader
from florc.state.deferred import candidates
store, run, is_frozen = sys.argv[1:]
reader = RunReader(store, run)
records = [json.loads(payload) for kind, payload in reader.records() if kind == "checkpoint"]
before = set()
for record in records:
    if record["key"].endswith("@") or "/" not in record["key"]:
        continue
    graph, *chunks = [chunk["hash"] for chunk in record["chunks"]]
    document = json.loads(reader.read_chunk(graph))
    waits = {document["nodes"][number][1] for number in candidates(document)}
    needed = [chunk for leaf, chunk in enumerate(chunks) if leaf not in waits and chunk not in before]
    reader.check_chunks(needed)
    before = set(chunks)
    print(len(needed), time.perf_counter(), time.process_time(), reader.read_so_far[1])
"""


class Model(NamedTuple):
    """What is trained."""

    what: str
    width: int
    layers: int
    frozen: int


MODELS = {
    "adam": Model("50 million parameters and Adam: 604 MB a checkpoint", 2048, 12, 0),
    "frozen": Model("the same model, of which only the last layer is trained: 235 MB a checkpoint", 2048, 12, 11),
}


class Cost(NamedTuple):
    """Of one epoch: seconds by the clock and of the processor, bytes read."""

    wall: float
    processor: float
    nbytes: float | None = None


def _run(command: list[str], folder: str, florc: str | None = None) -> str:
    environment = {**os.environ, "FLORC_DIR": os.path.join(folder, "store"), **({"PYTHONPATH": florc} if florc else {})}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout


def _cost(lines: list[list[float]], nbytes: float | None = None) -> Cost:
    first, last = lines[SKIPPED - 1], lines[-1]
    count = len(lines) - SKIPPED
    return Cost((last[1] - first[1]) / count, (last[2] - first[2]) / count, nbytes)


def _numbers(text: str) -> list[list[float]]:
    return [[float(word) for word in line.split()] for line in text.splitlines()]


def replayed(folder: str, florc: str | None, whole: float, epochs: int) -> Cost:
    """A replay that restores every epoch."""
    out = _run([sys.executable, "-m", "florc", "replay", "--json", "train.py"], folder, florc)
    *values, report = map(json.loads, out.splitlines())
    if report["skipped"] != epochs or report["anomalies"]:
        raise RuntimeError(str(report))
    read = report.get("read")
    return _cost(_numbers("".join(value["text"] + "\n" for value in values)), read["bytes"] / epochs if read else whole)


def limit(folder: str, model: Model) -> Cost:
    """Reading and checking what is needed."""
    run = next(Path(folder, "store", "runs").iterdir()).name
    lines = _numbers(_run([sys.executable, "-c", LIMIT, os.path.join(folder, "store"), run, str(model.frozen)], folder))
    return _cost(lines, (lines[-1][3] - lines[SKIPPED - 1][3]) / (len(lines) - SKIPPED))


def rows(model: Model, rounds: int, epochs: int, florcs: dict[str, str | None]) -> list[str]:
    """The table of a model."""
    folder = tempfile.mkdtemp(prefix="florc-bench-")
    try:
        text = TRAINING.format(**model._asdict(), epochs=epochs)
        script = Path(folder, "train.py")
        script.write_text(text)
        _run([sys.executable, "-m", "florc", "record", "--checkpoint", "every", "train.py"], folder)
        script.write_text(text + PROBE)
        numbers = [str(number) for number in (model.width, model.layers, model.frozen, epochs)]
        _run([sys.executable, "-c", OTHERS, "state.pt", "save", *numbers], folder)
        size = os.path.getsize(os.path.join(folder, "state.pt"))
        found: dict[str, list[Cost]] = {}
        limit(folder, model)  # brings the files to the page cache
        for _ in range(rounds):
            found.setdefault("limit: read what is needed, check it", []).append(limit(folder, model))
            for name, florc in florcs.items():
                found.setdefault(name, []).append(replayed(folder, florc, size, epochs))
            for name, way in (("torch.load, both", "all"), ("torch.load(mmap=True), model only", "model")):
                shown = _numbers(_run([sys.executable, "-c", OTHERS, "state.pt", way, *numbers], folder))
                found.setdefault(f"{name}: no check", []).append(_cost(shown))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    medians = {
        way: Cost(statistics.median(c.wall for c in costs), statistics.median(c.processor for c in costs), costs[0].nbytes)
        for way, costs in found.items()
    }
    base = next(iter(medians.values()))
    lines = [f"| {model.what} | by the clock | of the limit | processor | read |", "|---|--:|--:|--:|--:|"]
    for way, cost in medians.items():
        read = "" if cost.nbytes is None else f"{cost.nbytes / 1e6:.0f} MB"
        lines.append(f"| {way} | {_ms(cost.wall)} | {cost.wall / base.wall:.2f} × | {_ms(cost.processor)} | {read} |")
    return [*lines, ""]


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--florc", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    florcs: dict[str, str | None] = {}
    for other in arguments.florc:
        name, _, where = other.partition("=")
        florcs[name] = where
    florcs["florc replay"] = None
    lines = []
    for name in arguments.only.split(","):
        of_model = rows(MODELS[name], arguments.rounds, arguments.epochs, florcs)
        print("\n".join(of_model), flush=True)
        lines += of_model
    if arguments.write:
        head = (
            f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} shared cores, Python {platform.python_version()}. Per epoch: medians "
            f"of {arguments.rounds} rounds over {arguments.epochs - SKIPPED} epochs; files are in the page cache. Read: on the "
            "average of all epochs.\n"
        )
        put(DOCS, BEGIN, END, "\n".join([head, *lines]))


if __name__ == "__main__":
    main()
