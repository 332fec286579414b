"""`make bench-replay`: how near do two workers come to half of the time?

Asked is the gradient norm of every hundredth step, so that every step must run again. The ideal is two plain processes side
by side that train half of the epochs each: what starting Python twice and sharing a machine's memory cost, they pay, too.
Every way takes its turn in every round.

    python tools/two_workers.py [--write]
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tables
from latency import DOCS, EPOCHS, INNER, SCRIPT, checked
from probes import environment

BEGIN, END = "<!-- bench-two-workers -->", "<!-- /bench-two-workers -->"
PASSES, ROUNDS = "48", 2


def halves(folder: Path) -> float:
    """Wall seconds of two plain processes, each with half of the epochs."""
    (folder / "half.py").write_text(SCRIPT.replace(f"range({EPOCHS})", f"range({EPOCHS // 2})"))
    begun = time.perf_counter()
    both = [
        subprocess.Popen([sys.executable, "half.py", PASSES], cwd=folder, env=environment(), stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    if any([process.wait() for process in both]):  # noqa: C419 - both are waited for
        raise SystemExit("half of the epochs cannot be trained")
    return time.perf_counter() - begun


def measured(folder: Path) -> dict[str, list[float]]:
    """Wall seconds of each way in each round. The answers of both replays are compared with the re-run's."""
    script = folder / "train.py"
    script.write_text(SCRIPT)
    checked(folder, "florc", "record", "train.py", PASSES)
    script.write_text(SCRIPT.replace("#INNER", f"if step % 100 == 0: {INNER}"))
    found: dict[str, list[float]] = {"re-run": [], "one process": [], "two workers": [], "two plain halves": []}
    for _ in range(ROUNDS):
        again = checked(folder, sys.executable, "train.py", PASSES)
        one = checked(folder, "florc", "replay", "train.py")
        two = checked(folder, "florc", "replay", "--workers", "2", "train.py")
        wanted = [line for line in again.out.splitlines() if line.startswith("step")]
        if not wanted == one.out.splitlines() == two.out.splitlines():
            raise SystemExit("a replay prints other values than the re-run")
        for way, seconds in zip(found, (again.seconds, one.seconds, two.seconds, halves(folder))):
            found[way].append(seconds)
    return found


def main(arguments: list[str]) -> int:
    """Print the table; `--write` puts it into docs/benchmarks.md."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder))
    ideal = statistics.median(found["two plain halves"])
    text = (
        f"`make bench-replay`, {time.strftime('%Y-%m-%d')}, two cores, no GPU, CPython {platform.python_version()}, torch "
        f"{torch.__version__}, {ROUNDS} rounds, medians, wall time in seconds, start-up included. The probe asks the script "
        "above for a value of every hundredth step, so the replay re-executes all of it. *two plain halves*: two processes "
        "without florc run side by side and train half of the epochs each.\n\n"
        "| way | seconds | from … to | ÷ two plain halves |\n|---|---|---|---|\n"
    )
    for way, seconds in found.items():
        middle = statistics.median(seconds)
        text += f"| {way} | {middle:.1f} | {min(seconds):.1f} … {max(seconds):.1f} | {middle / ideal:.2f} |\n"
    print(text)
    if "--write" in arguments:
        tables.put(DOCS, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
