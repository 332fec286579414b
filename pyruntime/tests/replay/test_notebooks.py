"""Notebooks: the cells are one program, answers are named by cell, and a copy of the notebook holds them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pages
import pytest
from workshop import Workshop

MODEL = """\
import random
from helper import scaled


class Model:
    def __init__(self):
        self.weights = [0.0] * 200

    def step(self, batch):
        self.weights = [weight + scaled(batch) * random.random() for weight in self.weights]"""
TRAIN = """\
def train_one(model):
    for batch in range(20):
        model.step(batch)


for epoch in range(4):
    train_one(model)
    print("epoch", epoch, sum(model.weights))"""
CELLS = [MODEL, "random.seed(0)\nmodel = Model()\nmodel.weights[:3]", TRAIN, "print(open('rows.csv').read())\nsum(model.weights)"]
PROBE = '    print("PROBE", epoch, model.weights[0])'
HAS_KERNEL = all(map(importlib.util.find_spec, ("nbclient", "ipykernel")))


def notebook(*cells: str) -> dict[str, Any]:
    """A notebook with a heading and these code cells."""
    heading = {"cell_type": "markdown", "id": "h", "metadata": {}, "source": ["# A *training*\n"]}
    whole = pages.notebook(*cells)
    return {**whole, "cells": [heading, *whole["cells"]]}


def put(workshop: Workshop, *cells: str, name: str = "train.ipynb") -> Path:
    path = workshop.path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(notebook(*cells), indent=1))
    return path


def plain(workshop: Workshop, *cells: str, folder: str = ".") -> str:
    """What the cells print as one script in the notebook's folder; the last expression of each as its `repr`."""
    text = "\n".join(cells).replace("model.weights[:3]", "print(model.weights[:3])")
    text = text.replace("\nsum(model.weights)", "\nprint(sum(model.weights))")
    (workshop.path / folder / "plain_form.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "plain_form.py"], cwd=workshop.path / folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def workshop(workshop: Workshop) -> Workshop:
    for folder in (".", "inner"):
        (workshop.path / folder).mkdir(exist_ok=True)
        workshop.write(f"{folder}/helper.py", "def scaled(batch):\n    return batch / 10\n")
        workshop.write(f"{folder}/rows.csv", f"1,{folder}\n")
    return workshop


@pytest.mark.parametrize("folder", [".", "inner"])
def test_a_probe_in_a_cell_is_answered(workshop: Workshop, folder: str) -> None:
    name = f"{folder}/train.ipynb" if folder != "." else "train.ipynb"
    before = put(workshop, *CELLS, name=name).read_bytes()
    recorded = workshop.florc("record", "--checkpoint", "every", name)
    assert recorded.out == plain(workshop, *CELLS, folder=folder), recorded.said
    assert f"florc replay {name}" in recorded.said
    assert (workshop.path / name).read_bytes() == before
    probed = [*CELLS[:2], f"{TRAIN}\n{PROBE}", CELLS[3]]
    put(workshop, *probed, name=name)
    expected = [line for line in plain(workshop, *probed, folder=folder).splitlines() if "PROBE" in line]
    replayed = workshop.florc("replay", name)
    assert replayed.out.splitlines() == expected
    assert "exact: " in replayed.said and "4 blocks restored" in replayed.said, replayed.said
    *values, _ = map(json.loads, workshop.florc("replay", "--json", name).out.splitlines())
    assert [(value["cell"], value["line"], value["text"]) for value in values] == [(3, 9, text) for text in expected]


def test_an_added_cell_answers_and_the_copy_holds_it(workshop: Workshop) -> None:
    put(workshop, *CELLS)
    workshop.florc("record", "--checkpoint", "every", "train.ipynb")
    probed = [*CELLS[:2], f"{TRAIN}\n{PROBE}", "max(model.weights)", CELLS[3]]
    asked = put(workshop, *probed).read_bytes()
    expected = plain(workshop, *[cell if cell != probed[3] else "print(max(model.weights))" for cell in probed]).splitlines()
    replayed = workshop.florc("replay", "train.ipynb", "--output", "answered.ipynb")
    assert "answered.ipynb has 5 answers in 2 cells" in replayed.said, replayed.said
    assert (replayed.out, (workshop.path / "train.ipynb").read_bytes()) == ("", asked)
    answered = json.loads((workshop.path / "answered.ipynb").read_text())
    outputs = [cell.pop("outputs") for cell in answered["cells"] if cell["cell_type"] == "code"]
    assert [len(found) for found in outputs] == [0, 0, 1, 1, 0]
    texts = ["".join(found[0]["data"]["text/plain"]).splitlines() for found in outputs[2:4]]
    assert texts == [[line for line in expected if "PROBE" in line], [expected[-4]]]
    assert {found[0]["metadata"]["florc"]["verdict"] for found in outputs[2:4]} == {"exact"}
    given = json.loads(asked)
    for cell in given["cells"]:
        cell.pop("outputs", None)
    assert answered == given


REFUSED = {
    "no notebook": ("x = 1", "is no notebook"),
    "old": ('{"worksheets": []}', "no notebook of format 4"),
    "R": (json.dumps({**notebook("x"), "metadata": {"kernelspec": {"language": "R", "name": "ir"}}}), "a notebook of R"),
    "not Python": (json.dumps(notebook("x = 1", "y = 1\nx = = 2")), "cell 2, line 2: invalid syntax"),
    "awaits": (json.dumps(notebook("import asyncio\nawait asyncio.sleep(0)")), "no cell of a recorded notebook awaits"),
    "future": (
        json.dumps(notebook("x = 1", "from __future__ import annotations")),
        "cell 2, line 1: from __future__ imports must occur at the beginning of the file; the cells run",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_run_is_refused_with_its_place(workshop: Workshop, case: str) -> None:
    text, said = REFUSED[case]
    (workshop.path / "train.ipynb").write_text(text)
    done = workshop.florc("record", "train.ipynb")
    assert done.code == 2 and said in done.said and "Traceback" not in done.said + done.err, done


def test_the_copy_is_never_the_notebook_itself(workshop: Workshop) -> None:
    before = put(workshop, *CELLS).read_bytes()
    workshop.florc("record", "train.ipynb")
    for output, said in (("train.ipynb", "the notebook itself"), ("answers.txt", "ends in .ipynb")):
        done = workshop.florc("replay", "train.ipynb", "-o", output)
        assert done.code == 2 and said in done.said
    assert (workshop.path / "train.ipynb").read_bytes() == before
    workshop.write("plain.py", "x = 1\n")
    workshop.florc("record", "plain.py")
    assert "is none" in workshop.florc("replay", "plain.py", "-o", "answers.ipynb").said


def test_a_traceback_shows_lines_of_the_cell(workshop: Workshop) -> None:
    put(workshop, "def broken(x):\n    return 1 / x", "y = 5\nbroken(0)")
    done = workshop.florc("record", "train.ipynb")
    assert done.code == 1 and "cell 1, line 2, in broken\n    return 1 / x" in done.err and "cell 2, line 2" in done.err
    assert "displayhook" not in done.err, done.err


def test_what_a_cell_ends_with_is_shown(workshop: Workshop) -> None:
    put(
        workshop,
        "1 + 1",
        "'é' * 2",
        "None",
        "x = 3\nx;",
        "(x,\n 4)",
        "print(x)",
        "display('a', 2)",
        "[x\n for x in range(2)]  # why",
    )
    assert workshop.florc("record", "train.ipynb").out == "2\n'éé'\n(3, 4)\n3\n'a'\n2\n[0, 1]\n"


def test_a_line_below_what_a_cell_ended_with_is_an_answer(workshop: Workshop) -> None:
    """The value that was shown there is not shown any more, and nothing else has changed."""
    cells = [
        MODEL,
        "random.seed(0)\nmodel = Model()",
        "def last():\n    print('told')\n    return model.weights[:2], 'x'\n\n\nlast()",
    ]
    put(workshop, *cells, "len(model.weights),")
    assert workshop.florc("record", "train.ipynb").out == "told\n([0.0, 0.0], 'x')\n(200,)\n"
    put(workshop, *cells[:2], cells[2] + '\nprint("P", 1)', "len(model.weights),", "'P', model.weights[0],")
    replayed = workshop.florc("replay", "train.ipynb")
    assert replayed.out == "P 1\n('P', 0.0)\n" and "exact: " in replayed.said, replayed


def test_where_an_object_lies_is_no_difference(workshop: Workshop) -> None:
    put(workshop, "class A:\n    pass\n\n\nA()", "x = 1")
    workshop.florc("record", "train.ipynb")
    put(workshop, "class A:\n    pass\n\n\nA()", "x = 1\nprint('P')")
    replayed = workshop.florc("replay", "train.ipynb")
    assert replayed.out == "P\n" and "exact: 1 line" in replayed.said.replace("recorded ", ""), replayed


def test_a_copy_that_cannot_be_written_is_refused_before_the_replay(workshop: Workshop) -> None:
    put(workshop, "x = 1")
    workshop.florc("record", "train.ipynb")
    done = workshop.florc("replay", "train.ipynb", "-o", "nowhere/answered.ipynb")
    assert done.code == 2 and "cannot write nowhere/answered.ipynb" in done.said and "Traceback" not in done.err + done.said


def test_a_name_of_florcs_is_free_for_the_cells(workshop: Workshop) -> None:
    put(workshop, "displayhook = 5\ndisplayhook", "display = 7\ndisplay")
    assert workshop.florc("record", "train.ipynb").out == "5\n7\n"


def test_what_looks_like_the_line_before_a_cell_is_none(workshop: Workshop) -> None:
    cells = ["# %% cell 2, 1 lines\n'a\\x0cb'", "x = '\x0c'\nx", "3"]
    put(workshop, *cells)
    assert workshop.florc("record", "train.ipynb").out == "'a\\x0cb'\n'\\x0c'\n3\n"
    put(workshop, *cells, "print('P')")
    [value, told] = map(json.loads, workshop.florc("replay", "--json", "train.ipynb").out.splitlines())
    assert (value["cell"], value["line"], value["text"], told["verdict"]) == (4, 1, "P", "exact")


def test_cells_that_no_runner_runs_are_left_out(workshop: Workshop) -> None:
    there = notebook("print(1)", "print(2)", "print(3)")
    there["cells"][2]["metadata"]["tags"] = ["skip-execution"]
    (workshop.path / "train.ipynb").write_text(json.dumps(there))
    assert workshop.florc("record", "train.ipynb").out == "1\n3\n"


def test_percent_scripts_work_as_they_are(workshop: Workshop) -> None:
    script = "# %% [markdown]\n# A *training*\n" + "".join(f"# %%\n{cell}\n" for cell in CELLS)
    (workshop.path / "train.py").write_text(script)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    (workshop.path / "train.py").write_text(script.replace("# %%\nprint(open", f"{PROBE}\n# %%\nprint(open"))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.count("PROBE") == 4 and "4 blocks restored" in replayed.said and "exact: " in replayed.said


MAGICS = [
    "%load_ext autoreload\n%autoreload 2",
    "import sys\n%matplotlib inline\n!echo from the shell",
    "%%time\ntotal = 0\nfor step in range(5):\n    total += step\n    print('step', step, total)",
    "found = !echo listed\nprint(found[0])",
    "%%capture hidden\nprint('not shown')",
    "print(hidden.stdout, end='')\n{'a': list(range(40)), 'b': total}",
]


@pytest.mark.skipif(not HAS_KERNEL, reason="compares with a kernel of Jupyter")
def test_magics_and_shell_lines_are_those_of_a_kernel(workshop: Workshop) -> None:
    import nbclient
    import nbformat

    put(workshop, *MAGICS)
    truth = nbclient.NotebookClient(
        nbformat.reads(json.dumps(notebook(*MAGICS)), as_version=4), resources={"metadata": {"path": str(workshop.path)}}
    ).execute()
    texts = []
    for cell in truth["cells"]:
        for shown in cell.get("outputs", []):
            texts.append(shown.get("text") or shown["data"]["text/plain"] + "\n")
    expected = [line for line in "".join(texts).splitlines() if not line.startswith(("CPU times", "Wall time"))]
    recorded = workshop.florc("record", "train.ipynb")
    assert recorded.out.splitlines() == expected, recorded
    put(workshop, *MAGICS[:2], MAGICS[2] + "\n    print('PROBE', step * 2)", *MAGICS[3:])
    replayed = workshop.florc("replay", "train.ipynb")
    assert replayed.out.splitlines() == [f"PROBE {2 * step}" for step in range(5)] and "exact: " in replayed.said, replayed


def kernel(workshop: Workshop, *cells: str) -> list[str]:
    """What cells print in a kernel of Jupyter; one that fails does not end it."""
    import nbclient
    import nbformat

    ran = nbclient.NotebookClient(
        nbformat.reads(json.dumps(notebook(*cells)), as_version=4),
        resources={"metadata": {"path": str(workshop.path)}},
        allow_errors=True,
    ).execute()
    return ["".join(shown.get("text", "") for shown in cell["outputs"]) for cell in ran["cells"][1:]]


@pytest.mark.skipif(not HAS_KERNEL, reason="runs a kernel of Jupyter")
def test_a_cell_of_a_kernel_is_recorded_and_asked(workshop: Workshop) -> None:
    own = workshop.write("florc_cells.ipynb", "mine")
    cells = [
        "%load_ext florc\nimport os",
        "os.makedirs('sub', exist_ok=True)",
        "%cd sub",
        "os.chdir(os.path.join(os.getcwd(), '..'))",
        "1 / 0",
        MODEL,
        CELLS[1],
        f"%%florc record --checkpoint every\n{TRAIN}",
        "%%florc record\nmodel.step(3)\nprint('other', model.weights[0])",
        f"%%florc replay\n{TRAIN}\n{PROBE}",
    ]
    *_, recorded, _, replayed = kernel(workshop, *cells)
    expected = plain(workshop, MODEL, CELLS[1], f"{TRAIN}\n{PROBE}").splitlines()
    assert "cells that failed are left out: In [5]" in recorded
    assert [line for line in recorded.splitlines() if line.startswith("epoch")] == [line for line in expected if "epoch" in line]
    assert [line for line in replayed.splitlines() if "PROBE" in line] == [line for line in expected if "PROBE" in line]
    assert "exact: " in replayed and "4 blocks restored" in replayed
    assert own.read_text() == "mine" and not (workshop.path / "sub" / "sub").exists()
