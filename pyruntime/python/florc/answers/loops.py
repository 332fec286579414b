"""The loops of a run, and what became of them."""

from __future__ import annotations

from typing import Any

from .. import _native
from ..runs.journal import History
from ..support.console import cell_of
from .rows import mark_cells


def loops_of(history: History) -> list[dict[str, Any]]:
    """Each loop that the compiler found, in the order of files and lines: `florc show --json` prints it so (docs/answers.md)."""
    mark_cells(history)
    return [_described(history, loop) for plan in history.plans.values() for loop in plan.loops]


def of_all(history: History) -> list[dict[str, Any]]:
    """The same; loops that only ranks ran which the script started itself, as the first of these ran them."""
    found = loops_of(history)
    for of_rank in history.spawned:
        if of_rank.run.rank == 0:
            ran = {(loop["file"], loop["line"]): loop for loop in loops_of(of_rank) if loop["iterations"] or loop["executions"]}
            found = [loop if loop["iterations"] else ran.pop((loop["file"], loop["line"]), loop) for loop in found]
    return found


def _described(history: History, loop: _native.Loop) -> dict[str, Any]:
    places = [followed for followed in history.timeline.loops.values() if followed.base == loop.id]
    took = [seconds for key, seconds in history.block_seconds.items() if _block(key) == loop.id]
    kept = sum(checkpoint.block == loop.id for checkpoint in history.checkpoints.values())
    cell, line = cell_of(loop.file, loop.line, is_recorded=True)
    return {
        "loop": loop.id,
        "file": loop.file,
        **({} if cell is None else {"cell": cell}),
        "line": line,
        "library": loop.file not in history.run.info.get("sources", {}),
        "header": loop.header,
        "memoized": loop.memoized and (bool(kept) or loop.in_reserve_for is None),
        "iterations": sum(followed.count for followed in places) if places else None,
        "seconds": sum(took) if took else None,
        "executions": len(took),
        "checkpoints": kept,
        "why_not_kept": history.why_not_kept(loop.id) if loop.memoized and not (kept or loop.in_reserve_for) else "",
    }


def _block(key: str) -> str:
    """`L1=3/L2#0` is an execution of L2."""
    return key.rpartition("/")[2].partition("#")[0]
