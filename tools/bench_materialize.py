"""What a checkpoint costs the training: `make bench-materialize`.

For each state and number of torch threads a process of its own, in which every way of saving takes its turn in every round:
how long the training stands still (stall), how much longer a training loop takes that goes on meanwhile and writes into the
state (taken: the stall is part of it), and how long until the bytes are durable. Beside them what cannot be beaten: a copy
into memory that was touched before, and the same bytes written and synced. Memory is measured in further processes, one for
each way: the largest sum of proportional set sizes of the process and its children, less that of a process that saves
nothing. `--write` puts the tables into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from savers import OURS, Florc, all_savers

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench-materialize -->", "<!-- /bench-materialize -->"
STATES = {
    "large": "100 tensors of 4 MB",
    "small": "model and Adam, 2,001 tensors of 1 KB and 667 of 4 bytes",
    "plain": "lists and dicts of 1,000,000 numbers",
}
LOOP_SECONDS = {"large": 1.2, "small": 0.4, "plain": 0.8}
STAGING = 1 << 30


def large():
    import torch

    return {f"layer{i}": torch.randn(1 << 20) for i in range(100)}


def small():
    import torch

    def tensors():
        return [torch.randn(256) for _ in range(667)]

    adam = {i: {"step": torch.tensor(1.0), "exp_avg": m, "exp_avg_sq": v} for i, (m, v) in enumerate(zip(tensors(), tensors()))}
    groups = [{"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "params": list(range(667))}]
    return {
        "model": {f"layer{i}.weight": t for i, t in enumerate(tensors())},
        "optimizer": {"state": adam, "param_groups": groups},
    }


def plain():
    from random import Random

    random = Random(0)
    # tables nested in lists, which DCP keeps whole: it would make a key of every number of a dict
    return [
        [random.random() for _ in range(400_000)],
        [random.randrange(1 << 40) for _ in range(200_000)],
        {i: random.random() for i in range(200_000)},
        [[random.random(), i] for i in range(100_000)],
    ]


class Training:
    """A loop that computes and writes into the state, tensor after tensor."""

    def __init__(self, name: str):
        import savers
        import torch

        self.state = {"large": large, "small": small, "plain": plain}[name]()
        self.tensors = [] if name == "plain" else list(savers.tensors_of(self.state).values())
        self.a = torch.randn(256, 256)
        self.at = 0
        self.steps = 50
        begun = time.perf_counter()
        self.run()
        self.steps = max(20, int(self.steps * LOOP_SECONDS[name] / (time.perf_counter() - begun)))

    def change(self) -> None:
        """Nothing in the state is as in the checkpoint before."""
        for tensor in self.tensors:
            tensor.add_(1e-3)
        if not self.tensors:
            for i in range(0, 400_000, 1000):
                self.state[0][i] += 1.0
            self.state[1][0] += 1
            self.state[2][0] += 1.0
            self.state[3][0][0] += 1.0

    def run(self, handle=None):
        """All steps; when the handle was first seen to be done."""
        seen = None
        for _ in range(self.steps):
            self.a.mm(self.a)
            self.a.mm(self.a)
            if self.tensors:
                self.at = (self.at + 1) % len(self.tensors)
                self.tensors[self.at].add_(1e-6)
            else:
                self.at = (self.at + 1) % 400_000
                self.state[0][self.at] += 1.0
            if handle is not None and seen is None and handle.done():
                seen = time.perf_counter()
        return seen


def one(training: Training, start, path: str) -> dict:
    """One checkpoint with the loop after it."""
    training.change()
    gc.collect()
    begun = time.perf_counter()
    handle = start(training.state, path)
    stalled = time.perf_counter()
    seen = stalled if handle.done() else training.run(handle)
    if seen is None:
        ended = time.perf_counter()
        handle.wait()
        seen = time.perf_counter()
    elif seen == stalled:
        training.run()
        ended = time.perf_counter()
    else:
        ended = time.perf_counter()
    found = {"stall": stalled - begun, "whole": ended - begun, "durable": seen - begun, "bytes": handle.bytes}
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.exists(path):
        os.unlink(path)
    return found


def measure(name: str, threads: int, rounds: int) -> None:
    """Prints what was measured as JSON."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        florcs = {engine: Florc(engine, os.path.join(folder, "store"), STAGING) for engine in OURS}
        import torch

        torch.set_num_threads(threads)
        training = Training(name)
        starts, found, skipped = {}, {}, {}
        for saver, make in all_savers(folder, florcs).items():
            try:
                starts[saver] = make()
                found[saver] = [one(training, starts[saver], os.path.join(folder, "warm"))]
                print(f"{name} {saver}: first {found[saver][0]['stall']:.4f} s", file=sys.stderr)
            except Exception as error:
                skipped[saver] = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
                starts.pop(saver, None)
        alone, limits = [], []
        nbytes = max(found["torch.save"][0]["bytes"], 1)
        source, target = (ctypes.create_string_buffer(b"\1" * nbytes, nbytes) for _ in range(2))
        for number in range(rounds):
            begun = time.perf_counter()
            training.run()
            alone.append(time.perf_counter() - begun)
            limits.append(limit(training, source, target, os.path.join(folder, "raw")))
            for saver, start in starts.items():
                found[saver].append(one(training, start, os.path.join(folder, f"{number}")))
        print(json.dumps({"alone": alone, "limits": limits, "found": found, "skipped": skipped}), flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        leave()


def copy(parts: list, target: int) -> None:
    """Copy memory, given as addresses and sizes, to where there is room for all of it."""
    for address, size in parts:
        ctypes.memmove(target, address, size)
        target += size


def halves(parts: list) -> tuple:
    """The same memory in two parts of one size."""
    total, so_far, first, second = sum(size for _, size in parts), 0, [], []
    for address, size in parts:
        mine = min(size, max(0, total // 2 - so_far))
        so_far += size
        first += [(address, mine)] if mine else []
        second += [(address + mine, size - mine)] if size > mine else []
    return first, second


def limit(training: Training, source, target, path: str) -> dict:
    """Seconds to copy the state into touched memory, by one thread and by two, and to write and sync as many bytes. As
    for those who save it, the state was written to since it was copied last."""
    nbytes = len(source)
    parts = [(t.data_ptr(), t.nbytes) for t in training.tensors] or [(ctypes.addressof(source), nbytes)]
    to = ctypes.addressof(target)
    training.change()
    begun = time.perf_counter()
    copy(parts, to)
    copied = time.perf_counter()
    training.change()
    first, second = halves(parts)
    again = time.perf_counter()
    other = threading.Thread(target=copy, args=(second, to + sum(size for _, size in first)))
    other.start()
    copy(first, to)
    other.join()
    twice = time.perf_counter()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    view, at = memoryview(source), 0
    while at < nbytes:
        at += os.write(fd, view[at : at + (1 << 24)])
    os.fsync(fd)
    os.close(fd)
    written = time.perf_counter()
    os.unlink(path)
    return {"copy": copied - begun, "copy2": twice - again, "disk": written - twice}


def keep(name: str, saver: str) -> None:
    """Saves twice, for the one who measures memory; `nothing` saves nothing."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        florcs = {engine: Florc(engine, os.path.join(folder, "store"), STAGING) for engine in OURS if saver == f"florc, {engine}"}
        import torch

        torch.set_num_threads(1)
        training = Training(name)
        training.steps = min(training.steps, 300)
        print("ready", flush=True)
        if saver != "nothing":
            start = all_savers(folder, florcs)[saver]()
            for number in range(2):
                one(training, start, os.path.join(folder, str(number)))
        shutil.rmtree(folder, ignore_errors=True)
        leave()


def leave() -> None:
    """Processes, thread pools and process groups of the peers are not worth waiting for, but hold our output open."""
    for child in multiprocessing.active_children():
        child.kill()
    os._exit(0)


def peak_memory(name: str, saver: str) -> int:
    """Bytes at the highest, above the level before saving."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--keep", name, saver], stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    process.stdout.readline()
    level = highest = tree_pss(process.pid)
    while process.poll() is None:
        highest = max(highest, tree_pss(process.pid))
        time.sleep(0.005)
    return highest - level


def tree_pss(root: int) -> int:
    """Bytes of a process and all below it, shared pages counted once."""
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    waiting.extend(map(int, file.read().split()))
        except OSError:
            continue
    return total


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--states", nargs="*", default=list(STATES), choices=list(STATES))
    options.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    options.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    options.add_argument("--date", default=time.strftime("%Y-%m-%d"))
    options.add_argument("--machine", default="2 cores shared with other work, no GPU")
    options.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options.add_argument("--keep", nargs=2, help=argparse.SUPPRESS)
    args = options.parse_args()
    if args.measure:
        measure(args.measure[0], int(args.measure[1]), args.rounds)
    if args.keep:
        keep(*args.keep)
    import tables

    text = tables.head(args.date, args.machine, args.rounds)
    for name in args.states:
        results, memory = {}, {}
        for threads in args.threads:
            done = subprocess.run(
                [sys.executable, __file__, "--rounds", str(args.rounds), "--measure", name, str(threads)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                timeout=1800,
                env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": str(threads)},
            )
            results[threads] = json.loads(done.stdout.splitlines()[-1])
        level = peak_memory(name, "nothing")
        for saver in results[args.threads[0]]["found"]:
            memory[saver] = peak_memory(name, saver) - level
        text += tables.table(name, STATES[name], results, memory)
        print(text, flush=True)
    if args.write:
        tables.put(DOCS, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
