"""`%load_ext florc`: `%%florc record` and `%%florc replay` for a cell that trains.

A kernel's memory cannot be recorded after the fact, so the cell does not run in it: the cells that ran so far, and this one, are
written to a notebook of their own in the folder where the kernel began, and that is recorded, or replayed, by a process of its
own. What the cell computes stays in that process; what it prints appears below the cell.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from difflib import SequenceMatcher
from typing import Any, NamedTuple

NAME = "florc_cells{}.ipynb"
"""The notebook that is written: of each kernel another one, and never in the place of a file that no kernel of florc's wrote."""
_PATIENCE_S = 1.0
"""So long a process that may have been interrupted is left alone before it is."""
_COMMANDS = ("record", "replay")
_OWN = re.compile(r"^[ \t]*%(?:re)?load_ext[ \t]+florc[ \t]*$\n?", re.M)


class _Record(NamedTuple):
    """A recorded cell: those before it, its text, its run."""

    before: list[str]
    cell: str
    run: str | None


class Cells:
    """The cells of a kernel, as a program."""

    def __init__(self, shell: Any):
        self._shell = shell
        self._records: list[_Record] = []
        self._failed: set[int] = set()
        self._folder: str = getattr(shell, "starting_dir", os.getcwd())
        """Where the kernel began: cells may have gone elsewhere, and do so again."""
        shell.events.register("post_run_cell", self._ran)

    def _ran(self, result: Any) -> None:
        if not result.success and result.execution_count is not None:
            self._failed.add(result.execution_count)

    def magic(self, line: str, cell: str) -> None:
        """`%%florc record [OPTIONS]` or `%%florc replay [OPTIONS]`. Raises UsageError where florc ends with an error."""
        from IPython.core.error import UsageError

        words = shlex.split(line)
        if not words or words[0] not in _COMMANDS:
            raise UsageError(f"%%florc is followed by {' or '.join(_COMMANDS)}: %%florc record")
        if words[0] == "record":
            before = self._before()
            code, run = self._run(words, [*before, cell])
            self._records.append(_Record(before, cell, run))
        else:
            known = [record for record in self._records if record.run is not None]
            if not known:
                raise UsageError("there is nothing to replay yet: begin the cell with %%florc record")
            # the cell that it was made of, if it was not recorded last
            record = max(reversed(known), key=lambda one: SequenceMatcher(None, one.cell, cell, autojunk=False).ratio())
            code, _ = self._run([*words, str(record.run)], [*record.before, cell])
        if code:
            raise UsageError(f"florc {words[0]} ended with exit code {code}")

    def _before(self) -> list[str]:
        """What was typed so far and did not fail, but for what speaks to florc. The last one is the cell at hand."""
        typed = list(self._shell.history_manager.input_hist_raw)
        whole = [text for at, text in enumerate(typed[1:-1], 1) if at not in self._failed]
        kept = [text for text in whole if not text.lstrip().startswith("%%florc")]
        left_out = sorted(self._failed & set(range(1, len(typed) - 1)))
        if left_out:
            print(f"florc: cells that failed are left out: {', '.join(f'In [{number}]' for number in left_out)}")
        return [_OWN.sub("", text) for text in kept]

    def _run(self, words: list[str], cells: list[str]) -> tuple[int, str | None]:
        """Run florc on a notebook of these cells, and show what it prints as it comes: its exit code, and the run that it
        recorded. Ctrl-C reaches it, and it ends as it does in a shell."""
        path = self._path()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_notebook(cells), file, indent=1, ensure_ascii=False)
        command, run = [sys.executable, "-u", "-m", "florc", *words, path], None
        with subprocess.Popen(
            command, cwd=self._folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as child:
            assert child.stdout is not None
            try:
                for line in child.stdout:
                    print(line, end="")
                    found = re.match(r"florc: recorded (\S+?)[:,]", line)
                    run = found[1] if found else run
            except KeyboardInterrupt:
                try:
                    child.wait(_PATIENCE_S)  # where the whole group was interrupted
                except subprocess.TimeoutExpired:
                    child.send_signal(signal.SIGINT)
                print(child.stdout.read(), end="")  # it says what it kept
                raise
        return child.returncode, run

    def _path(self) -> str:
        """Where the notebook of this kernel is."""
        for number in itertools.count(1):
            path = os.path.join(self._folder, NAME.format("" if number == 1 else f"_{number}"))
            if not os.path.exists(path) or _kernel_of(path) == os.getpid():
                return path
        raise AssertionError("a name is always found")


def _kernel_of(path: str) -> int | None:
    """The kernel that wrote a notebook; this one, if that has ended. None for a notebook that no kernel wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            kernel: Any = json.load(file)["metadata"]["florc"]["kernel"]
        os.kill(int(kernel), 0)
    except ProcessLookupError:
        return os.getpid()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return int(kernel)


def _notebook(cells: list[str]) -> dict[str, Any]:
    kept: list[dict[str, Any]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text.splitlines(keepends=True)}
        for text in cells
    ]
    about: dict[str, Any] = {
        "florc": {"kernel": os.getpid()},
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    }
    return {"cells": kept, "metadata": about, "nbformat": 4, "nbformat_minor": 4}


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext florc` calls."""
    shell.register_magic_function(Cells(shell).magic, "cell", "florc")
