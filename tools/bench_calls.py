"""What florc's calls cost a script that it records: `make bench-calls`.

A script runs plainly and under `florc record`, by turns, and times four loops with the clock of its main thread: iterations
that are followed, short blocks that are passed by, lines that are printed, functions that tell that they are entered. The table
has the difference for each iteration: medians over the rounds.

    python tools/bench_calls.py [--rounds N] [--write] [--florc FOLDER]
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tables import put

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench-calls -->", "<!-- /bench-calls -->"
ITERATIONS = 300_000
SCRIPT = """
import sys, time

class Counter:
    def __init__(self):
        self.total = 0.0
    def add(self, number):
        self.total += number

counter = Counter()

def timed(name, begun):
    print(name, (time.thread_time() - begun) / {iterations}, file=sys.stderr)

begun = time.thread_time()
for i in range({iterations}):
    if i < 0:
        for j in range(1):
            counter.add(j)
timed("iteration", begun)

begun = time.thread_time()
for i in range({iterations}):
    for j in range(1):
        counter.add(j)
timed("block", begun)

begun = time.thread_time()
for i in range({iterations}):
    print("loss", i)
timed("print", begun)

begun = time.thread_time()
for i in range({iterations}):
    counter.add(i)
timed("call", begun)
"""
ROWS = {
    "iteration": ("a followed iteration", 0.3),
    "block": ("a block that is passed by", 0.5),
    "print": ("a printed line", 3.0),
    "call": ("a call of a method that tells that it is entered", None),
}
"""What is timed, and the aim in microseconds."""
WITHIN = {"block": ("iteration", "call")}
"""What an iteration of a loop consists of besides: its cost is subtracted."""


def run(script: Path, florc: str | None, *options: str) -> dict[str, float]:
    """Seconds of the main thread for an iteration of each loop."""
    environment = {**os.environ, **({"PYTHONPATH": florc} if florc else {})}
    command = [sys.executable, *options, script.name]
    done = subprocess.run(command, cwd=script.parent, env=environment, capture_output=True, text=True, check=True)
    words = [line.split() for line in done.stderr.splitlines()]
    return {word[0]: float(word[1]) for word in words if word[0] in ROWS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--florc")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ROWS}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "train.py")
        script.write_text(SCRIPT.format(iterations=ITERATIONS))
        for _ in range(arguments.rounds):
            plain = run(script, None)
            recorded = run(script, arguments.florc, "-m", "florc", "record")
            for name in ROWS:
                found[name].append((plain[name], recorded[name]))
    lines = ["| | plain, µs | recorded, µs | more, µs | aim |", "|---|--:|--:|--:|--:|"]
    for name, (what, aim) in ROWS.items():
        plain_s, recorded_s = (statistics.median(times) for times in zip(*found[name]))
        more = statistics.median(after - before for before, after in found[name])
        more -= sum(statistics.median(after - before for before, after in found[other]) for other in WITHIN.get(name, ()))
        limit = "" if aim is None else f"{aim:.1f}"
        lines.append(f"| {what} | {1e6 * plain_s:.2f} | {1e6 * recorded_s:.2f} | {1e6 * more:.2f} | {limit} |")
    print("\n".join(lines))
    if arguments.write:
        head = (
            f"`make bench-calls`, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} shared cores, CPython "
            f"{platform.python_version()}, processor time of the main thread, medians of {arguments.rounds} rounds, by turns.\n"
        )
        put(DOCS, BEGIN, END, "\n".join([head, *lines, ""]))


if __name__ == "__main__":
    main()
