"""Rows as text: a table for people, CSV and JSON lines for programs."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence

from .rows import Row
from .values import Typed

FORMATS = ("table", "csv", "jsonl", "parquet", "none")
_WIDEST = 40
"""Characters of a column of a table; more are cut off."""


def text(rows: Sequence[Row], form: str, is_pivoted: bool = False) -> str:
    """Rows in one of FORMATS. `is_pivoted`: a line for each iteration, and a column for each name."""
    if form == "jsonl" and not is_pivoted:
        return "".join(json.dumps(row.to_json(), ensure_ascii=False) + "\n" for row in rows)
    return written(*(pivoted(rows) if is_pivoted else _flat(rows)), form)


def written(head: Sequence[str], lines: Sequence[Sequence[Typed]], form: str) -> str:
    """Lines with a head, in one of FORMATS."""
    if form == "jsonl":
        return "".join(
            json.dumps({name: value for name, value in zip(head, line) if value != ""}, ensure_ascii=False, default=_hex) + "\n"
            for line in lines
        )
    if form == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(head)
        writer.writerows([_shown(value) for value in line] for line in lines)
        return out.getvalue()
    return _table(head, lines)


def _hex(value: bytes) -> str:
    """What SQL made of bytes."""
    return value.hex()


def variables(rows: Iterable[Row]) -> list[str]:
    """The variables of the loops around the rows, each once."""
    return list(dict.fromkeys(name for row in rows for name in row.context))


def _flat(rows: Sequence[Row]) -> tuple[list[str], list[list[Typed]]]:
    loops = variables(rows)
    has_ranks = any(row.rank is not None for row in rows)
    several = len({row.run for row in rows}) > 1
    has_children = any(row.child is not None for row in rows)
    head = ["run"] * several + ["rank"] * has_ranks + ["child"] * has_children + loops + ["name", "value", "verdict", "at"]
    lines: list[list[Typed]] = []
    for row in rows:
        front: list[Typed] = _front(row, several, has_ranks, has_children)
        lines.append([*front, *(row.context.get(name, "") for name in loops), row.name, row.value, row.verdict, row.at])
    return head, lines


def _front(row: Row, several: bool, has_ranks: bool, has_children: bool) -> list[Typed]:
    """What a line begins with: of which run, rank and process it is, where there is more than one."""
    front: list[Typed] = [row.run] if several else []
    front += [row.rank] if has_ranks else []
    return front + ([row.child or ""] if has_children else [])


def pivoted(rows: Sequence[Row]) -> tuple[list[str], list[list[Typed]]]:
    """A line for each iteration, with the values that were printed there in columns by their names. Where a statement wrote a
    value several times in an iteration, as in a loop that florc does not follow, or several statements one of the same name, each
    time has a line of its own: nothing tells which value of another statement belongs to it."""
    loops = variables(rows)
    # `print("epoch", epoch, …)` says what the loop's own column says; `print("lr", lr)` does not, where that counts from 0
    told = {row.name for row in rows if row.name in loops and row.value != row.context.get(row.name)}
    columns = {
        row.name: f"{row.name} (value)" if row.name in told else row.name for row in rows if row.name not in {*loops} - told
    }
    has_ranks = any(row.rank is not None for row in rows)
    several = len({row.run for row in rows}) > 1
    has_children = any(row.child is not None for row in rows)
    fronts = [(*_front(row, several, has_ranks, has_children), *(row.context.get(name, "") for name in loops)) for row in rows]
    statements = [(row.file, row.line, row.verdict) for row in rows]
    times = Counter((front, row.name) for front, row in zip(fronts, rows))
    again = {(front, statement) for front, statement, row in zip(fronts, statements, rows) if times[front, row.name] > 1}
    table: dict[tuple[tuple[Typed, ...], tuple[Typed, ...]], dict[str, Typed]] = {}
    for front, statement, row in zip(fronts, statements, rows):
        which = (*statement, row.occurrence) if (front, statement) in again else ()
        table.setdefault((front, which), {})[row.name] = row.value
    head = ["run"] * several + ["rank"] * has_ranks + ["child"] * has_children + loops + [*columns.values()]
    lines = [(front, values) for (front, _), values in table.items()]
    return head, [[*front, *(values.get(name, "") for name in columns)] for front, values in lines]


def _shown(value: Typed) -> str:
    return "" if value is None else str(value)


def _table(head: Sequence[str], lines: Sequence[Sequence[Typed]]) -> str:
    cells = [list(head), *([_cut(str(value)) for value in line] for line in lines)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(head))]
    is_number = [all(isinstance(line[n], (int, float)) or line[n] == "" for line in lines) for n in range(len(head))]
    out = []
    for line in cells:
        shown = [cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(line, widths, is_number)]
        out.append("  ".join(shown).rstrip() + "\n")
    return "".join(out)


def _cut(value: str) -> str:
    value = value.replace("\n", " ")
    return value if len(value) <= _WIDEST else value[: _WIDEST - 1] + "…"
