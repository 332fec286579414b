"""How much memory a run held, as values: `florc logs RUN memory.resident`, and in a line for `florc show`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..project.script import Unusable
from ..runs.journal import History
from ..runs.memory import Held
from ..runs.timeline import Followed
from ..support.console import cell_of, size
from .rows import RECORDED, Row, mark_cells, ranks

PREFIX = "memory."
NAMES = [PREFIX + name for name in Held._fields]
"""What these values are called."""


def looks(history: History) -> Iterator[tuple[Followed, int, Held]]:
    """The iterations of the outermost loops of one rank that were looked at, and what was held as each ended."""
    for place, after in history.memory.after.items():
        followed = history.timeline.loops.get(place)
        if followed is not None:  # else the records of its iterations were lost
            yield from ((followed, index, held) for index, held in after.items())


def measured(history: History) -> Iterator[Row]:
    """A row for each of these iterations, and each of NAMES: bytes. They stand at the header of the loop."""
    mark_cells(history)
    for rank, of_rank in ranks(history):
        loops = {loop.id: loop for plan in of_rank.plans.values() for loop in plan.loops}
        for followed, index, held in looks(of_rank):
            loop = loops.get(followed.base)
            if loop is not None:
                cell, line = cell_of(loop.file, loop.line, is_recorded=True)
                context = {variable_of(of_rank, followed.base): followed.number_of(index)}
                for name, value in zip(NAMES, held):
                    if value is not None:
                        yield Row(history.run.id, rank, loop.file, line, context, 0, name, value, RECORDED, cell)


def variable_of(history: History, loop: str) -> str:
    """The variable of a loop, or its id where it has none."""
    return next(iter(history.variables.get(loop, ())), loop)


def described(history: History) -> dict[str, Any] | None:
    """What `florc show --json` says: bytes after the first and the last iteration of the main loop that were looked at, and at
    most; None where nothing was measured."""
    last = history.memory.last
    if last is None:
        return None
    found: dict[str, Any] = {"peak": last.peak, "device_peak": last.device_peak}
    try:
        loop = history.timeline.main_loop(history.seconds)
    except Unusable:
        return {**found, "loop": None, "iterations": []}
    after = history.memory.after.get(loop.place, {})
    ends = dict.fromkeys([min(after), max(after)]) if after else {}
    iterations = [
        {"iteration": loop.number_of(index), "resident": after[index].resident, "device": after[index].device} for index in ends
    ]
    return {**found, "loop": variable_of(history, loop.base), "iterations": iterations}


def line(found: dict[str, Any]) -> str:
    """The same for people: `memory: 412.0 MB after epoch 0, 431.0 MB after epoch 9, peak 520.0 MB`."""
    parts = []
    for kind, peak, name in (("resident", "peak", "memory"), ("device", "device_peak", "memory of the device")):
        if found[peak] is not None:
            after = [
                f"{size(one[kind])} after {found['loop']} {one['iteration']}"
                for one in found["iterations"]
                if one[kind] is not None
            ]
            parts.append(f"{name}: {', '.join([*after, f'peak {size(found[peak])}'])}")
    return "; ".join(parts)
