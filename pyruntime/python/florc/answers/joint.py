"""Lines that several statements write: `print("loss", loss, end=" ")`, then `print("acc", acc)`.

florc knows of a line which statement ended it. What stands before that statement, beside it, and ends no line is a part of the
same line: that is read from the source, where nothing else can run in between."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from .templates import Piece, Template, Value, is_error, joined, pieces_of


class Joint(NamedTuple):
    """Statements beside each other of which only the last one ends the line."""

    template: Template
    """What they write together, as the last one's; without values where nothing would tell which value is which."""
    parts: tuple[Template, ...]
    """What each of them writes that writes values."""

    @property
    def is_on_one_line(self) -> bool:
        """Whether all of them stand in one line of the source, as what they write in a replay is taken together then."""
        return all(part.line == part.end_line == self.template.line for part in self.parts)


class _Part(NamedTuple):
    call: ast.Call
    pieces: list[Piece]
    """Without the end of the line."""
    is_last: bool
    """Whether it ends the line."""
    stream: str


def joints(text: str) -> list[Joint]:
    """Those of a file. A file that Python cannot read has none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    suites = (suite for node in ast.walk(tree) for _, suite in ast.iter_fields(node) if isinstance(suite, list))
    return [_joint(parts) for suite in suites for parts in _runs(suite)]


def _runs(suite: list[object]) -> Iterator[list[_Part]]:
    run: list[_Part] = []
    for node in suite:
        part = _part(node.value) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        if part is None or run and run[-1].stream != part.stream:
            run = []
        if part is not None:
            run.append(part)
            if part.is_last:
                if len(run) > 1:
                    yield run
                run = []


def _joint(parts: list[_Part]) -> Joint:
    last = parts[-1].call
    pieces = joined([piece for part in parts for piece in part.pieces])
    if any(isinstance(one, Value) and isinstance(other, Value) for one, other in pairwise(pieces)):
        pieces = ()
    each = (_written(part.call, joined(part.pieces)) for part in parts)
    return Joint(_written(last, pieces), tuple(part for part in each if part.names))


def _written(call: ast.Call, pieces: tuple[Piece, ...]) -> Template:
    return Template(call.lineno, call.end_lineno or call.lineno, pieces, is_error=is_error(call))


def _part(call: ast.Call) -> _Part | None:
    """What a call of `print`, or `….write(text)` whose end is known, writes; None of others."""
    pieces = pieces_of(call)
    if pieces is None:
        return None
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if isinstance(call.func, ast.Name) and call.func.id == "print":
        end = given.get("end", ast.Constant(None))
        if not isinstance(end, ast.Constant) or not isinstance(end.value, str | None):
            return None
        stream = ast.unparse(given["file"]) if "file" in given else "sys.stdout"
        return _Part(call, pieces, end.value is None or end.value.endswith("\n"), stream)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "write" and pieces and isinstance(pieces[-1], str):
        written = [*pieces[:-1], pieces[-1].removesuffix("\n")]
        return _Part(call, written, pieces[-1].endswith("\n"), ast.unparse(call.func.value))
    return None
