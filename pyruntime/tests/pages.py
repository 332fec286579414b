"""Pages of docs/, done as a user does them: the files are written, statements added, commands run, and what is shown compared.

A block ```` ```python train.py ```` is that file; of a notebook, cells with `# %%` before each. A block ```` ```diff train.py ```` adds lines
to it, or takes lines from it. Indented lines that begin with a command are run. A block ```` ```text ```` is what the last of them printed:
lines that begin with `florc: ` on standard error, the others on standard output; `…` stands for anything within a line, and alone
in one for any lines. What differs from run to run is masked."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

from workshop import Done, Workshop

DOCS = Path(__file__).resolve().parents[2] / "docs"
_STEP = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$|^    ((?:florc|torchrun|python) [^\n]*?)(?:  +# [^\n]*)?$", re.S | re.M)
_MASKS = (
    (r"\d{8}-\d{6}-[0-9a-f]{6}", "RUN"),
    (r", of which [^,\n]* importing [\w ]+", ""),
    (r" \([\d.]+ times as fast[^)\n]*\)", ""),
    (r", overhead [^,\n]*|, and [^,\n]* to start and to end", ""),
    (r"\b[\d.]+ (?:µs|ms|s|min|h)\b", "TIME"),
    (r"\b[\d.]+ (?:B|kB|MB)\b", "SIZE"),
)


class Step(NamedTuple):
    """`kind`: `command`, or the word of a block, which may have a `name`."""

    kind: str
    name: str
    text: str


def text_of(name: str) -> str:
    """A page of docs/."""
    return (DOCS / name).read_text(encoding="utf-8")


def steps(text: str) -> list[Step]:
    """What there is to do in a page, or a part of one."""
    return [
        Step("command", "", command) if command else Step(kind, name, block) for kind, name, block, command in _STEP.findall(text)
    ]


def rows(text: str) -> list[list[str]]:
    """The cells of each line of the tables in it, without those of headings."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    ruled = {at for at, line in enumerate(lines) if not line.strip("|- ")}
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for at, line in enumerate(lines)
        if not {at, at + 1} & ruled
    ]  # fmt: skip


def masked(text: str) -> str:
    """Without times, sizes and names of runs."""
    for pattern, instead in _MASKS:
        text = re.sub(pattern, instead, text)
    return text


def edited(text: str, diff: str) -> str:
    """The text with the lines of a diff added and taken away; its places are found by the lines around them, of which there is one."""
    for hunk in re.split(r"^@@.*\n", diff, flags=re.M):
        lines = [line or " " for line in hunk.splitlines()]
        before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        assert not lines or text.count(before) == 1, f"there is not one such place: {before}"
        text = text.replace(before, "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-")))
    return text


def cells_of(text: str) -> list[str]:
    """The cells of a notebook that a page shows."""
    return [cell.strip("\n") for cell in re.split(r"^# %%\n", text, flags=re.M) if cell.strip()]


def notebook(*cells: str) -> dict[str, Any]:
    """A notebook of code cells, as Jupyter writes it."""
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    code = [
        {
            "cell_type": "code",
            "id": f"c{at}",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": cell.splitlines(True),
        }
        for at, cell in enumerate(cells)
    ]
    return {"cells": code, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


class Page:
    """A page that is done in a folder."""

    def __init__(self, workshop: Workshop, text: str):
        self.workshop, self.todo = workshop, steps(text)
        self.files: dict[str, str] = {}
        self.done: list[tuple[str, Done]] = []
        """The commands, and what each printed."""
        self.compared = 0
        """How many outputs were."""

    def do(self) -> Page:
        """All of it, in its order."""
        for step in self.todo:
            if step.kind == "command":
                done = self.run(step.text)
                assert done.code == 0, (step.text, done)
                self.done.append((step.text, done))
            elif step.kind == "text":
                self._compare(step.text)
            elif step.name:
                self._write(step)
        return self

    def run(self, command: str) -> Done:
        """One command."""
        first, *words = shlex.split(command)
        if first == "florc":
            return self.workshop.florc(*words)
        # `torchrun` is this module; the script of that name may be another environment's
        module = ["-m", "torch.distributed.run"] if first == "torchrun" else []
        return self.workshop.run(sys.executable, "-u", *module, *words)

    def printed(self, command: str) -> list[str]:
        """The lines on standard output of the first command that begins so."""
        return next(done.out for said, done in self.done if said.startswith(command)).splitlines()

    def _write(self, step: Step) -> None:
        before = self.files.get(step.name, "")
        self.files[step.name] = text = edited(before, step.text) if step.kind == "diff" else step.text
        whole = json.dumps(notebook(*cells_of(text)), indent=1) if step.name.endswith(".ipynb") else text
        (self.workshop.path / step.name).write_text(whole, encoding="utf-8")

    def _compare(self, shown: str) -> None:
        command, done = self.done[-1]
        compare(shown, done, command)
        self.compared += 1


def compare(shown: str, done: Done, command: str) -> None:
    """Whether that is what a command printed."""
    lines = shown.splitlines(True)
    said = [line for line in lines if line.startswith("florc: ")]
    out = [line for line in lines if not line.startswith("florc: ")]
    for expected, found in ((said, done.said), (out, done.out)):
        # a block without lines of florc's shows what is printed, not what florc says of it
        assert expected == [] and expected is said or _fits(expected, found), (command, "".join(expected), found)


def _fits(lines: list[str], found: str) -> bool:
    parts = ["(?:.*\n)*" if line == "…\n" else re.escape(masked(line)).replace("…", ".*") for line in lines]
    return re.fullmatch("".join(parts), masked(found)) is not None
