"""Tables of values for programs: pandas, polars, pyarrow and DuckDB take them as they are."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .. import _native
from ..project.script import Unusable
from . import table
from .rows import Row
from .values import as_number

_SHOWN = 20
"""Rows of a table that `repr` shows."""
_WHOLES, _NUMBERS = ("rank", "line", "occurrence", "ranks", "checkpoints", "bytes"), ("value", "seconds", "begun", "started")
"""Types of columns that florc names, where no row has a value in them."""
_WRITERS = ("pyarrow", "polars", "duckdb")
"""Any of them writes Parquet; the first that is installed does."""


class Table:
    """Columns with names, all of one length. `pandas.DataFrame.from_arrow(table)`, `polars.DataFrame(table)`,
    `pyarrow.table(table)` and `duckdb.sql("SELECT * FROM table")` read it through the C interface of Arrow.

    A column holds whole numbers (int64), numbers (float64), truth values (bool) or texts (utf8), each nullable: the narrowest
    of these that fits all of its values. `table["loss"]` is a column as a list; iterating gives rows as dicts.
    """

    def __init__(self, names: Sequence[str], rows: Iterable[Sequence[Any]]):
        self.names = tuple(names)
        self._rows = [tuple(row) for row in rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.names, row)) for row in self._rows)

    def __getitem__(self, name: str) -> list[Any]:
        """A column. Raises KeyError, with the names that there are."""
        if name not in self.names:
            raise KeyError(f"{name}: there are {', '.join(self.names)}")
        at = self.names.index(name)
        return [row[at] for row in self._rows]

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows, each with a value for every name."""
        return self._rows

    def __repr__(self) -> str:
        shown = [["" if value is None else value for value in row] for row in self._rows[:_SHOWN]]
        more = f"… {len(self)} rows\n" if len(self) > _SHOWN else ""
        return table.written(self.names, shown, "table") + more

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with one batch of all rows (the Arrow PyCapsule interface). A schema that is asked for is not followed, as
        the interface allows."""
        found = [[row[at] for row in self._rows] for at in range(len(self.names))]
        return _native.arrow_stream(self.names, found, _WHOLES, _NUMBERS)


def of_rows(rows: Sequence[Row], is_pivoted: bool = False) -> Table:
    """A row for each value: its run, rank, file and line, a column for each variable of the loops around it, which of several
    lines that its statement wrote there it is, its name, the number that it is (None for what is no number), its text, its
    verdict. `is_pivoted`: a row for each iteration, with a column for each name."""
    if is_pivoted:
        head, lines = table.pivoted(rows)
        return Table(head, ([None if value == "" else value for value in line] for line in lines))
    loops = table.variables(rows)
    has_children = any(row.child is not None for row in rows)
    head = ["run", "rank", *["child"] * has_children, "file", "line", *loops, "occurrence", "name", "value", "text", "verdict"]
    return Table(head, (_line(row, loops, has_children) for row in rows))


def _line(row: Row, loops: list[str], has_children: bool) -> tuple[Any, ...]:
    context = (row.context.get(name) for name in loops)
    number = as_number(row.value) if isinstance(row.value, (int, float)) else None
    child = [row.child] * has_children
    return row.run, row.rank, *child, row.file, row.line, *context, row.occurrence, row.name, number, str(row.value), row.verdict


def refuse(form: str | None, output: str | None) -> None:
    """Raises Unusable where values cannot be written so: asked before anything runs."""
    if form == "parquet":
        if output is None:
            raise Unusable("F101", "--format parquet writes a file: add -o values.parquet")
        if not any(importlib.util.find_spec(name) for name in _WRITERS):
            raise Unusable(
                "F105", f"--format parquet needs one of {', '.join(_WRITERS)}: pip install pyarrow; or use --format csv"
            )
    if output is not None:
        folder = os.path.dirname(os.path.abspath(output))
        if not os.path.isdir(folder) or not os.access(folder, os.W_OK) or os.path.isdir(output):
            raise Unusable("F206", f"cannot write {output}: give it a name in a folder that is there, and can be written to")


def write_parquet(found: Table, output: str) -> None:
    """Write a file of Parquet, in a process of its own: a replay has ended what libraries need, and imports nothing into the
    script. Raises OSError, with what the library said."""
    data = json.dumps([found.names, found.rows(), os.path.abspath(output)])
    code = f"import sys; sys.path[:1] = []; from {__name__} import write_given; write_given()"
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError((done.stderr.strip().splitlines() or ["the process that writes it was killed"])[-1])


def write_given() -> None:
    """Write what `write_parquet` sends."""
    names, rows, output = json.load(sys.stdin)
    found = Table(names, rows)
    name = next(name for name in _WRITERS if importlib.util.find_spec(name))
    library: Any = importlib.import_module(name)
    if name == "pyarrow":
        importlib.import_module("pyarrow.parquet").write_table(library.table(found), output)
    elif name == "polars":
        library.DataFrame(found).write_parquet(output)
    else:
        library.sql("SELECT * FROM found").write_parquet(output)  # DuckDB finds what has the interface by its name
