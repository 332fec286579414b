"""`florc replay notebook.ipynb --output answered.ipynb`: a copy of the notebook with the answers in its cells."""

from __future__ import annotations

import json
import os

from ..project import notebooks
from ..project.script import NOTEBOOK, Script, Unusable
from ..support.console import answer, cell_of, count, relative, say
from .report import Report
from .session.capture import Value


def refuse(output: str, script: Script) -> None:
    """Raises Unusable where there is nothing to make a copy of, or the copy would take the place of the notebook."""
    if not script.is_notebook:
        raise Unusable("F101", f"--output writes a copy of a notebook with its answers, and {relative(script.path)} is none")
    if not output.endswith(NOTEBOOK):
        raise Unusable("F101", f"--output writes a notebook: give it a name that ends in {NOTEBOOK}, not {output}")
    folder = os.path.dirname(os.path.abspath(output))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK) or os.path.isdir(output):
        raise Unusable("F206", f"cannot write {output}: give it a name in a folder that is there, and can be written to")
    if os.path.realpath(output) == os.path.realpath(script.path):
        raise Unusable("F101", f"--output {output} would take the place of the notebook itself: give the copy another name")


def write(output: str, data: bytes, script: Script, report: Report) -> None:
    """Write the copy. `data`: the notebook as it was when the replay began. A value from one of several ranks, or from a process
    that the script forked, says which."""
    notebook, cells = notebooks.cells(script.path, data)
    by_cell: dict[int, list[Value]] = {}
    elsewhere = 0
    shown = [value for value in report.result.values if report.shows(value)]
    for value in shown:
        at, _ = cell_of(value.file, value.line)
        if at is None:
            elsewhere += 1
        else:
            by_cell.setdefault(at, []).append(value)
    for number, values in by_cell.items():
        text = "\n".join(value.text for value in values)
        put = {
            "output_type": "display_data",
            "data": {"text/plain": text.splitlines(keepends=True)},
            "metadata": {"florc": {"run": report.history.run.id, "verdict": report.verdict}},
        }
        cell = cells[number - 1]
        cell["outputs"] = [*(cell.get("outputs") or []), put]
    try:
        with open(output, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")
    except OSError as error:
        say(f"cannot write {output}: {(error.strerror or str(error)).lower()}; these are the answers", always=True, code="F206")
        answer("".join(f"{value.text}\n" for value in shown))
        return
    beside = f"; {count(elsewhere, 'value')} of other files {'is' if elsewhere == 1 else 'are'} not in it" if elsewhere else ""
    say(f"{relative(output)} has {count(sum(map(len, by_cell.values())), 'answer')} in {count(len(by_cell), 'cell')}{beside}")
