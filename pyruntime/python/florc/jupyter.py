"""`%load_ext florc`: `%%florc record` and `%%florc replay` for a cell that trains.

A kernel's memory cannot be recorded after the fact, so the cell does not run in it: the cells that ran so far, and this one, are
written to a notebook of their own beside the kernel's folder, and that is recorded, or replayed, by a process of its own. What
the cell computes stays in that process; what it prints appears below the cell.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import Any

NAME = "florc_cells.ipynb"
"""The notebook that is written."""
_COMMANDS = ("record", "replay")


class Cells:
    """The cells of a kernel, as a program."""

    def __init__(self, shell: Any):
        self._shell = shell
        self._recorded: list[str] | None = None
        """Those before the cell that was recorded last: a replay runs the same ones."""

    def magic(self, line: str, cell: str) -> None:
        """`%%florc record [OPTIONS]` or `%%florc replay [OPTIONS]`."""
        words = shlex.split(line)
        if not words or words[0] not in _COMMANDS:
            print(f"%%florc is followed by {' or '.join(_COMMANDS)}: %%florc record", file=sys.stderr)
            return
        if words[0] == "record":
            self._recorded = self._ran()
        before = self._recorded
        if before is None:
            print("there is nothing to replay yet: begin the cell with %%florc record", file=sys.stderr)
            return
        path = os.path.abspath(NAME)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_notebook([*before, cell]), file, indent=1, ensure_ascii=False)
        _run([words[0], *words[1:], path])

    def _ran(self) -> list[str]:
        """What was typed so far, but for what speaks to florc. The last one is the cell at hand."""
        typed = list(self._shell.history_manager.input_hist_raw)[1:-1]
        return [text for text in typed if not text.lstrip().startswith(("%%florc", "%load_ext florc", "%reload_ext florc"))]


def _notebook(cells: list[str]) -> dict[str, Any]:
    kept: list[dict[str, Any]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text.splitlines(keepends=True)}
        for text in cells
    ]
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": kept, "metadata": about, "nbformat": 4, "nbformat_minor": 4}


def _run(words: list[str]) -> None:
    """Run florc, and show what it prints as it comes. Ctrl-C reaches it, and it ends as it does in a shell."""
    command = [sys.executable, "-u", "-m", "florc", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as child:
        assert child.stdout is not None
        try:
            for line in child.stdout:
                print(line, end="")
        except KeyboardInterrupt:
            child.terminate()
            raise


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext florc` calls."""
    shell.register_magic_function(Cells(shell).magic, "cell", "florc")
