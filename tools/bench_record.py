"""What recording costs whole runs, and what it keeps of them: `make bench-record`.

Every example script runs alone and under `florc record` with the default overhead, by turns. Processor seconds are those of all
processes of a run. A block that took at least 30 ms should have its checkpoint: how many of those executions have one?

    python tools/bench_record.py [--rounds N] [--write] [SCRIPT …]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from florc import _native
from probes import environment, files, scripts, write
from tables import put

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench-record -->", "<!-- /bench-record -->"
LONG_S = 0.03
"""Executions that take so long should have a checkpoint."""
_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER`: a writer that outlives its run is waited for here."""


class Run(NamedTuple):
    """A run. `cpu`: processor seconds of all its processes; `wall`: seconds."""

    cpu: float
    wall: float


class Recorded(NamedTuple):
    """A recorded run."""

    run: Run
    printed: float
    """The overhead that florc says, start and end included, of the script's time."""
    own: float
    """Seconds of the script's own run as florc says it."""
    long: int
    kept: int
    why: list[str]


def ran(folder: Path, *command: str, **variables: str) -> Run:
    """Run a command, and wait for all that it started. `variables`: more of its environment."""
    before, begun = os.times(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env={**environment(), **variables}, capture_output=True, check=False)
    wall = time.perf_counter() - begun
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.decode()}")
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    after = os.times()
    return Run(sum(after[2:4]) - sum(before[2:4]), wall)


def recorded(script: str) -> Recorded:
    """A run of a script under `florc record`."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), files(script))
        run = ran(Path(folder), "florc", "record", script)
        path = next(Path(folder).glob(".florc/runs/*"))
        report = json.loads((path / "run.json").read_text())["report"]
        records = _native.RunReader(str(path.parents[1]), path.name).records()
        blocks = [json.loads(payload) for kind, payload in records if kind == "block"]
        long = [block["kept"] for block in blocks if block["seconds"] >= LONG_S]
        said = report["overhead"] + (report["start_seconds"] + report["drain_seconds"]) / report["seconds"]
        return Recorded(run, said, report["seconds"], len(long), sum(long), sorted(report["not_kept"].values()))


def row(script: str, rounds: int) -> str:
    """The row of a script."""
    plain, record = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), files(script))
            plain.append(ran(Path(folder), sys.executable, script))
        record.append(recorded(script))
    cpu, wall = (statistics.median(values) for values in zip(*plain))
    more = statistics.median(one.run.cpu for one in record) / cpu - 1
    longer = statistics.median(one.run.wall for one in record) / wall - 1
    printed = statistics.median(one.printed for one in record)
    kept = f"{sum(one.kept for one in record)} of {sum(one.long for one in record)}"
    why = "; ".join(record[0].why)[:90]
    return f"| {script} | {wall:.1f} s | {cpu:.1f} s | {more:+.1%} | {longer:+.1%} | {printed:.1%} | {kept} | {why} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("script", nargs="*")
    arguments = parser.parse_args()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    head = (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, Python {platform.python_version()}, medians of {arguments.rounds} "
        "rounds; imports and florc's start are part of every time.\n"
    )
    lines = [
        "| script | alone | of the processor | more with florc | longer with florc | printed | kept, ≥ 30 ms | not kept |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    print("\n".join(lines))
    for script in arguments.script or scripts():
        lines.append(row(script, arguments.rounds))
        print(lines[-1], flush=True)
    if arguments.write:
        put(DOCS, BEGIN, END, "\n".join([head, *lines, ""]))


if __name__ == "__main__":
    main()
