"""`make bench-replay`: how a replay of a recorded run would scale, simulated from the run's recorded times.

    python tools/scaling.py RUN [RUN …]        # ids or names in ./.florc, or under FLORC_DIR
    python tools/scaling.py                    # the paper's workload of Figure 11: 200 equal epochs

The cut is the one that `florc replay --workers` makes (`florc.replay.select.segments`); only the clock is simulated. It leaves
out what no cut changes: starting Python and importing. To compare with, the text of the paper (Garcia et al., PVLDB 2021)
gives two numbers: of Figure 11, that 200 epochs over 16 workers are at best 200/13 = 15.38 times as fast, as a worker
gets up to 13 epochs; of Figure 10, that 6 partitions over 4 GPUs take at best 2/6 = 33 % of the time of a serial
re-execution.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from florc.project import script as launch
from florc.replay.select import segments
from florc.replay.select.costs import Costs
from florc.runs import catalog
from florc.runs import run as runs
from florc.runs.journal import History
from florc.runs.versions import Versions

WORKERS = (2, 4, 16, 64)
Times = tuple[str, Sequence[float], Sequence[float]]


def recorded(name: str) -> Times:
    """The iterations of a run when every block runs again: seconds of each, seconds until each is reached."""
    run = catalog.find(runs.store_path(), name, None)
    history = History(run)
    path = str(run.info["script"])
    script = launch.Script(path, run.source(path) or "", run.info["argv"], run.info.get("module"))
    costs = Costs(history, Versions(history, script, as_recorded=True))
    return f"{run.id}: {len(costs.recorded)} iterations, every block runs again", costs.recorded, costs.reach


def of_the_paper() -> list[Times]:
    """200 equal epochs as in Figure 11, and 6 partitions as RTE and CoLA have in Figure 10; restoring costs nothing."""
    return [(f"{count} equal epochs", [1.0] * count, [0.0] * count) for count in (200, 6)]


def table(times: Times) -> list[str]:
    """One row for each number of workers."""
    title, work, reach = times
    rows = [
        f"{title}",
        "",
        "| workers | segments | slowest worker | speed-up | ideal | share of serial |",
        "|---|---|---|---|---|---|",
    ]
    whole = sum(work)
    for workers in WORKERS:
        cut = segments.partition(work, reach, workers)
        slowest = segments.makespan(work, reach, cut)
        cells = (workers, len(cut), f"{slowest:.1f} s", f"{whole / slowest:.2f}", workers, f"{slowest / whole:.0%}")
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return [*rows, ""]


def main(names: list[str]) -> int:
    """Print the tables."""
    for times in [recorded(name) for name in names] or of_the_paper():
        print("\n".join(table(times)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
