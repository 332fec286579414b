"""The recorded source of a run, with what florc planned and what was asked beside its lines."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import Any

from .. import _native
from ..answers.rows import Row
from ..project.notebooks import heads
from ..runs.journal import History
from .places import Places


def recorded(history: History) -> dict[str, str]:
    """The user's files as they were run, the script first."""
    run = history.run
    found = run.texts()
    script = run.info["script"]
    return {**({script: found[script]} if script in found else {}), **found}


def of(history: History, present: dict[str, str], kept: Sequence[Row]) -> dict[str, Any]:
    """Each file: its lines, the loops that begin in them, the questions that stand at them, and what is different now."""
    folder, places = history.run.info["cwd"], Places.of(history)
    return {
        "files": [
            {
                "file": file,
                "name": _name(file, folder),
                "lines": text.splitlines(),
                "cells": places.cells(file),
                "loops": [_loop(ran, loop) for ran, loop in _loops(history, file)],
                "asked": _asked(file, kept, places),
                **_since(text, present.get(file)),
            }
            for file, text in recorded(history).items()
        ]
    }


def _name(file: str, folder: str) -> str:
    inside = os.path.relpath(file, folder)
    return file if inside.startswith("..") else inside


def _loops(history: History, file: str) -> list[tuple[History, _native.Loop]]:
    """The loops of a file, each with the journal that tells of it: a rank's that the script started, if only those ran it."""
    found: dict[int, tuple[History, _native.Loop]] = {}
    for ran in (history, *history.spawned):
        plan = ran.plans.get(file)
        for loop in plan.loops if plan is not None else ():
            known = found.get(loop.line)
            if known is None or not _has_run(*known) and _has_run(ran, loop):
                found[loop.line] = ran, loop
    return list(found.values())


def _has_run(history: History, loop: _native.Loop) -> bool:
    is_followed = any(followed.base == loop.id for followed in history.timeline.loops.values())
    return is_followed or any(_native.Path(key).loop == loop.id for key in history.block_seconds)


def _loop(history: History, loop: _native.Loop) -> dict[str, Any]:
    held = sum(checkpoint.block == loop.id for checkpoint in history.checkpoints.values())
    ran = sum(_native.Path(key).loop == loop.id for key in history.block_seconds)
    starts = sum(len(found) for place, found in history.boundaries.items() if _native.Path(place).loop == loop.id)
    return {
        "loop": loop.id,
        "line": loop.line,
        "end": loop.end_line,
        "header": loop.header,
        "memoized": loop.memoized and (bool(held) or loop.in_reserve_for is None),
        "followed": loop.followed,
        "checkpoints": held,
        "starts": starts,
        "executions": ran,
        "changes": [place.name for place in loop.places],
        "note": loop.note or (history.why_not_kept(loop.id) if loop.memoized and ran and not held else ""),
    }


def _asked(file: str, kept: Sequence[Row], places: Places) -> list[dict[str, Any]]:
    """The questions that were answered, by their lines."""
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for row in kept:
        if row.file == file:
            line = places.line_of(row)
            known = found.setdefault((line, row.name), {"line": line, "name": row.name, "values": 0, "verdict": ""})
            known["values"] += 1
            known["verdict"] = row.verdict
    return list(found.values())


def _since(text: str, present: str | None) -> dict[str, Any]:
    """How the file differs now: lines that were `added` behind a line, lines that are `gone`."""
    if present is None:
        return {"state": "gone", "added": [], "removed": []}
    if present == text:
        return {"state": "unchanged", "added": [], "removed": []}
    old, new = _plain(text), _plain(present)
    added, removed = [], list[int]()
    for what, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            removed += range(i1 + 1, i2 + 1)
            added += [{"behind": i2, "texts": new[j1:j2]}] if j2 > j1 else []
    return {"state": "changed", "added": added, "removed": removed}


def _plain(text: str) -> list[str]:
    """The lines of a file. What stands before a cell of a notebook is its number and size, which may be others now."""
    lines = text.splitlines()
    for head in heads(text):
        lines[head - 1] = "# %%"
    return lines
