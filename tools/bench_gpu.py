"""What a checkpoint of a device's memory costs the training: `make bench-gpu`.

In one process every way of saving takes its turn in every round, while a training loop computes on the device and writes
into the state: how long the training's thread stands still (stall), how much longer the loop takes until the device is
done (taken: what a device stands still is part of it), and how long until the bytes are durable. `--rehearse` runs the same
over a few megabytes of the host, with the device of the tests: it shows that this program works, and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from savers import Dcp, Handle, torch_save

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
TESTS = Path(__file__).resolve().parent.parent / "pyruntime" / "tests"
BEGIN, END = "<!-- bench-gpu -->", "<!-- /bench-gpu -->"
LOOP_SECONDS = 2.0
WAITS_S = 120.0


class Florc:
    """Staging before a recorder, as record.py uses it. Made before torch is imported: the writer is cloned then."""

    def __init__(self, name: str, store: str, max_staging: int, room: Any = None):
        from florc import _native

        self.recorder = _native.Recorder(store, f"bench-{name}", max_staging=max_staging)
        self.room = room
        self.staging: Any = None
        self.known: dict[int, dict[str, Any]] = {}
        self.written: dict[int, int] = {}

    def start(self, state: Any, path: str) -> Handle:
        """A checkpoint; the handle is done once it is durable."""
        from florc import state as codec
        from florc.staging import Staging, devices

        if self.staging is None:
            self.staging = Staging(self.recorder)
        header = json.dumps(
            {"block": "L1", "key": path, "places": ["state"], "names": [], "gradients": False, "seconds": 1.0, "origins": {}}
        )
        told: list[Any] = []
        encoded = codec.encode({"state": state})
        device = devices.named(next(leaf.device for leaf in encoded.leaves if isinstance(leaf, codec.DeviceLeaf)))
        if self.room is not None:
            vars(device)["room"] = lambda: self.room
        try:
            stall = self.staging.submit(header, encoded, told.append, lambda why: told.append(RuntimeError(why)))
        finally:
            vars(device).pop("room", None)
        if stall is None:
            raise RuntimeError("no staging memory")

        def done() -> bool:
            self.staging.poll()
            if not told:
                return False
            if isinstance(told[0], Exception):
                raise told[0]
            self.known[told[0]] = {}
            for finished in self.staging.finished(self.known):
                self.written[finished.seq] = finished.bytes_written
            return told[0] in self.written

        return Handle(done)


class Training:
    """A loop on the device that writes into the state, tensor after tensor."""

    def __init__(self, device: str, nbytes: int):
        import torch

        self.torch, self.device = torch, device
        count = max(4, nbytes // (4 << 20))
        self.state = {f"layer{i}": torch.randn(nbytes // 4 // count, device=device) for i in range(count)}
        self.tensors = list(self.state.values())
        side = 4096 if device == "cuda" else 64
        self.a = torch.randn(side, side, device=device)
        self.steps = 20
        begun = self.now()
        self.run()
        self.steps = max(20, int(self.steps * (LOOP_SECONDS if device == "cuda" else 0.1) / (self.now() - begun)))

    def now(self) -> float:
        """The time when the device is done."""
        if self.device == "cuda":
            self.torch.cuda.synchronize()
        return time.perf_counter()

    def run(self, handle: Any = None) -> Any:
        """All steps; when the handle was first seen to be done. The host is never far ahead of the device."""
        seen = None
        for step in range(self.steps):
            self.torch.mm(self.a, self.a)
            self.tensors[step % len(self.tensors)].add_(1e-6)
            if step % 10 == 9:
                self.now()
            if handle is not None and seen is None and handle.done():
                seen = time.perf_counter()
        return seen


def thread_over_host_copies(state: Any, path: str) -> Handle:
    """`.cpu()` of everything, and a Python thread that saves it."""
    copied = {name: tensor.detach().to("cpu", copy=True) for name, tensor in state.items()}
    worker = threading.Thread(target=torch_save, args=(copied, path))
    worker.start()
    return Handle(lambda: not worker.is_alive(), path)


def one(training: Training, start: Callable[[Any, str], Any], path: str) -> dict[str, float]:
    """One checkpoint with the loop after it."""
    for tensor in training.tensors:
        tensor.add_(1e-3)
    begun = training.now()
    handle = start(training.state, path)
    stalled = time.perf_counter()
    seen = training.run(handle)
    ended = training.now()
    while seen is None:
        if handle.done():
            seen = time.perf_counter()
        elif time.perf_counter() > ended + WAITS_S:
            raise TimeoutError("it is not durable")
        else:
            time.sleep(1e-3)
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.exists(path):
        os.unlink(path)
    return {"stall": stalled - begun, "whole": ended - begun, "durable": seen - begun}


def measure(device: str, nbytes: int, rounds: int, folder: str) -> dict[str, Any]:
    """Seconds by way: the first round apart, it pins memory."""
    staging = 3 * nbytes + (64 << 20)
    florcs = {
        "florc, copied on the device": Florc("copied", os.path.join(folder, "store"), staging),
        "florc, no memory on the device": Florc("held", os.path.join(folder, "store"), staging, 0),
    }
    ways: dict[str, Callable[[], Any]] = {name: partial(getattr, florc, "start") for name, florc in florcs.items()}
    ways.update(
        {
            "torch.save": lambda: torch_save,
            "thread over host copies": lambda: thread_over_host_copies,
            "DCP async_save, thread": lambda: Dcp("thread", folder).start,
        }
    )
    if device != "cuda":
        sys.path.insert(0, str(TESTS))
        import fake_device

        fake_device.install(fake_device.FakeDevice(patience=1))
    training = Training(device, nbytes)
    starts: dict[str, Any] = {}
    found: dict[str, Any] = {}
    alone: list[float] = []
    skipped: dict[str, str] = {}
    for name, make in ways.items():
        try:
            starts[name] = make()
            found[name] = [one(training, starts[name], os.path.join(folder, "first"))]
        except Exception as error:
            skipped[name] = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:100]}"
            starts.pop(name, None)
    for number in range(rounds):
        begun = training.now()
        training.run()
        alone.append(training.now() - begun)
        for name, start in starts.items():
            found[name].append(one(training, start, os.path.join(folder, str(number))))
    return {"alone": alone, "found": found, "skipped": skipped}


def table(result: dict[str, Any], nbytes: int, rounds: int, date: str, machine: str) -> str:
    """Markdown."""
    import torch

    alone = statistics.median(result["alone"])
    spread = (max(result["alone"]) - min(result["alone"])) * 1000
    text = (
        f"`make bench-gpu`, {date}, {machine}, torch {torch.__version__}; {nbytes / 1e9:.1f} GB of float32 on the "
        f"device, {rounds} rounds in which every way takes its turn, medians in ms. Every way syncs its files. *stall*: "
        "how long the training's thread stands still; *taken*: how much longer the loop takes, which computes on the device and "
        "writes into the state; *first*: the stall of the first checkpoint. The loop alone takes "
        f"{alone * 1000:.0f} ms, and varies by {spread:.0f}: *taken* below that is noise.\n\n"
        "| | stall | first | taken | durable after |\n|---|---|---|---|---|\n"
    )
    for name, all_rounds in result["found"].items():
        if name in result["skipped"]:
            continue
        median = {key: 1000 * statistics.median(one[key] for one in all_rounds[1:]) for key in ("stall", "whole", "durable")}
        text += (
            f"| {name} | {median['stall']:.1f} | {1000 * all_rounds[0]['stall']:.1f} | "
            f"{median['whole'] - alone * 1000:.0f} | {median['durable']:.0f} |\n"
        )
    for name, why in result["skipped"].items():
        text += f"| {name} | not measured: {why} | | | |\n"
    return text


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--megabytes", type=int, default=1000)
    options.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    options.add_argument("--date", default=time.strftime("%Y-%m-%d"))
    options.add_argument("--rehearse", action="store_true", help="without a device: try this program, measure nothing")
    args = options.parse_args()
    # A process of its own is asked, because the writer is cloned before torch is imported here.
    asked = (
        os.popen(
            f'"{sys.executable}" -c "import torch; print(torch.cuda.get_device_name()) if torch.cuda.is_available() else None"'
        )
        .read()
        .strip()
    )
    if not asked and not args.rehearse:
        print("no CUDA device here: nothing was measured")
        return 0
    with tempfile.TemporaryDirectory(dir=".") as folder:
        nbytes = (args.megabytes if asked else min(args.megabytes, 8)) * 1_000_000
        result = measure("cuda" if asked else "cpu", nbytes, args.rounds, folder)
        text = table(result, nbytes, args.rounds, args.date, asked or "a rehearsal on the host")
        print(text, flush=True)
        if args.write and asked:
            import tables

            tables.put(DOCS, BEGIN, END, text)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)  # thread pools and process groups of the peers are not worth waiting for


if __name__ == "__main__":
    sys.exit(main())
