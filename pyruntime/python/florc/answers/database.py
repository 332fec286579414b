"""Recorded runs as tables of SQLite, in memory: what `--where` and `florc query` ask.

The journals of the runs stay the only source; nothing is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from ..project.script import Unusable
from ..runs.journal import History
from ..runs.memory import Held
from ..support.console import cell_of
from . import memory, nans
from .loops import loops_of
from .rows import Row, lines_of, mark_cells, ranks
from .table import variables
from .values import Typed, as_number

RUNS = ("id", "name", "script", "status", "started", "seconds", "checkpoints", "bytes", "ranks")
LOOPS = (
    "run",
    "rank",
    "loop",
    "file",
    "cell",
    "line",
    "header",
    "variable",
    "memoized",
    "iterations",
    "executions",
    "seconds",
    "checkpoints",
)
ITERATIONS = ("run", "rank", "loop", "variable", "number", "path", "begun")
MEMORY = ("run", "rank", "loop", "variable", "number", "path", *Held._fields)
CHECKPOINTS = ("run", "rank", "block", "path", "seconds")
LINES = ("run", "rank", "child", "file", "cell", "line", "path", "text")
ENTRIES = ("run", "rank", "child", "file", "cell", "line", "occurrence", "name", "value", "verdict")
"""And a column for each variable of a loop."""
ONLY_QUESTIONS = "only questions can be asked: SELECT …"


class Database:
    """The tables. `histories`: of the runs; `rows`: their values."""

    def __init__(self, histories: Sequence[History], rows: Sequence[Row]):
        self._tables = sqlite3.connect(":memory:")
        self.loops = variables(rows)
        self._make("runs", RUNS, map(of_run, histories))
        self._make("loops", LOOPS, (row for history in histories for row in _loops(history)))
        self._make("iterations", ITERATIONS, (row for history in histories for row in _iterations(history)))
        self._make("memory", MEMORY, (row for history in histories for row in _memory(history)))
        self._make("checkpoints", CHECKPOINTS, (row for history in histories for row in _checkpoints(history)))
        self._make("lines", LINES, (row for history in histories for row in _lines(history)))
        entries = (
            [*row[:2], row.child, row.file, row.cell, row.line, *row[5:7], _of_sql(row.value), row.verdict, *around]
            for row, around in ((row, (row.context.get(name) for name in self.loops)) for row in rows)
        )
        self._make("entries", (*ENTRIES, *self.loops), entries)
        self._tables.execute('CREATE VIEW "values" AS SELECT * FROM entries')
        self._nans = [number for number, row in enumerate(rows, 1) if row.value != row.value]
        """The rows of `entries` whose value is NaN."""
        self._tables.set_authorizer(_may)

    def _make(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        names = ", ".join(_quoted(column) for column in _told_apart(columns))
        self._tables.execute(f"CREATE TABLE {name} ({names})")
        marks = ", ".join("?" * len(columns))
        self._tables.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)

    def where(self, condition: str) -> list[int]:
        """The numbers, from 0, of the values for which a condition holds. Raises Unusable."""
        _, found = self.ask(f"SELECT rowid - 1 FROM entries WHERE {condition}")
        return [row[0] for row in found]

    def ask(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and rows of an answer. Raises Unusable for what SQLite does not understand, or what is no question."""
        names, found = self._answer(sql)
        if self._nans and any(None in row for row in found):
            self._put_for_nan(nans.STAND_IN)
            with suppress(Unusable):  # a sum that is too large now
                found = nans.filled(found, self._answer(sql)[1])
            self._put_for_nan(None)
        return names, found

    def _put_for_nan(self, value: float | None) -> None:
        self._tables.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
        self._tables.executemany("UPDATE entries SET value = ? WHERE rowid = ?", [(value, number) for number in self._nans])
        self._tables.set_authorizer(_may)

    def _answer(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        try:
            cursor = self._tables.execute(sql)
        except (sqlite3.Error, sqlite3.Warning) as error:
            if "not authorized" in str(error) or "prohibited" in str(error):
                raise Unusable("F104", ONLY_QUESTIONS) from None
            columns = ", ".join(_told_apart((*ENTRIES, *self.loops)))
            raise Unusable("F104", f"{error}; entries has the columns {columns}; docs/answers.md has the other tables") from None
        if cursor.description is None:
            raise Unusable("F104", ONLY_QUESTIONS)
        try:
            return _numbered([column[0] for column in cursor.description]), cursor.fetchall()
        except sqlite3.Error as error:
            raise Unusable("F104", str(error)) from None


_QUESTIONS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def _may(action: int, *what: str | None) -> int:
    """Whether a statement may do this. `ATTACH` would make a file, `load_extension` run its code."""
    is_question = action in _QUESTIONS and "load_extension" not in what
    return sqlite3.SQLITE_OK if is_question else sqlite3.SQLITE_DENY


def of_run(history: History) -> tuple[Any, ...]:
    """A row of `runs`."""
    run, report = history.run, history.run.info.get("report", {})
    kept = report.get("seconds"), report.get("checkpoints"), report.get("bytes")
    return run.id, run.info.get("name"), run.info["script"], run.status, run.info["started"], *kept, run.ranks


def _iterations(history: History) -> Iterable[tuple[Any, ...]]:
    for rank, of_rank in ranks(history):
        for place, loop in of_rank.timeline.loops.items():
            for index, begun in loop.begun.items():
                front = history.run.id, rank, loop.base, memory.variable_of(of_rank, loop.base), loop.number_of(index)
                yield *front, f"{place}={index}", begun


def _memory(history: History) -> Iterable[tuple[Any, ...]]:
    for rank, of_rank in ranks(history):
        for loop, index, held in memory.looks(of_rank):
            front = history.run.id, rank, loop.base, memory.variable_of(of_rank, loop.base), loop.number_of(index)
            yield *front, f"{loop.place}={index}", *held


def _loops(history: History) -> Iterable[tuple[Any, ...]]:
    for rank, of_rank in ranks(history):
        for loop in loops_of(of_rank):
            variable = next(iter(of_rank.variables.get(loop["loop"], ())), None)
            front = (loop.get(name) for name in ("loop", "file", "cell", "line", "header"))
            rest = (loop[name] for name in ("memoized", "iterations", "executions", "seconds", "checkpoints"))
            yield history.run.id, rank, *front, variable, *rest


def _checkpoints(history: History) -> Iterable[tuple[Any, ...]]:
    for rank, of_rank in ranks(history):
        for key, checkpoint in of_rank.checkpoints.items():
            yield history.run.id, rank, checkpoint.block, key, of_rank.block_seconds.get(key)


def _lines(history: History) -> Iterable[tuple[Any, ...]]:
    mark_cells(history)
    line_of = lines_of({path: text for one in (history, *history.spawned) for _, _, path, text in one.run.files()})
    for rank, of_rank in ranks(history):
        for line in [*of_rank.lines, *(line for line in of_rank.written if line.child and not line.is_error)]:
            at = cell_of(line.file, line_of(line), is_recorded=True)
            yield history.run.id, rank, line.child, line.file, *at, line.path, line.text


_OF_SQLITE = ("rowid", "oid", "_rowid_")


def _of_sql(value: Typed) -> Typed:
    """A whole number of more than 64 bits is a float there."""
    return as_number(value) if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63 else value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _numbered(names: Sequence[str]) -> list[str]:
    """`SELECT 1 AS a, 2 AS a` has the columns `a` and `a_2`."""
    found: list[str] = []
    for name in names:
        number, numbered = 1, name
        while numbered in found:
            number += 1
            numbered = f"{name}_{number}"
        found.append(numbered)
    return found


def _told_apart(columns: Sequence[str]) -> list[str]:
    """SQLite takes names that differ in case for one, and has its own `rowid`; and a loop may run over `name`."""
    found: list[str] = []
    for column in columns:
        while column.lower() in {*_OF_SQLITE, *(name.lower() for name in found)}:
            column += "_"
        found.append(column)
    return found
