"""The page of `florc ui` for runs that are more than one script in one process: notebooks, and runs of several ranks."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import pages
import pytest
from launched import MEETING, free_port, told
from page_of_runs import Page, driver, said, served, until, values
from test_ui_browser import Browser
from workshop import Workshop

CELLS = (
    "import random\n\n\nclass Model:\n    weights = [0.0] * 50\n\n    def step(self):\n"
    "        self.weights = [weight + 0.01 * random.random() for weight in self.weights]",
    "random.seed(0)\nmodel = Model()\nfor epoch in range(4):\n    for step in range(20):\n        model.step()\n"
    '    print("epoch", epoch, "loss", round(sum(model.weights), 4))',
    "round(max(model.weights), 4)",
)
RANKS = """
import time
from meeting import add_up, rank

value = rank + 1.0
for epoch in range(4):
    for step in range(5):
        value = add_up(value * 0.5 + rank)
        time.sleep(0.001)
    print("epoch", epoch, "value", value + rank)
"""
LAST = 9
"""The line of its last statement."""


def _notebook(workshop: Workshop, *cells: str) -> None:
    whole = pages.notebook(*cells)
    heading = {"cell_type": "markdown", "id": "h", "metadata": {}, "source": ["# A *training*\n"]}
    workshop.write("train.ipynb", json.dumps({**whole, "cells": [heading, *whole["cells"]]}))


def _recorded_notebook(workshop: Workshop) -> None:
    _notebook(workshop, *CELLS)
    done = workshop.run(sys.executable, "-m", "florc", "record", "--checkpoint", "every", "train.ipynb")
    assert done.code == 0, done


def _truth(workshop: Workshop, expression: str) -> list[float]:
    """What a plain run with a statement at the end of the loop prints."""
    text = "\n".join(CELLS[:2]) + f"\n    print('P', {expression})\n"
    return [float(line.split()[1]) for line in workshop.run(sys.executable, "-c", text).out.splitlines() if line.startswith("P ")]


def _recorded_ranks(workshop: Workshop, text: str = RANKS) -> None:
    workshop.write("meeting.py", MEETING)
    workshop.write("train.py", text)
    port = free_port()
    command = ("env", *(f"{name}={value}" for name, value in told(0, 2, port).items()))
    other = ("env", *(f"{name}={value}" for name, value in told(1, 2, port).items()))
    words = (sys.executable, "-m", "florc", "record", "--checkpoint", "every", "train.py")
    processes = [workshop.start(*front, *words) for front in (command, other)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in processes]
    assert [code for _, code in ended] == [0, 0], ended


def _rows(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for event in events for row in event.get("values", ())]


# -- notebooks ---------------------------------------------------------------------------------------------------------


def test_a_line_of_a_cell_is_asked(workshop: Workshop) -> None:
    _recorded_notebook(workshop)
    truth = _truth(workshop, "max(model.weights)")
    with served(workshop) as page:
        run = page.only_run()
        question = {"run": run, "file": "2", "line": 6, "expression": "max(model.weights)"}
        found = page.post("api/forecast", question).json
        assert [block["what"].startswith("restored from 4 checkpoints") for block in found["blocks"] if block["block"] == "L2"]
        events = page.ask(**question)
        assert values(events, "max(model.weights)") == truth and len(truth) == 4
        assert {row["at"] for row in _rows(events)} == {"cell 2, line 6"} and "@@ cell 2, line 6 @@" in said(events)
        (end,) = [event["end"] for event in events if "end" in event]
        assert (end["verdict"], end["skipped"]) == ("exact", 4)
        # what a cell ends with, and a loop that is followed by another cell
        assert values(page.ask(run=run, file="3", line=1, expression="epoch + 1"), "epoch + 1") == [4]
        behind = page.ask(run=run, kind="after-loop", variable="epoch", expression="epoch + 2")
        assert values(behind, "epoch + 2") == [5] and "exact" in said(behind)
        begun = time.perf_counter()
        assert values(page.ask(run=run, file="2", line=6, expression="epoch * 3"), "epoch * 3") == [0, 3, 6, 9]
        assert time.perf_counter() - begun < 1.0  # the imports are done, and all blocks restored
        (file,) = page.get(f"api/source?run={run}").json["files"]
        asked = {(found["name"], file["lines"][found["line"] - 1].split("(")[0].strip()) for found in file["asked"]}
        assert {("max(model.weights)", "print"), ("epoch + 1", "round"), ("epoch * 3", "print")} <= asked, asked


def test_the_source_of_a_notebook_has_its_cells(workshop: Workshop) -> None:
    _recorded_notebook(workshop)
    with served(workshop) as page:
        run = page.only_run()
        (file,) = page.get(f"api/source?run={run}").json["files"]
        assert (file["state"], file["added"], file["removed"]) == ("unchanged", [], [])
        inside = [head for head, after in zip(file["cells"], [*file["cells"][1:], len(file["lines"]) + 2])]
        cells = [*file["cells"], len(file["lines"]) + 2]
        held = ["\n".join(file["lines"][head : after - 2]) for head, after in zip(cells, cells[1:])]
        assert held == list(CELLS) and len(inside) == 3
        panels = {panel["name"]: panel for panel in page.get(f"api/curves?run={run}").json["panels"]}
        loss, shown = panels["loss"], panels["max(model.weights)"]
        assert (loss["at"], shown["at"]) == ("cell 2, line 6", "cell 3, line 1")
        assert file["lines"][loss["line"] - 1].startswith("    print(") and file["lines"][shown["line"] - 1] == CELLS[2]
        lanes = {lane["header"]: lane["at"] for lane in page.get(f"api/timeline?run={run}").json["lanes"]}
        assert lanes == {"for epoch in range(4)": "cell 2, line 3", "for step in range(20)": "cell 2, line 4"}


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ({"line": 6}, "--at 6: a line of which cell? CELL:LINE, such as --at 1:6; cells are counted from 1 [F101]"),
        ({"line": 7, "file": "2"}, "--at 2:7: cell 2 has 6 lines [F101]"),
        ({"line": 1, "file": "4"}, "--at 4:1: the notebook has 3 code cells [F101]"),
        (
            {"line": 2, "file": "1"},
            "train.ipynb, cell 1, line 2: no statement is in this line; the next statement is in cell 1, line 4",
        ),
    ],
)
def test_a_line_that_is_none_of_a_cell_is_refused(workshop: Workshop, question: dict[str, Any], why: str) -> None:
    _recorded_notebook(workshop)
    with served(workshop) as page:
        run = page.only_run()
        assert page.post("api/forecast", {"run": run, "expression": "1", **question}).json["error"].startswith(why)
        events = page.ask(run=run, expression="1", **question)
        assert why in said(events) and events[-1]["done"] == 2


def test_a_notebook_that_changed_is_asked_as_it_was_or_replayed_as_it_is(workshop: Workshop) -> None:
    _recorded_notebook(workshop)
    added = CELLS[1] + '\n    print("PROBE", max(model.weights))'
    _notebook(workshop, "# a cell more", CELLS[0], added, CELLS[2])
    with served(workshop) as page:
        run = page.only_run()
        (file,) = page.get(f"api/source?run={run}").json["files"]
        texts = [text for found in file["added"] for text in found["texts"]]
        assert file["state"] == "changed" and file["removed"] == [] and '    print("PROBE", max(model.weights))' in texts
        events = page.ask(run=run, file="2", line=6, expression="step")
        assert values(events, "step") == [19] * 4 and "exact" in said(events), events
        events = page.ask(run=run, present=True)
        assert values(events, "PROBE") == _truth(workshop, "max(model.weights)"), events
        assert {row["at"] for row in _rows(events)} == {"cell 3, line 7"}
        _notebook(workshop, "this is no Python (")
        assert values(page.ask(run=run, file="2", line=6, expression="step + 1"), "step + 1") == [20] * 4


# -- several ranks -----------------------------------------------------------------------------------------------------


def test_each_rank_has_its_values_once(workshop: Workshop) -> None:
    _recorded_ranks(workshop)
    with served(workshop) as page:
        run = page.only_run()
        (panel,) = [panel for panel in page.get(f"api/curves?run={run}").json["panels"] if panel["name"] == "value"]
        assert [curve["label"] for curve in panel["curves"]] == ["value rank 0", "value rank 1"]
        events = page.ask(run=run, line=LAST, expression="value - rank")
        (end,) = [event["end"] for event in events if "end" in event]
        assert (end["verdict"], events[-1]["done"]) == ("exact", 0), events
        rows = [row for row in page.get(f"api/logs?run={run}").json if row["name"] == "value - rank"]
        assert [(row["rank"], row["context"]) for row in rows] == [(rank, {"epoch": at}) for rank in (0, 1) for at in range(4)]
        (file,) = page.get(f"api/source?run={run}").json["files"][:1]
        assert [found["values"] for found in file["asked"]] == [8]
        assert len(page.get(f"api/show?run={run}").json["asked"]) == 1
        first, second = (page.get(f"api/timeline?run={run}&rank={rank}").json for rank in (0, 1))
        assert (first["rank"], second["rank"], first["ranks"]) == (0, 1, 2)
        assert first["lanes"][0]["bars"] != second["lanes"][0]["bars"] and first["lanes"][0]["count"] == 4
        # the commands say the same
        logged = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl").out.splitlines()]
        assert logged == page.get(f"api/logs?run={run}").json and {row["rank"] for row in logged} == {0, 1}


def test_ranks_are_asked_what_was_recorded(workshop: Workshop) -> None:
    _recorded_ranks(workshop)
    (workshop.path / "train.py").write_text("# another line\n" + RANKS.lstrip("\n") + '    print("PROBE", epoch)\n')
    with served(workshop) as page:
        run = page.only_run()
        events = page.ask(run=run, line=LAST, expression="step + rank")
        assert "exact" in said(events), events
        rows = [row for row in page.get(f"api/logs?run={run}").json if row["name"] == "step + rank"]
        assert [row["value"] for row in rows] == [4, 4, 4, 4, 5, 5, 5, 5]


SPAWNS = """
import torch
import torch.multiprocessing as mp

def train(rank):
    torch.manual_seed(rank)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(6, 4, 8)
    for epoch in range(3):
        for batch in data:
            loss = model(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("loss", loss.item())

if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
    print("after", 1)
"""
NORM = "model.weight.norm().item()"


def test_ranks_that_the_script_starts_are_shown_and_asked(workshop: Workshop) -> None:
    pytest.importorskip("torch")
    # in one piece: the ranks write into one pipe
    line = f'f"P {{rank}} {{epoch}} {{{NORM}}} {{loss.item()}}\\n"'
    probed = SPAWNS.replace('        print("loss"', f'        print({line}, end="", flush=True)\n        print("loss"')
    workshop.write("train.py", probed)
    plain = [line.split() for line in workshop.run(sys.executable, "train.py").out.splitlines() if line.startswith("P ")]
    truth = {(int(rank), int(epoch)): (float(norm), float(loss)) for _, rank, epoch, norm, loss in plain}
    assert len(truth) == 6
    workshop.write("train.py", SPAWNS)
    done = workshop.run(sys.executable, "-m", "florc", "record", "--checkpoint", "every", "train.py")
    assert done.code == 0, done
    with served(workshop) as page:
        run = page.only_run()
        panels = {panel["name"]: panel for panel in page.get(f"api/curves?run={run}").json["panels"]}
        assert panels["loss"]["axis"] == "epoch"
        assert [(curve["label"], curve["y"]) for curve in panels["loss"]["curves"]] == [
            (f"loss rank {rank}", [truth[rank, at][1] for at in range(3)]) for rank in (0, 1)
        ]
        described = page.get(f"api/show?run={run}").json
        assert described["spawned"] == 2 and [loop["iterations"] for loop in described["loops"]] == [3, 18]
        found = page.get(f"api/timeline?run={run}&rank=1").json
        assert (found["ranks"], found["rank"]) == (2, 1)
        assert {(lane["at"], lane["count"]) for lane in found["lanes"] if lane["kind"] == "iteration"} >= {("line 9", 3)}
        (file,) = page.get(f"api/source?run={run}").json["files"]
        assert [(loop["line"], loop["checkpoints"] > 0) for loop in file["loops"]] == [(9, True), (10, True)]
        forecast = page.post("api/forecast", {"run": run, "line": 15, "expression": NORM}).json
        assert forecast["blocks"] == [] and "ranks" in forecast["note"]
        events = page.ask(run=run, line=15, expression=NORM)
        assert events[-1]["done"] == 0 and "exact" in said(events), events
        rows = [row for row in page.get(f"api/logs?run={run}").json if row["name"] == NORM]
        assert [(row["rank"], row["context"], row["value"]) for row in rows] == [
            (rank, {"epoch": at}, truth[rank, at][0]) for rank in (0, 1) for at in range(3)
        ]


# -- in the browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = driver()
    try:
        yield Browser(chromium)
    finally:
        chromium.quit()


def _asked_at(browser: Browser, row: int, expression: str) -> str:
    """At the line of the source that is the so many-th which can be chosen."""
    browser.js("document.activeElement.blur()")
    browser.keys("s", "\ue011", *["\ue015"] * (row - 1), "\ue007")
    browser.js("document.getElementById('expression').select()")
    browser.keys(expression)
    until(lambda: browser.text("forecast").startswith(("About", "Its cost")))
    browser.keys("\ue007")
    return browser.verdict()


def _whole_way(page: Page, browser: Browser) -> None:
    browser.open(page)
    assert browser.js("return document.querySelectorAll('#timeline .bar').length") > 4
    assert browser.complaints() == []


def test_a_notebook_in_the_browser(browser: Browser, workshop: Workshop) -> None:
    _recorded_notebook(workshop)
    with served(workshop) as page:
        _whole_way(page, browser)
        heads = browser.js("return [...document.querySelectorAll('#source .line.cell')].map((one) => one.textContent)")
        assert heads == ["cell 1", "cell 2", "cell 3"] and browser.text("line-name") == "Cell:line"
        assert _asked_at(browser, 8 + 6, "sum(model.weights)").startswith("exact: 4 restored, 0 ran again")
        assert browser.js("return document.getElementById('line').value") == "2:6"
        marked = browser.js("return [...document.querySelectorAll('.line.probed')].map((one) => one.textContent)")
        assert len(marked) == 1 and marked[0].startswith("6") and "? sum(model.weights): 4 values, exact" in marked[0]
        (rows,) = browser.panel("sum(model.weights)")
        assert [float(value) for _, value in rows] == _truth(workshop, "sum(model.weights)")
        find = (
            "[...document.querySelectorAll('#curves .panel')].find((one) => one.dataset.name === 'loss').querySelector('button')"
        )
        assert browser.js(f"return {find}.textContent") == "cell 2, line 6"
        browser.js(f"{find}.click()")
        assert browser.js("return document.querySelector('#source .line.current code').textContent").startswith("    print(")
        assert browser.complaints() == []


def test_ranks_in_the_browser(browser: Browser, workshop: Workshop) -> None:
    _recorded_ranks(workshop)
    with served(workshop) as page:
        _whole_way(page, browser)
        assert "2 ranks" in browser.text("runs") and "The 2 ranks answer together" in browser.text("ranks")
        assert _asked_at(browser, LAST, "value - rank").startswith("exact: ")
        marks = "return [...document.querySelectorAll('.line.probed .mark')].map((mark) => mark.textContent)"
        until(lambda: browser.js(marks) == ["? value - rank: 8 values, exact"])
        assert len(browser.panel("value - rank")) == 2
        found = browser.js("return [...document.querySelectorAll('#timeline .restored')].length")
        assert found > 0, browser.text("report")
        browser.js("const box = document.getElementById('rank'); box.value = '1'; box.dispatchEvent(new Event('change'))")
        until(lambda: browser.js("return document.getElementById('rank').value") == "1")
        assert browser.complaints() == []
