"""Lines that several statements write: `print("loss", loss, end=" ")`, then `print("acc", acc)`.

florc knows of a line which statement ended it. What stands before that statement, beside it, and ends no line is a part of the
same line: that is read from the source. Where the source does not tell what a line holds (a loop wrote parts of it, a variable
says how it ends), nothing in it gets a name: a value must not swallow what another statement wrote."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from .templates import Piece, Template, is_error, joined, pieces_of


class Joint(NamedTuple):
    """Statements of which only the last one may end the line; most often one alone."""

    template: Template
    """What they write together, as the last one's; without values where nothing would tell which value is which."""
    parts: tuple[Template, ...]
    """What each of them writes that writes values; of one that is alone in its line, nothing."""
    begins: int
    """The line of the first of them."""
    is_several: bool
    ends: bool
    """Whether the line ends there, or may."""
    is_ever: bool
    """Whether none of them is ever alone in a line: in a replay, what one line of the source writes is taken together."""
    suite: int
    """Tells in which order it runs with others of its line: those of one suite one after the other. Below 0: nothing tells."""


class _Part(NamedTuple):
    call: ast.Call
    pieces: list[Piece]
    """Without the end of the line."""
    is_last: bool | None
    """Whether it ends the line; None where a variable says so."""
    is_clear: bool
    """Whether `pieces` says what it writes: not where it writes several values at once, and more behind them."""
    stream: str

    @property
    def template(self) -> Template:
        """What it writes, as if it were alone."""
        return _written(self.call, joined(pieces_of(self.call) or []))


class _Line:
    """The line of a stream that is being written."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.is_known = True
        """Whether all that begins it is in `parts`."""

    def end(self, suite: int) -> Iterator[Joint]:
        """Nothing that is known follows in the same suite, or the last part ends it."""
        parts, is_known = self.parts, self.is_known
        self.parts, self.is_known = [], True
        if parts:
            yield _joint(parts, is_known, suite)


def joints(text: str) -> list[Joint]:
    """Those of a file. A file that Python cannot read has none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    nodes = list(ast.walk(tree))
    suites = [
        (suite, isinstance(node, ast.stmt) and node.lineno == suite[0].lineno)
        for node in nodes
        for _, suite in ast.iter_fields(node)
        if isinstance(suite, list) and suite and isinstance(suite[0], ast.stmt)
    ]
    found = [
        # `for x in xs: print(x, end=" ")`: in a replay, what it writes in all its iterations is taken together
        joint._replace(is_ever=joint.is_ever or is_beside and not joint.ends)
        for number, (suite, is_beside) in enumerate(suites)
        for joint in _of_suite(suite, number)
    ]
    # in comprehensions, as arguments, …
    beside = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    beside |= {
        id(one) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Tuple) for one in node.value.elts
    }
    inner = (_part(node) for node in nodes if isinstance(node, ast.Call) and id(node) not in beside)
    return found + [_joint([part], False, -1) for part in inner if part is not None]


def _of_suite(suite: Sequence[ast.stmt], number: int) -> Iterator[Joint]:
    lines: dict[str, _Line] = {}
    for node in suite:
        parts = _parts(node)
        if parts is None:
            inside = [part for call in ast.walk(node) if isinstance(call, ast.Call) and (part := _part(call)) is not None]
            calls = any(isinstance(part, ast.Call) for part in ast.walk(node))  # which may write, too
            for stream in dict.fromkeys([*(part.stream for part in inside), *(lines if calls else ())]):
                line = lines.setdefault(stream, _Line())
                is_begun = bool(line.parts) or not line.is_known or any(not part.is_last for part in inside)
                yield from line.end(number)
                line.is_known = not is_begun
        for part in parts or ():
            line = lines.setdefault(part.stream, _Line())
            line.parts.append(part)
            if part.is_last is not False:
                yield from line.end(number)
                line.is_known = part.is_last is not None
    for line in lines.values():
        yield from line.end(number)


def _parts(node: ast.stmt) -> list[_Part] | None:
    """What an expression statement writes, if it is one that only writes."""
    if not isinstance(node, ast.Expr):
        return None
    calls = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    found = [_part(call) for call in calls if isinstance(call, ast.Call)]
    parts = [part for part in found if part is not None]
    return parts if parts and len(parts) == len(calls) else None


def _joint(parts: list[_Part], is_known: bool, suite: int) -> Joint:
    last = parts[-1].call
    pieces = joined([piece for part in parts for piece in part.pieces])
    ends, is_several = parts[-1].is_last is not False, len(parts) > 1
    is_clear = is_known and all(part.is_clear and part.is_last is not None for part in parts)
    # a text stands between two values, and nothing behind several at once
    for one, other in pairwise(pieces if is_several else ()):
        is_clear &= isinstance(one, str) or isinstance(other, str) and not one.name.startswith("*")
    each = [part.template for part in parts]
    is_on_one_line = all(one.line == one.end_line == last.lineno for one in each)
    is_alone = bool(parts[-1].is_last) and not is_several and (is_known or suite < 0)
    if any(part.is_last is None for part in parts):
        suite = -1
    named = () if is_alone else tuple(part for part in each if part.names)
    whole = _written(last, pieces if is_clear or is_alone else ())
    return Joint(whole, named, each[0].line, is_several, ends, not is_known or is_on_one_line and is_several, suite)


def _written(call: ast.Call, pieces: tuple[Piece, ...]) -> Template:
    return Template(call.lineno, call.end_lineno or call.lineno, pieces, is_error=is_error(call))


def _part(call: ast.Call) -> _Part | None:
    """What a call of `print`, or of `….write(text)`, writes; None of others."""
    pieces = pieces_of(call)
    is_clear = pieces is not None
    if pieces is None:
        if not isinstance(call.func, ast.Name) or call.func.id != "print":
            return None
        pieces = []
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if isinstance(call.func, ast.Name) and call.func.id == "print":
        end = given.get("end", ast.Constant(None))
        stream = ast.unparse(given["file"]) if "file" in given else "sys.stdout"
        if not isinstance(end, ast.Constant) or not isinstance(end.value, str | None):
            return _Part(call, pieces, None, is_clear, stream)
        return _Part(call, pieces, end.value is None or end.value.endswith("\n"), is_clear, stream)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "write" and pieces:
        last = pieces[-1]
        written = [*pieces[:-1], last.removesuffix("\n") if isinstance(last, str) else last]
        return _Part(call, written, isinstance(last, str) and last.endswith("\n"), is_clear, ast.unparse(call.func.value))
    return None
