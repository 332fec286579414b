"""Names of lines that are not one `print` of numbers: of statements in an added `if` or `try`, of two in one line, of rich, of texts that
look like numbers, of a message that stands on several streams."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest
from workshop import Workshop

LOOP = """
w = 0.0
for epoch in range(2):
    for step in range(4):
        w += step
        time.sleep(0.01)
{}    print("loss", w)
"""
TWICE = (
    "import logging, sys, time\n"
    "logging.basicConfig(level=20, handlers=[logging.StreamHandler(), logging.StreamHandler(sys.stdout)])\n"
    "log = logging.getLogger()\n"
)
RICH = "import time\nfrom rich.console import Console\nconsole = Console()\n"
JSON = """
import json, logging, time
class Form(logging.Formatter):
    def format(self, record):
        return json.dumps({"message": record.getMessage(), **getattr(record, "vals", {})})
handler = logging.FileHandler("train.log")
handler.setFormatter(Form())
log = logging.getLogger()
log.addHandler(handler)
"""
CASES: dict[str, tuple[str, list[str], list[dict[str, Any]]]] = {
    "an if": ("import time\n", ["if epoch:", '    print("P", w)'], [{"w": 12.0}]),
    "a loop": ("import time\n", ["for k in range(2):", "    print(f'{k=} v {w * k}')"], [{"k": 0, "v": 0.0}, {"k": 1, "v": 6.0}]),
    "either of two": ("import time\n", ["if epoch:", "    print(w)", "else:", "    print(epoch)"], [{}, {}]),
    "an exception": (
        TWICE,
        ["try:", "    1 / 0", "except ZeroDivisionError:", '    log.exception("bad %s", w)'],
        [{"w": 6.0}, {}, {}],
    ),
    "a dict": (
        "import time\n",
        ['print("parts", {"pixel": w, "log": {"inf": float("inf"), 3: epoch}})', 'print({"w": w, "e": epoch})'],
        [{"parts.pixel": 6.0, "parts.log.inf": float("inf"), "parts.log.3": 0}, {"w": 6.0, "e": 0}],
    ),
    "two in a line": ("import time\n", ["print(w); print(w * 2)"], [{"w": 6.0}, {"w * 2": 12.0}, {"w": 12.0}]),
    "texts": (
        "import time\n",
        ['tag, day = "007", "2026_11"', 'print(tag, day, f"{epoch:03d}")'],
        [{"tag": "007", "day": "2026_11", "epoch": 0}],
    ),
    "two streams": (TWICE, ['log.info("norm %s", w)'], [{"w": 6.0}, {"w": 12.0}]),
    "rich": (RICH, ['console.log("norm", w * 2, epoch)'], [{"norm": 12.0, "epoch": 0}, {"norm": 24.0, "epoch": 1}]),
    "JSON in a file": (
        JSON,
        ['log.warning("say \\"%s\\"", "a", extra={"vals": {"half": w / 2}}) or log.warning("third %s", w / 3)'],
        [{"third": 2.0}, {"third": 4.0}],
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_values_have_the_names_of_the_statement(workshop: Workshop, kind: str) -> None:
    head, added, expected = CASES[kind]
    if kind == "rich" and importlib.util.find_spec("rich") is None:
        pytest.skip("rich is not installed")
    workshop.write("train.py", head + LOOP.format(""))
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", head + LOOP.format("".join(f"    {line}\n" for line in added)))
    done = workshop.florc("replay", "--json", "train.py")
    entries = [json.loads(line) for line in done.out.splitlines()[:-1]]
    assert "florc: exact" in done.said, done
    found = [entry["values"] for entry in entries]
    if kind == "JSON in a file":
        assert len(found) == 4
        found = found[1::2]
    assert found[: len(expected)] == expected, done
    rows = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl").out.splitlines()]
    asked = [(row["name"], row["value"]) for row in rows if row["verdict"] == "exact"]
    assert sorted(asked, key=str) == sorted(
        ((name, value) for entry in entries for name, value in entry["values"].items()), key=str
    )


def test_a_recorded_message_on_two_streams_counts_once(workshop: Workshop) -> None:
    workshop.write("train.py", TWICE + LOOP.format('    log.info("norm %s", w)\n'))
    assert workshop.florc("record", "train.py").code == 0
    rows = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl").out.splitlines()]
    assert [row["value"] for row in rows if row["line"] == 10] == [6.0, 12.0]


def test_what_a_notebook_displays_has_names(workshop: Workshop) -> None:
    def put(*cells: str) -> None:
        code = [{"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell} for cell in cells]
        (workshop.path / "train.ipynb").write_text(
            json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        )

    first = "for epoch in range(3):\n    w = epoch * 1.5\n    print('w', w)"
    put(first)
    assert workshop.florc("record", "train.ipynb").code == 0
    put(first, "half = w / 2\ndisplay(half, w * 2)", "display(epoch, 'a')\nw")
    done = workshop.florc("replay", "--json", "train.ipynb")
    found = [json.loads(line)["values"] for line in done.out.splitlines()[:-1]]
    assert found == [{"half": 1.5}, {"w * 2": 6.0}, {"epoch": 2}, {}, {"w": 3.0}], done


PARTS = """
    print("first", w, end=" "); print("second", w * 2)
    print(w, end=", ")
    print(w + 1, end="")
    print()
    print(epoch, end=""); print(w)
    sys.stdout.write("x %.1f " % w); sys.stdout.write(f"y {w * 3}\\n")
    print("no", w, end=" ", file=sys.stderr); print("alone", w)
"""
OF_PARTS = [{"w": 6.0, "second": 12.0}, {"w": 6.0, "w + 1": 7.0}, {}, {"w": 6.0, "y": 18.0}, {"w": 6.0}]


@pytest.mark.parametrize("is_added", [False, True])
def test_a_line_that_several_statements_write(workshop: Workshop, is_added: bool) -> None:
    """Nothing is named where nothing tells which value is which: `print(epoch, end=""); print(w)`."""
    head = "import sys, time\n"
    workshop.write("train.py", head + LOOP.format("" if is_added else PARTS))
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    first = 9
    if is_added:
        workshop.write("train.py", head + LOOP.format(PARTS))
        done = workshop.florc("replay", "--iterations", "epoch=0", "train.py")
        assert "florc: exact" in done.said, done
    rows = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl", "--where", "epoch = 0").out.splitlines()]
    by_line: dict[int, dict[str, float]] = {}
    for row in rows:
        if row["line"] < first + len(PARTS.strip().splitlines()) and row["name"] != "loss" and row["line"] >= first:
            by_line.setdefault(row["line"], {})[row["name"]] = row["value"]
    of_one_line = {first: OF_PARTS[0], first + 5: OF_PARTS[3], first + 6: OF_PARTS[4]}
    apart = {first + 1: {"w": 6.0}, first + 2: {"w + 1": 7.0}} if is_added else {first + 3: OF_PARTS[1]}
    assert by_line == {**of_one_line, **apart}, rows
