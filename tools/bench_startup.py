"""What `florc record` takes before, around and after a script that does next to nothing: CPU over a plain run.

    python tools/bench_startup.py [ROUNDS] [--write]

Scripts of 200 to 5,200 lines that hold a training loop whose inner loop is memoized, functions, classes and further loops. Every
round runs each of them plainly and recorded, in turn. CPU is what `os.wait4` tells of a process: user and system, its children
that it waited for included. Printed are medians in ms. Measured is the florc of the Python that runs this: a release wheel
(`make wheel`) with its compiled `.pyc` files. `--write` puts the table into docs/benchmarks.md.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench-startup -->", "<!-- /bench-startup -->"
LENGTHS = (200, 1200, 2200, 5200)
ROUNDS = 15
HEAD = '''"""A training of a few numbers."""
import sys


class Net:
    def __init__(self):
        self.weights = [0.0] * 4

    def step(self, batch):
        for at, value in enumerate(batch):
            self.weights[at % 4] += value * 0.01


net = Net()
batches = [[float(n + k) for k in range(4)] for n in range(5)]
'''
PIECE = """

class Meter{n}:
    def __init__(self, name):
        self.name, self.total, self.count = name, 0.0, 0

    def add(self, value, times=1):
        if value != value:
            raise ValueError(f"{{self.name}} is no number")
        self.total += value * times
        self.count += times

    def mean(self):
        return self.total / max(self.count, 1)


def scaled{n}(batch, factor=0.{n}):
    found = []
    for value in batch:
        if value > 3:
            found.append(value * factor)
        else:
            found.append(value)
    return found


def shown{n}(meter, epoch):
    parts = [f"{{name}}={{value:.3f}}" for name, value in (("mean", meter.mean()), ("total", meter.total))]
    return f"epoch {{epoch}} " + " ".join(parts)


meter{n} = Meter{n}("loss")
for item{n} in scaled{n}(batches[0]):
    meter{n}.add(item{n})
"""
TAIL = """

for epoch in range(2):
    for batch in batches:
        net.step(batch)
    print(epoch, net.weights)
"""


def source(lines: int) -> str:
    """A script of so many lines; the last ones are the training."""
    text, left = HEAD, lines - HEAD.count("\n") - TAIL.count("\n")
    whole = PIECE.count("\n")
    text += "".join(PIECE.format(n=n) for n in range(left // whole))
    text += "".join(f"setting{n} = {n} + len(batches)\n" for n in range(left % whole))
    return text + TAIL


def main() -> int:
    """Measure, print, write."""
    words = [word for word in sys.argv[1:] if word != "--write"]
    rounds = int(words[0]) if words else ROUNDS
    spent: dict[int, dict[str, list[float]]] = {lines: {"plain": [], "record": []} for lines in LENGTHS}
    florc = os.path.join(os.path.dirname(sys.executable), "florc")
    ways = {"plain": [sys.executable], "record": [florc, "record"]}
    with tempfile.TemporaryDirectory() as folder:
        for lines in LENGTHS:
            Path(folder, f"train{lines}.py").write_text(source(lines))
        for number in range(rounds + 1):
            for lines in LENGTHS:
                for way, command in ways.items():
                    took = cpu([*command, f"train{lines}.py"], folder)
                    if number:  # the first one warms the caches
                        spent[lines][way].append(took)
    table = ["| lines | plain | recorded | over plain | from … to | per further 1,000 lines |", "|---|---|---|---|---|---|"]
    first = None
    for lines in LENGTHS:
        plain = statistics.median(spent[lines]["plain"])
        over = [r - p for p, r in zip(spent[lines]["plain"], spent[lines]["record"])]
        middle = statistics.median(over)
        first = middle if first is None else first
        slope = "" if lines == LENGTHS[0] else f"{(middle - first) * 1000 / (lines - LENGTHS[0]):.1f}"
        table.append(
            f"| {lines:,} | {plain:.1f} | {statistics.median(spent[lines]['record']):.1f} | {middle:.1f} | "
            f"{min(over):.1f} … {max(over):.1f} | {slope} |"
        )
    print("\n".join(table))
    if "--write" in sys.argv:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        said = (
            f"`python tools/bench_startup.py`, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores shared with other work, "
            f"CPython {platform.python_version()}, {rounds} rounds, medians, CPU in ms "
            "(user and system, children included).\n"
        )
        PAGE.write_text(before + "\n".join([BEGIN, said, *table, END]) + rest.partition(END)[2])
    return 0


def cpu(command: list[str], folder: str) -> float:
    """CPU milliseconds of a process and of its children that it waited for."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "FLORC_DIR")}
    with open(os.devnull, "r+b") as nowhere:
        files = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), number) for number in range(3)]
        here = os.getcwd()
        os.chdir(folder)
        try:
            pid = os.posix_spawn(command[0], command, env, file_actions=files)
        finally:
            os.chdir(here)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {status}")
    return 1000 * (usage.ru_utime + usage.ru_stime)


if __name__ == "__main__":
    sys.exit(main())
