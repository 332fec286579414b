"""docs/distributed.md and docs/notebooks.md: their examples, done as a user does them, and what their tables say."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys

import pytest
from pages import Page, cells_of, compare, notebook, rows, steps, text_of
from test_notebooks import HAS_KERNEL, kernel
from test_ranks import ranks
from workshop import Done, Workshop


def test_distributed(workshop: Workshop) -> None:
    text = text_of("distributed.md")
    page = Page(workshop, text).do()
    assert page.compared == 3
    truth = [rank.out.splitlines() for rank in ranks(workshop, 2, "train.py")]
    told = page.printed("florc record")
    assert page.printed("torchrun") == told == [line for line in truth[0] if line.startswith("epoch")]
    assert page.printed("florc replay train.py") == [line for rank in truth for line in rank if line not in told]
    (refused,) = [second for first, second in rows(text) if first == "refused with a sentence"]
    for command in re.findall("`(.*?)`", refused):
        done = page.run(command)
        assert done.code == 2 and "F106" in done.said, (command, done)


def _as_script(*cells: str) -> str:
    """Cells as a script, which shows what each ends with."""
    out = ["import sys"]
    for cell in cells:
        last = ast.parse(cell).body[-1]
        lines = cell.split("\n")
        if isinstance(last, ast.Expr):
            lines[last.lineno - 1 :] = [f"sys.displayhook({ast.unparse(last.value)})"]
        out += lines
    return "\n".join(out)


def test_notebooks(workshop: Workshop) -> None:
    page = Page(workshop, text_of("notebooks.md").split("## In a kernel")[0]).do()
    assert page.compared == 5
    cells = cells_of(page.files["train.ipynb"])
    plain = workshop.run(sys.executable, "-c", _as_script(*cells)).out.splitlines()
    printed, told = page.printed("florc replay train.ipynb"), page.printed("florc record")
    assert printed == [line for line in plain if line not in told]
    asked, answered = (json.loads((workshop.path / f"{name}.ipynb").read_text()) for name in ("train", "answered"))
    put = [output for cell in answered["cells"] for output in cell["outputs"]]
    assert [line for output in put for line in "".join(output["data"]["text/plain"]).splitlines()] == printed
    assert all(output["metadata"]["florc"]["verdict"] == "exact" for output in put)
    for cell in answered["cells"]:
        cell["outputs"] = []
    assert answered == {
        **asked,
        "cells": [{**cell, "source": "".join(cell["source"]).splitlines(True)} for cell in asked["cells"]],
    }


@pytest.mark.skipif(not HAS_KERNEL, reason="runs a kernel of Jupyter: make test-trainers")
def test_notebooks_in_a_kernel(workshop: Workshop) -> None:
    below, shown = (step.text for step in steps(text_of("notebooks.md").split("## In a kernel")[1]))
    cells = cells_of(below)
    lines = kernel(workshop, *cells)[-1].splitlines(True)
    said = "".join(line for line in lines if line.startswith("florc: "))
    compare(shown, Done("".join(line for line in lines if line not in said), "", said, 0), cells[-1])
    recorded, replayed = (cell.partition("\n")[2] for cell in cells[-2:])
    told = kernel(workshop, *cells[1:-2], recorded)[-1].splitlines()
    truth = kernel(workshop, *cells[1:-2], replayed)[-1].splitlines()
    assert [line for line in truth if line not in told] == [line for line in shown.splitlines() if not line.startswith("florc: ")]


HAS_IPYTHON = importlib.util.find_spec("IPython") is not None
ENDED = {
    "the last line of a cell": [(["1 + 1", "x = 3\nx;", "None", "(x,\n 4)"], 0, "2\n(3, 4)\n")],
    "`display(…)`": [(["display('a', 2)"], 0, "'a'\n2\n")],
    "`%matplotlib inline`": [
        (["x = 1", "%load_ext autoreload"], 0, "") if HAS_IPYTHON else (["x = 1", "!ls"], 2, "cell 2 has `!ls`"),
        (["x = !echo a", "print(x[0])"], 0, "a\n") if HAS_IPYTHON else (["x = !echo a"], 2, "cell 1 has `x = !echo a`"),
        (["%%capture c\nprint(1)", "c.stdout"], 0, "'1\\n'\n") if HAS_IPYTHON else (["%%capture c\nprint(1)"], 2, "pip install"),
    ],
    "`%%time`": [(["%%time\nprint('x')"], 0, "x\n")],
    "`pip install x`": [
        (["x = 1", "pip install x"], 2, "cell 2, line 1: invalid syntax; write %pip for IPython's"),
        (["cd data"], 2, "write %cd"),
        (["ls"], 1, "NameError: name 'ls' is not defined"),
    ],
    "`_`": [([cell, f"{name}"], 1, f"name '{name}' is not defined") for cell, name in (("1", "_"), ("2", "In"), ("3", "Out"))],
    "the tag `raises-exception`": [
        (["print(1)", "raises-exception: 1 / 0", "print(2)"], 1, "1\n"),
        (["x = 1", "from __future__ import annotations"], 2, "cell 2, line 1: from __future__ imports"),
    ],
    "`input()`": [
        (["print(input())"], 0, "typed\n"),
        (["x = 1", "import asyncio\nawait asyncio.sleep(0)"], 2, "cell 2, line 2: 'await' outside function"),
    ],
    "cells with the tag `skip-execution`": [(["skip-execution: print(1)", "print(2)"], 0, "2\n")],
}
ELSEWHERE = {"a cell magic that is added or changed", "percent scripts"}
"""Rows of the table that tests of `test_notebooks.py` and the one below have."""


def _with_tags(*cells: str) -> str:
    whole = notebook(*cells)
    for cell in whole["cells"]:
        tag, colon, source = "".join(cell["source"]).partition(
            "-exception: " if "raises" in cell["source"][0] else "-execution: "
        )
        if colon:
            cell["metadata"], cell["source"] = {"tags": [tag + colon[:-2]]}, [source]
    return json.dumps(whole)


def test_each_row_about_notebooks_has_a_test() -> None:
    first = [row[0].split(";")[0].split(",")[0] for row in rows(text_of("notebooks.md").split("## In a kernel")[0])]
    assert set(first) == {*ENDED, *ELSEWHERE}


@pytest.mark.parametrize("row", ENDED)
def test_what_the_table_says_of_cells(workshop: Workshop, row: str) -> None:
    for cells, code, told in ENDED[row]:
        (workshop.path / "train.ipynb").write_text(_with_tags(*cells))
        command = [sys.executable, "-m", "florc", "record", "train.ipynb"]
        done = subprocess.run(
            command, cwd=workshop.path, env=workshop.environment(), input="typed\n", capture_output=True, text=True, timeout=120
        )
        assert done.returncode == code and (done.stdout == told if code == 0 else told in done.stdout + done.stderr), done
        assert "print(2)" not in cells or code == 0 or "2" not in done.stdout
