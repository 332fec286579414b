"""How compile time grows with the length of a source: n small loops one after another, ten lines each.

    tools/scaling_plan.py FLORC [--write]

FLORC is the release binary. Prints a table of CPU seconds (the best of five) and exponents between the first and the last
length: `florc plan` as a process; what `florc record` does with a script (`Project.add`, `instrument`), and what `florc replay`
does (`Comparison`, `instrument`), each time in a process of its own: one that goes on has memory at hand for short sources, and
gives that of long ones back. The ways and lengths take turns. `--write` puts it into docs/benchmarks.md.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LENGTHS = (500, 1000, 2000, 4000)
ROUNDS = 5
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- scaling_plan -->", "<!-- end of scaling_plan -->"


def source(count: int, probed: bool = False) -> str:
    """A script of so many loops; `probed`: with a log statement added to every hundredth."""
    lines = ["values = list(range(10))", "total = 0"]
    for n in range(count):
        lines += [
            f"found{n} = []",
            f"def step{n}(x):",
            f"    return x * {n} + 1",
            f"for item{n} in values:",
            f"    y{n} = step{n}(item{n})",
            f"    total += y{n}",
            f"    if y{n} > 3:",
            f"        found{n}.append(y{n})",
            "    total -= 1",
            f"print(total, len(found{n}))",
        ]
        if probed and n % 100 == 0:
            lines.append(f"print('probe', found{n})")
    return "\n".join(lines) + "\n"


def main() -> int:
    from florc import _native  # noqa: F401  loaded before anything is timed

    binary = sys.argv[1]
    rows: list[tuple] = [("`florc plan`", lambda n: plan(binary, n)), ("`florc record`", recorded), ("`florc replay`", replayed)]
    table = [f"| | {' | '.join(f'{n} loops' for n in LENGTHS)} | exponent |", f"|---|{'---|' * len(LENGTHS)}---|"]
    found: dict[tuple[str, int], list[float]] = {(name, n): [] for name, _ in rows for n in LENGTHS}
    for _ in range(ROUNDS):
        for name, measure in rows:
            for n in LENGTHS:
                found[name, n].append(measure(n))
    for name, _ in rows:
        seconds = [min(found[name, n]) for n in LENGTHS]
        exponent = math.log(seconds[-1] / seconds[0]) / math.log(LENGTHS[-1] / LENGTHS[0])
        table.append(f"| {name} | {' | '.join(f'{s:.2f} s' for s in seconds)} | {exponent:.2f} |")
        print(table[-1], flush=True)
    if "--write" in sys.argv:
        text = PAGE.read_text()
        before, _, rest = text.partition(BEGIN)
        PAGE.write_text(before + "\n".join([BEGIN, *table, END]) + rest.partition(END)[2])
    return 0


def plan(binary: str, count: int) -> float:
    """CPU seconds of `florc plan`."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "train.py")
        Path(script).write_text(source(count))
        begun = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([binary, "plan", script], stdout=subprocess.DEVNULL, check=True)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime


def recorded(count: int) -> float:
    """CPU seconds of analysing and instrumenting a script, as `florc record` does."""
    text = source(count)
    return _timed(lambda: _project(text).instrument("train.py"))


def replayed(count: int) -> float:
    """CPU seconds of comparing a script with its recorded text, and instrumenting it."""
    from florc import _native

    old, new = source(count), source(count, probed=True)
    return _timed(lambda: _native.Comparison([("__main__", "", "train.py", old)], _project(new), []).instrument("train.py"))


def _project(text: str) -> Any:
    from florc import _native

    project = _native.Project(lambda name: None)
    project.add("__main__", "", "train.py", text)
    return project


def _timed(call: Callable[[], Any]) -> float:
    here, there = os.pipe()
    if os.fork() == 0:
        begun = time.process_time()
        call()
        os.write(there, repr(time.process_time() - begun).encode())
        os._exit(0)
    os.close(there)
    os.wait()
    with open(here) as told:
        return float(told.read())


if __name__ == "__main__":
    sys.exit(main())
