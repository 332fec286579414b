"""Values by name: what a run printed when it was recorded, and what was asked of it since."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from .. import _native
from ..project.script import NOTEBOOK
from ..runs.entries import LogLine
from ..runs.journal import History
from ..support.console import cell_of, spelled
from .joint import Joint, joints
from .templates import Template, compounds, of_shown, templates
from .values import Typed, taken_apart

if TYPE_CHECKING:
    from ..project.notebooks import Shown

RECORDED = "recorded"
"""In the place of a verdict: what the run printed when it was recorded."""


class Row(NamedTuple):
    """A value. `context`: the loops around the statement, by their own variables, the outermost first."""

    run: str
    rank: int | None
    file: str
    """Absolute."""
    line: int
    """Of the statement, 1-based: in the recorded version for recorded values, in the present one for those asked for."""
    context: dict[str, int]
    occurrence: int
    """The so many-th line that the statement wrote in this iteration, from 0."""
    name: str
    value: Typed
    verdict: str
    """`recorded`, or that of the replay: `exact`, `unverified`, `anomalous`."""
    cell: int | None = None
    """The code cell of a notebook that the statement stands in, from 1; `line` is that of the cell then."""
    child: str | None = None
    """Which of the processes that the script forked printed it: `2`, a child of that `2.1`. `context` is where it was forked."""

    @property
    def at(self) -> str:
        """Where the statement stands, from here: `train.py:12`, `train.ipynb, cell 3, line 2`."""
        return spelled(os.path.relpath(self.file), self.cell, self.line)

    def to_json(self) -> dict[str, object]:
        """By the names of the fields; `cell` only of a notebook, `child` only of a process that the script forked."""
        return {name: value for name, value in self._asdict().items() if name not in ("cell", "child") or value is not None}


class Printed(NamedTuple):
    """A line that a statement printed."""

    file: str
    line: int
    path: str
    """In the loop nest."""
    text: str
    verdict: str
    rank: int | None = None
    message: str | None = None
    """What a logger was told, where one printed it."""
    is_error: bool = False
    """Whether it went to standard error."""
    child: str | None = None
    """Which of the processes that the script forked printed it."""
    begun_by: int | None = None
    """The line of the statement that began it, where another one ended it; 0: of another file."""


class Named(NamedTuple):
    """A line, and what is named in it (see Row)."""

    run: str
    printed: Printed
    context: dict[str, int]
    occurrence: int
    values: dict[str, Typed]

    @property
    def rows(self) -> list[Row]:
        """A row for each value."""
        line = self.printed
        cell, within = cell_of(line.file, line.line, is_recorded=line.verdict == RECORDED)
        front = (self.run, line.rank, line.file, within, self.context, self.occurrence)
        return [Row(*front, name, value, line.verdict, cell, line.child) for name, value in self.values.items()]


class Names:
    """What the statements of files write. `texts`: by path."""

    def __init__(self, texts: dict[str, str]):
        self._texts = texts
        self._known: dict[str, dict[int, list[Template]]] = {}
        self._inside: dict[str, dict[int, list[Template]]] = {}
        """Those in a statement that others stand in, by the line where it begins: `if epoch % 2:`."""
        self._joints: dict[str, list[Joint]] = {}
        self._parts: dict[tuple[str, bool], set[Template]] = {}
        """What is written only as a part of a line, by file, and whether all that was written is in the line."""
        self._wholes: dict[str, dict[Template, int]] = {}
        """What several statements write together, and the line of the first of them."""

    def values(self, printed: Printed, number: int = 0) -> dict[str, Typed]:
        """The values in a line, by their names; none where its statement writes no values that florc can name. `number`: it is
        the so many-th line of its statement, from 0."""
        fitting: list[tuple[Template, dict[str, Typed]]] = []
        here = self._at(printed.file, printed.line)
        if printed.verdict == RECORDED and here:
            here = self._in_order(here, printed, number)
        is_inside = not here and printed.verdict != RECORDED
        parts = self._parts_of(printed.file, printed.verdict == RECORDED or is_inside)
        for template in self._within(printed.file, printed.line) if is_inside else here:
            if template in parts or printed.verdict == RECORDED and not self._may_end(template, printed):
                continue
            if template.is_error not in (None, printed.is_error):
                continue
            text = printed.text if printed.message is None or not template.is_logged else printed.message
            found = taken_apart(template, text, printed.text, number)
            if found is None or template in self._wholes[printed.file] and "" in found.values():
                continue
            if fitting and fitting[0][0] in self._wholes[printed.file]:
                return {}  # one statement in the line of the source may have written it, or several
            if not fitting or _fixed(template) == _fixed(fitting[0][0]):
                fitting.append((template, found))
        if not fitting or is_inside and len({template.pieces for template, _ in fitting}) > 1:
            return {}
        # `print(a); print(b)`: which of them it was is told by the order
        return fitting[number % len(fitting)][1]

    def is_rest(self, printed: Printed) -> bool:
        """Whether a line that shows no value is the rest of one, as its statement writes one line each time: a matrix."""
        written = [one for one in self._at(printed.file, printed.line) if one.names]
        is_one = all(
            not one.is_logged and not any("\n" in piece for piece in one.pieces if isinstance(piece, str)) for one in written
        )
        return bool(written) and is_one and printed.begun_by is None and bool(printed.text.strip())

    def _at(self, file: str, line: int) -> list[Template]:
        """What a statement in a line writes: one of several lines is known by each of them."""
        if file not in self._known:
            by_line: dict[int, list[Template]] = {}
            text = self._texts.get(file, "")
            self._joints[file] = joints(text)
            wholes = [joint for joint in self._joints[file] if joint.template.names and joint.is_several]
            found = [joint.template for joint in wholes]
            self._wholes[file] = {joint.template: joint.begins for joint in wholes}
            found += templates(text) + [
                shown for one in _shown(file, text) if (shown := of_shown(one.line, one.text)) is not None
            ]
            # Of two statements in one line (`florc ask` adds one) the first that fits counts: that which fixes more of the text.
            for template in sorted(found, key=_fixed, reverse=True):
                for at in range(template.line, template.end_line + 1):
                    by_line.setdefault(at, []).append(template)
            self._known[file] = by_line
        return self._known[file].get(line, [])

    def _in_order(self, here: list[Template], printed: Printed, number: int) -> list[Template]:
        """Of several statements in one line that each end a line, that whose turn it is."""
        there = [joint for joint in self._joints[printed.file] if joint.ends and joint.template.line == printed.line]
        if len(there) < 2:
            return here
        turn = there[number % len(there)]
        is_told = turn.suite >= 0 and all(joint.suite == turn.suite for joint in there)
        return [one for one in here if one == turn.template] if is_told else []

    def _may_end(self, template: Template, printed: Printed) -> bool:
        """Whether the line was begun where what the template stands for begins."""
        begins = self._wholes[printed.file].get(template)
        if printed.begun_by is None:
            return begins is None or template.line <= begins <= template.end_line
        return begins == printed.begun_by

    def _parts_of(self, file: str, is_whole: bool) -> set[Template]:
        """What is written only as a part of a line. `is_whole`: of one in which all is that was written."""
        if (file, is_whole) not in self._parts:
            known = (joint.parts for joint in self._joints[file] if is_whole or joint.is_ever)
            self._parts[file, is_whole] = {part for parts in known for part in parts}
        return self._parts[file, is_whole]

    def _within(self, file: str, line: int) -> list[Template]:
        """What the statements in one write that begins in a line: such a one is added as a whole."""
        if file not in self._inside:
            every = sorted({one for several in self._known[file].values() for one in several}, key=_fixed, reverse=True)
            spans = compounds(self._texts.get(file, ""))
            self._inside[file] = {first: [one for one in every if first < one.line <= last] for first, last in spans.items()}
        return self._inside[file].get(line, [])


def _fixed(template: Template) -> int:
    """So many characters of what a statement writes are known."""
    return sum(len(piece) for piece in template.pieces if isinstance(piece, str))


def recorded(history: History) -> Iterator[Row]:
    """What a run printed, rank by rank."""
    read = (history, *history.spawned)
    texts = {path: text for one in read for _, _, path, text in one.run.files()}
    mark_cells(history)
    line_of = lines_of(texts)
    for rank, of_rank in ranks(history):
        lines = (
            Printed(
                line.file,
                line_of(line),
                line.path,
                line.text,
                RECORDED,
                rank,
                line.message,
                line.is_error,
                line.child,
                line.begun_by,
            )
            for line in _once(of_rank.written)
            if line.file is not None and line.line
        )
        for line in named(of_rank, lines, Names(texts)):
            yield from line._replace(run=history.run.id).rows


def lines_of(texts: dict[str, str]) -> Callable[[LogLine], int]:
    """The lines of the statements that wrote recorded lines; `texts`: of the files, by path. 0 where none of these did."""
    # what a cell shows at its end is said to be printed on the line before the cell; below 0 where a library wrote it: `logging`
    ends = {(path, -one.head): one.line for path, text in texts.items() for one in _shown(path, text)}
    return lambda line: ends.get((line.file or "", line.line), abs(line.line))


def _once(written: list[LogLine]) -> Iterator[LogLine]:
    """Lines, without those of loggers that stand on standard output, too, on standard error, or in an earlier file."""

    def stream(line: LogLine) -> int:
        return line.log or (0 if line.is_error else -1)

    streams: dict[int, Counter[object]] = {-1: Counter(), 0: Counter()}
    for line in written:
        if line.message is not None and not line.log:
            streams[stream(line)][line.file, line.line, line.path, line.message, line.child] += 1
    so_far: dict[int, Counter[object]] = {}
    for line in written:
        number = stream(line)
        if number == -1 or line.message is None and number == 0:
            yield line
        elif line.message is not None:
            key = (line.file, line.line, line.path, line.message, line.child)
            here = so_far.setdefault(number, Counter())
            here[key] += 1
            if number > 0:
                streams[number] = here
            if all(here[key] > seen[key] for other, seen in streams.items() if other < number):
                yield line


def _shown(path: str, text: str) -> list[Shown]:
    """What the cells of a notebook show at their ends."""
    if not path.endswith(NOTEBOOK):
        return []
    from ..project import notebooks

    return notebooks.shown_at_ends(text)


def ranks(history: History) -> Iterator[tuple[int | None, History]]:
    """The history of each rank, and its number, where there are several; then those of ranks that the script started itself."""
    several = len(history.together) > 1
    yield from ((number if several else None, of_rank) for number, of_rank in enumerate(history.together))
    yield from ((of_rank.run.rank, of_rank) for of_rank in history.spawned)


def mark_cells(history: History) -> None:
    """From now on, places in the recorded notebook are named by cell."""
    script = history.run.info["script"]
    if script.endswith(NOTEBOOK):
        from ..project import notebooks

        notebooks.mark_recorded(script, history.run.source(script) or "")


def named(history: History, printed: Iterable[Printed], names: Names) -> Iterator[Named]:
    """Lines, and what is named in each. Raises Unusable when a file of the recorded project is damaged."""
    seen: Counter[tuple[object, ...]] = Counter()
    found: list[Named] = []
    cut: set[tuple[str, int]] = set()
    for line in printed:
        around = context(history, line.path)
        front = (line.file, line.line, line.rank, line.child)
        # a loop that runs twice in one iteration of that around it has each of its iterations twice
        number, occurrence = (seen[key] for key in ((*front, line.path), (*front, *around.items())))
        seen.update([(*front, line.path), (*front, *around.items())])
        values = names.values(line, number)
        cut |= {front[:2]} if not values and names.is_rest(line) else set()
        found.append(Named(history.run.id, line, around, occurrence, values))
    for one in found:
        if (one.printed.file, one.printed.line) in cut:  # what goes on in the next line is the last value of this one
            one = one._replace(values=dict([*one.values.items()][:-1]))
        yield one


def context(history: History, path: str) -> dict[str, int]:
    """The loops around a place by their own variables, and where each of them was."""
    found: dict[str, int] = {}
    iterations = _native.Path(path).iterations
    if iterations and iterations[0][0] not in history.timeline.loops:  # in a rank that the script started itself
        history = next((rank for rank in history.spawned if iterations[0][0] in rank.timeline.loops), history)
    for place, index in iterations:
        followed, loop = history.timeline.loops.get(place), _native.Path(place)
        name = next(iter(history.variables.get(loop.loop, ())), loop.loop)
        while name in found:
            name += "'"
        found[name] = followed.number_of(index) if followed is not None else index
    return found
