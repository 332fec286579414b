"""Places in the recorded source: as the page finds them, by file and line, and as people look them up. A notebook is one program
here, whose lines are counted through; people are told the cell."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from ..answers.rows import Row
from ..project import notebooks
from ..project.script import NOTEBOOK
from ..runs.journal import History

_AT = re.compile(r"^(?:rank \d+: )?([^\n:]+?)(?::|, cell (\d+), line )(\d+)[:,]")


class Places:
    """Of one run. `sources`: its files as they were recorded, by path."""

    def __init__(self, sources: Mapping[str, str]):
        self._heads = {file: notebooks.heads(text) for file, text in sources.items() if file.endswith(NOTEBOOK)}

    @classmethod
    def of(cls, history: History) -> Places:
        """Those of what a run recorded."""
        return cls(history.run.texts())

    def cells(self, file: str) -> list[int]:
        """The line before each code cell; none of a file that is no notebook."""
        return self._heads.get(file, [])

    def line(self, file: str, cell: int | None, line: int) -> int:
        """A line that is named by its cell, where it is one of a notebook."""
        heads = self.cells(file)
        return line if cell is None or not 0 < cell <= len(heads) else heads[cell - 1] + line

    def line_of(self, row: Row) -> int:
        """Where a value was printed."""
        return self.line(row.file, row.cell, row.line)

    def said(self, file: str, line: int) -> str:
        """A line for people: `line 12`; of a notebook: `cell 3, line 2`."""
        heads = [head for head in self.cells(file) if head < line]
        return f"cell {len(heads)}, line {line - heads[-1]}" if heads else f"line {line}"


def first_difference(sources: Mapping[str, str], anomalies: list[str]) -> dict[str, Any] | None:
    """The first of the sentences, and the line of a recorded file that it names, if it names one."""
    if not anomalies:
        return None
    named = _AT.match(anomalies[0])
    files = [file for file in sources if named is not None and os.path.basename(file) == os.path.basename(named[1])]
    found: dict[str, Any] = {"text": anomalies[0], "more": len(anomalies) - 1, "file": None, "line": None, "at": None}
    if named is not None and len(files) == 1:
        places = Places(sources)
        line = places.line(files[0], int(named[2]) if named[2] else None, int(named[3]))
        found |= {"file": files[0], "line": line, "at": places.said(files[0], line)}
    return found
