"""Values as the curves of the page: a panel for each name, what was recorded and what was asked in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..answers import plot
from ..answers.rows import RECORDED, Row
from ..project.script import Unusable
from .places import Places

_MOST_TEXTS = 200
"""Values that are no numbers are listed: the first of them."""
ORDER = "order"
MEMORY = "memory, MB"
"""The panel of what was measured."""


def of(rows: Sequence[Row], measured: Sequence[Row], x: str | None, places: Places) -> dict[str, Any]:
    """The panels, and the values that are no numbers. `measured`: bytes of memory (`answers.memory`), in a last panel. `x`: the
    variable of a loop, or `order`; None: the variable that all values of a name have, where it has one value for each iteration.
    `places`: of the run."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.name, []).append(row)
    panels, texts = [], []
    for name, found in by_name.items():
        try:
            panels.append(_panel(name, _told_apart(found), x, places))
        except Unusable:  # no numbers
            texts.append({"name": name, "count": len(found), "rows": [row.to_json() for row in found[:_MOST_TEXTS]]})
    if measured:
        panels.append(_panel(MEMORY, [row._replace(value=float(row.value or 0) / 1e6) for row in measured], x, places))
    return {"panels": panels, "texts": texts}


def _panel(name: str, rows: Sequence[Row], x: str | None, places: Places) -> dict[str, Any]:
    shared = set.intersection(*(set(row.context) for row in rows))
    axes = [variable for variable in rows[0].context if variable in shared]
    axis, curves = plot.curves(_unplaced(rows) if x == ORDER else rows, x if x in axes else None)
    if x not in axes and any(len(set(curve.x)) < len(curve.x) for curve in curves):
        axis, curves = plot.curves(_unplaced(rows), None)
    verdicts = sorted({row.verdict for row in rows if row.verdict != RECORDED})
    found = [{"label": curve.label, "asked": curve.is_asked, "x": curve.x, "y": curve.y} for curve in curves]
    file, line = rows[0].file, places.line_of(rows[0])
    return {
        "name": name,
        "axis": axis if axis in axes else ORDER,
        "axes": axes,
        "curves": found,
        "verdicts": verdicts,
        "not_drawn": len(rows) - sum(len(curve.x) for curve in curves),
        "file": file,
        "line": line,
        "at": places.said(file, line),
    }


def _told_apart(rows: Sequence[Row]) -> list[Row]:
    """The same, with the lines in their names where one expression was asked at several."""
    asked = {(row.file, row.cell, row.line) for row in rows if row.verdict != RECORDED}
    if len(asked) < 2:
        return list(rows)
    return [row if row.verdict == RECORDED else row._replace(name=f"{row.name}, {_line(row)}") for row in rows]


def _line(row: Row) -> str:
    return f"line {row.line}" if row.cell is None else f"cell {row.cell}, line {row.line}"


def _unplaced(rows: Sequence[Row]) -> list[Row]:
    return [row._replace(context={}) for row in rows]
