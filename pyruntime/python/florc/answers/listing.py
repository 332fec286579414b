"""`florc runs`: the recorded runs, a line each."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..project.script import Unusable
from ..runs import catalog, housekeeping, joint, verdicts
from ..runs import run as runs
from ..runs.kept import tell_kept
from ..runs.run import Run
from ..support.console import GREEN, RED, YELLOW, answer, duration, plain, say, size, tinted
from ..support.light import dumps
from . import asked, memory, rows, table
from .values import as_number

if TYPE_CHECKING:
    from ..support import arguments as given

_T = TypeVar("_T")
_STATUS = {"ok": GREEN, "running": YELLOW}
"""The colors of how runs ended; others are red."""
_BLOCKS = "▁▂▃▄▅▆▇█"
_WIDEST = 20
"""Characters of a sparkline. Of more values, each is the mean of as many."""


def run_runs(arguments: given.Runs) -> int:
    """`florc runs`."""
    store, script = runs.store_path(), arguments["script"]
    arguments["columns"] = [name.strip() for name in arguments["columns"]]
    every = catalog.all_runs(store)
    tell_kept(store)
    found = [run for run in every if script is None or catalog.is_of(run, script)]
    for path, why in catalog.damaged(store):
        name = os.path.basename(os.path.dirname(path))
        say(f"{path} is damaged: {why}; florc ignores its run (florc rm {name} removes it)", always=True, code="F205")
    if not arguments["json"] and not found:
        say(f"no recorded runs in {store}" if not every else f"no recorded run of {script} in {store} {catalog.others(every)}")
        return 0
    if arguments["columns"] or arguments["sort"]:
        _put_columns(found, arguments)
        return 0
    taken = housekeeping.taken(store) if arguments["disk"] else None
    for run in _newest(found, arguments["last"]):
        disk = housekeeping.of_run(run, taken) if taken is not None else None
        if arguments["json"]:
            answer(dumps({**run.info, "status": run.status, **({"disk": disk._asdict()} if disk else {})}) + "\n")
        else:
            line = housekeeping.line(run, disk) if disk else catalog.line(run)
            answer(_tinted(line, run.status) + "\n")
    if taken is not None:
        housekeeping.tell_free(taken)
    return 0


def _newest(found: list[_T], most: int | None) -> list[_T]:
    return found if most is None else found[max(0, len(found) - most) :]


def _tinted(line: str, status: str) -> str:
    return line.replace(f"  {status} ", f"  {tinted(status, _STATUS.get(status, RED), sys.stdout)} ", 1)


Cell = tuple[Any, str]
"""What `--json` and `--sort` take, and how it is shown."""


def _started(run: Run) -> Cell:
    return run.info["started"], time.strftime("%Y-%m-%d %H:%M", time.localtime(run.info["started"]))


def _of_report(name: str, shown: Callable[[Any], str] = str) -> Callable[[Run], Cell]:
    def cell(run: Run) -> Cell:
        value = run.info.get("report", {}).get(name)
        return value, "" if value is None else shown(value)

    return cell


def _text(value: Any) -> Cell:
    return value, "" if value is None else str(value)


def _replays(run: Run) -> Cell:
    found = verdicts.noted(run)
    return len(found), f"{len(found)}, {found[-1].get('verdict')}" if found else ""


COLUMNS: dict[str, Callable[[Run], Cell]] = {
    "id": lambda run: _text(run.id),
    "name": lambda run: _text(run.info.get("name")),
    "script": lambda run: (run.info["script"], os.path.basename(run.info["script"])),
    "arguments": lambda run: (run.info["argv"][1:], shlex.join(run.info["argv"][1:])),
    "status": lambda run: _text(run.status),
    "started": _started,
    "seconds": _of_report("seconds", duration),
    "overhead": _of_report("overhead", "{:.1%}".format),
    "checkpoints": _of_report("checkpoints"),
    "bytes": _of_report("bytes", size),
    "ranks": lambda run: _text(run.ranks or None),
    "asked": _replays,
    "commit": lambda run: (run.info.get("commit"), (run.info.get("commit") or "")[:10]),
}
"""What `--columns` takes besides names of values."""


def _put_columns(found: list[Run], arguments: given.Runs) -> None:
    """Raises Unusable for a column that no run has."""
    names = arguments["columns"] or ["id", "script", "status", *([arguments["sort"]] if arguments["sort"] else [])]
    wanted = list(dict.fromkeys([*names, *([arguments["sort"]] if arguments["sort"] else [])]))
    cells: list[dict[str, Cell]] = []
    metrics = [name for name in wanted if name not in COLUMNS]
    for run in found:
        known = {name: COLUMNS[name](run) for name in wanted if name in COLUMNS}
        cells.append({**known, **(_values(run, metrics) if metrics else {})})
    for name in metrics:
        if all(line[name][0] is None for line in cells):
            columns = ", ".join(COLUMNS)
            raise Unusable("F104", f"no run has a column, a setting or numbers of the name {name}; columns are {columns}")
    sort = arguments["sort"]
    if sort is not None:
        cells.sort(key=lambda line: _order(line[sort][0]))
    cells = _newest(cells, arguments["last"])
    if arguments["json"]:
        answer("".join(dumps({name: line[name][0] for name in names}) + "\n" for line in cells))
    else:
        shown = [[plain(line[name][1], "") for name in names] for line in cells]
        answer(table.written(names, shown, "table"))


def _order(value: Any) -> tuple[int, Any]:
    """What is not known comes first; of a value, its last number counts."""
    if isinstance(value, list) and value and isinstance(value[-1], float):
        value = value[-1]
    if isinstance(value, (int, float)):
        return 1, value
    return (2, str(value)) if value else (0, "")


def _values(run: Run, names: Sequence[str]) -> dict[str, Cell]:
    """Of each name: the setting of `florc.arg`, else the numbers that were printed, in their order, of the first rank; those that
    were asked for in hindsight where none were recorded."""
    history = joint.seen(run)
    recorded: dict[str, list[float]] = {name: [] for name in names}
    later: dict[str, list[float]] = {name: [] for name in names}
    for found, values in ((rows.recorded(history), recorded), (memory.measured(history), recorded), (asked.kept(history), later)):
        for row in found:
            if row.name in values and isinstance(row.value, (int, float)) and not row.rank:
                values[row.name].append(as_number(row.value))
    cells: dict[str, Cell] = {}
    for name in names:
        settings, numbers = history.arguments.get(name), recorded[name] or later[name] or None
        if settings:
            cells[name] = (settings[0], str(settings[0])) if len(settings) == 1 else (settings, ", ".join(map(str, settings)))
        else:
            cells[name] = numbers, sparkline(numbers or [])
    return cells


def sparkline(numbers: Sequence[float]) -> str:
    """The last number, and how all of them went: `0.182 █▆▄▂▁`. NaN and infinities are `·`."""
    if not numbers:
        return ""
    width = min(_WIDEST, len(numbers))
    cuts = [round(at * len(numbers) / width) for at in range(width + 1)]
    means = [sum(numbers[a:b]) / (b - a) for a, b in zip(cuts, cuts[1:])]
    finite = [mean for mean in means if abs(mean) < float("inf")]
    least, span = min(finite, default=0.0), max(finite, default=0.0) - min(finite, default=0.0)
    line = "".join(
        _BLOCKS[min(int((mean - least) / span * len(_BLOCKS)), len(_BLOCKS) - 1) if span else 0]
        if abs(mean) < float("inf")
        else "·"
        for mean in means
    )
    return f"{numbers[-1]:.6g} {line}"
