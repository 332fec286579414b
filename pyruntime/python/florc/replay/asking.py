"""`florc ask`: log statements for questions, in texts that only this replay sees."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import _native
from ..project import asked, notebooks
from ..project.script import NOTEBOOK, Script, Unusable
from ..project.territory import MAIN, decode
from ..support.console import count, line_of, place, relative, say, tinted_diff
from .session import live
from .session.opening import AGAIN, RANK, WORKER

if TYPE_CHECKING:
    from ..runs.run import Run
    from ..support.arguments import Ask

Questions = list[tuple["int | tuple[int, bool] | str | None", str]]
"""What `_native.ask` is told of one file."""


_DIGITS = 9
"""Of the number of a line."""


def put_questions(run: Run, script: Script, arguments: Ask) -> None:
    """Write the statements into the texts that are replayed, and show them. Raises Unusable for what cannot be asked."""
    if not is_question(arguments):
        raise Unusable(
            "F101",
            "nothing is asked: add --at LINE EXPRESSION, --inside LINE EXPRESSION, --after-loop VARIABLE EXPRESSION "
            "or --watch EXPRESSION",
        )
    present = dict(_texts(run, script))
    for file, questions in _by_file(present, script, arguments).items():
        asked.texts[file], sides = _asked(file, present[file], questions)
        if not arguments["quiet"] and not {AGAIN, WORKER, RANK}.intersection(os.environ):
            _show(file, present[file], asked.texts[file])
            for side in sides:
                say(_with_cells(file, relative(file), side))
    live.tell(asked=asked.texts)


def is_question(arguments: Ask) -> bool:
    """Whether anything is asked."""
    return bool(arguments["at"] or arguments["inside"] or arguments["after_loop"] or arguments["watch"])


def take_recorded(run: Run) -> None:
    """What is asked is asked of the recorded texts, whatever the files hold now: the page of `florc ui` shows these."""
    asked.texts.update(run.texts())


def _texts(run: Run, script: Script) -> Iterator[tuple[str, str]]:
    """The script and the recorded files of its project, as they are now."""
    yield script.path, script.text
    for module, _, file, _ in run.files():
        if module != MAIN and _native.followed(module) is None:
            try:
                with open(file, "rb") as opened:
                    yield file, asked.text_of(file, decode(opened.read()))
            except (OSError, SyntaxError, UnicodeDecodeError):
                continue


def _by_file(present: dict[str, str], script: Script, arguments: Ask) -> dict[str, Questions]:
    found: dict[str, Questions] = {}
    of_lines = [(False, *pair) for pair in zip(arguments["at"][::2], arguments["at"][1::2])]
    of_lines += [(True, *pair) for pair in zip(arguments["inside"][::2], arguments["inside"][1::2])]
    for is_inside, where, expression in of_lines:
        name, _, line = where.rpartition(":")
        takes = "CELL:LINE, cells counted from 1, or FILE:LINE" if script.is_notebook else "the number of a line, or FILE:LINE"
        if not line.isdecimal() or len(line) > _DIGITS:
            raise Unusable("F101", f"--{'inside' if is_inside else 'at'} {where}: it takes {takes}")
        file, number = _file(present, script, name), int(line)
        if script.is_notebook and file == script.path:
            number = _line_of_cell(script, where, name, number)
        found.setdefault(file, []).append(((number, is_inside), expression.strip()))
    for variable, expression in zip(arguments["after_loop"][::2], map(str.strip, arguments["after_loop"][1::2])):
        found.setdefault(_first(present, script, (variable, expression)), []).append((variable, expression))
    for expression in map(str.strip, arguments["watch"]):
        stepping = [file for file, text in present.items() if _can_be_asked(file, text, (None, expression))]
        for file in stepping or [_first(present, script, (None, expression))]:
            found.setdefault(file, []).append((None, expression))
    return found


def _file(present: dict[str, str], script: Script, name: str) -> str:
    """The file that a question names by the end of its path."""
    if not name or script.is_notebook and name.rpartition(":")[2].isdecimal():
        return script.path
    named = [file for file in present if file == os.path.abspath(name) or file.endswith(f"/{name}")]
    if len(named) == 1:
        return named[0]
    there = ", ".join(sorted(relative(file) for file in named or present))
    why = "several files of the run have that name" if named else "the run has no such file"
    raise Unusable("F101", f"--at {name}: {why}; there are: {there}")


def _line_of_cell(script: Script, where: str, cell: str, line: int) -> int:
    """The line of the program that a line of a cell is."""
    number = cell.rpartition(":")[2]
    if not number.isdecimal() or len(number) > _DIGITS:
        raise Unusable("F101", f"--at {where}: a line of which cell? CELL:LINE, such as --at 1:{line}; cells are counted from 1")
    sizes = notebooks.sizes(script.text)
    if not 0 < int(number) <= len(sizes):
        raise Unusable("F101", f"--at {where}: the notebook has {count(len(sizes), 'code cell')}")
    size = sizes[int(number) - 1]
    if not 0 < line <= size:
        raise Unusable("F101", f"--at {where}: cell {number} has {count(size, 'line')}")
    return notebooks.heads(script.text)[int(number) - 1] + line


def _first(present: dict[str, str], script: Script, question: tuple[int | str | None, str]) -> str:
    """The first file in which it can be asked, or the script: it says why not."""
    return next((file for file, text in present.items() if _can_be_asked(file, text, question)), script.path)


def _can_be_asked(file: str, text: str, question: tuple[int | str | None, str]) -> bool:
    try:
        _native.ask(text, file, [question])
    except ValueError:
        return False
    return True


def _asked(file: str, text: str, questions: Questions) -> tuple[str, list[str]]:
    name = relative(file)
    try:
        found, sides = _native.ask(text, name, questions)
    except ValueError as error:
        raise Unusable("F107", _with_cells(file, name, str(error))) from None
    return notebooks.counted(text, found) if file.endswith(NOTEBOOK) else found, sides


def _with_cells(file: str, name: str, why: str) -> str:
    """A sentence about a line of a notebook names its cell."""
    if not file.endswith(NOTEBOOK):
        return why
    named = re.sub(rf"{re.escape(name)}:(\d+)", lambda found: place(file, int(found[1])), why)
    return re.sub(r"in line (\d+)(?=,|$)", lambda found: f"in {line_of(file, int(found[1]))}", named)


def _show(file: str, before: str, after: str) -> None:
    name = relative(file)
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, f"{name}, as asked", n=0)
    if file.endswith(NOTEBOOK):
        lines = (re.sub(r"^@@ -(\d+).*", lambda found: f"@@ {line_of(file, int(found[1]))} @@", line) for line in lines)
    with_ends = (line if line.endswith("\n") else f"{line}\n" for line in lines)
    print(*(tinted_diff(line, sys.stderr) for line in with_ends), sep="", end="", file=sys.stderr, flush=True)
