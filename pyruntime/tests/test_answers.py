"""Values by name: what log statements printed, taken apart by their source, against what Python prints."""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3

import pytest
from florc.answers.templates import templates
from florc.answers.values import taken_apart, typed
from pages import Page, notebook, text_of
from workshop import Workshop

STATEMENTS = {
    'print("lr", lr, norm.item())': {"lr": 0.1, "norm": 2.5},
    'print(f"lr={lr} loss {loss:.3f}")': {"lr": 0.1, "loss": 1.235},
    'print(f"{lr=}")': {"lr": 0.1},
    'print("epoch", epoch, "acc:", right / total)': {"epoch": 3, "acc": 0.75},
    'print("acc %.2f of %d" % (right / total, total))': {"acc": 0.75, "total": 4},
    'print("{} and {name}".format(lr, name=loss))': {"lr": 0.1, "loss": 1.23456},
    'print("{0}/{1}".format(right, total))': {"right": 3, "total": 4},
    'print(loss, lr, sep=", ")': {"loss": 1.23456, "lr": 0.1},
    'print("a" + str(lr))': {"lr": 0.1},
    'print("done", flag, nothing)': {"flag": True, "nothing": None},
    'print("words", words)': {"words": ["a b", 1]},
    'print(f"{lr:>10} | {loss:8.2f}")': {"lr": 0.1, "loss": 1.23},
    'print("nan", bad, "inf", -worse)': {"bad": math.nan, "inf": -math.inf},
    "print(lr, lr)": {"lr": 0.1, "lr_2": 0.1},
    'print("max([lr, loss])", max([lr, loss]), "abs(lr):", abs(lr))': {"max([lr, loss])": 1.23456, "abs(lr)": 0.1},
    'print("{{x}} {}".format(lr))': {"lr": 0.1},
    'print("100%% of %s" % lr)': {"lr": 0.1},
    'print("%(a)s" % {"a": lr})': {"a": 0.1},
    'print(f"{model.rate} {float(lr)}")': {"model.rate": 7, "lr": 0.1},
    'print("step", step,\n      "loss", loss)': {"step": 80, "loss": 1.23456},
    'print(f"{epoch} loss {norm.item()}")': {"epoch": 3, "loss": 2.5},
    'print(f"{epoch} loss {norm.item():.2f} acc {float(lr)}")': {"epoch": 3, "loss": 2.5, "acc": 0.1},
    'print(f"{epoch} loss {loss} acc {lr}")': {"epoch": 3, "loss": 1.23456, "lr": 0.1},
    'print(f"loss: {norm.item()}, acc={lr}")': {"loss": 2.5, "acc": 0.1},
    'print(f"loss = {model.rate}")': {"loss": 7},
    'print(f"train loss {norm.item()} val loss: {lr}")': {"norm": 2.5, "lr": 0.1},
    'print(f"w{norm.item()}")': {"norm": 2.5},
    'print("%d loss %.2f acc=%s" % (epoch, norm.item(), lr))': {"epoch": 3, "loss": 2.5, "acc": 0.1},
    'print("{} loss {} acc: {}".format(epoch, norm.item(), lr))': {"epoch": 3, "loss": 2.5, "acc": 0.1},
    'print("{e} loss {l:.2f}".format(e=epoch, l=norm.item()))': {"epoch": 3, "loss": 2.5},
    'print("loss", f"{norm.item():.1f}", f"{right / total}")': {"loss": 2.5, "right / total": 0.75},
    'print("loss " + str(norm.item()) + " acc=" + str(lr))': {"loss": 2.5, "acc": 0.1},
    'print("loss:", norm.item(), "lr =", model.rate)': {"loss": 2.5, "lr": 7},
    'print("big", 10 ** 20, 1e-7)': {"big": 10**20, "1e-07": 1e-07},
}


class _Tensor:
    def item(self) -> float:
        return 2.5


class _Model:
    rate = 7


GIVEN = {
    "lr": 0.1,
    "norm": _Tensor(),
    "loss": 1.23456,
    "epoch": 3,
    "right": 3,
    "total": 4,
    "flag": True,
    "nothing": None,
    "words": ["a b", 1],
    "bad": math.nan,
    "worse": math.inf,
    "model": _Model(),
    "step": 80,
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_line_is_taken_apart_as_its_statement_wrote_it(statement: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(statement, dict(GIVEN))
    printed = capsys.readouterr().out.removesuffix("\n")
    (template,) = templates(statement)
    found = taken_apart(template, printed)
    expected = {name: str(value) if isinstance(value, list) else value for name, value in STATEMENTS[statement].items()}
    assert found is not None and list(found) == list(expected)
    for name, value in expected.items():
        is_nan = isinstance(value, float) and math.isnan(value)
        assert type(found[name]) is type(value) and (math.isnan(found[name]) if is_nan else found[name] == value)


@pytest.mark.parametrize("text", ["1", "-2.5", "1e-07", "1e+20", "inf", "nan", "True", "None", "0.1"])
def test_values_keep_their_type(text: str) -> None:
    value = eval(text, {"inf": math.inf, "nan": math.nan})
    assert type(typed(text)) is type(value) and repr(typed(text)) == repr(value)


def test_what_is_no_value_stays_a_text() -> None:
    assert (
        typed("93%") == "93%"
        and typed("1.2.3") == "1.2.3"
        and typed("") == ""
        and typed("tensor([1., 2.])") == "tensor([1., 2.])"
    )
    assert typed("tensor(0.5000, grad_fn=<MulBackward0>)") == 0.5


def test_statements_may_share_a_line() -> None:
    found = templates('print("loss", loss); print(f"{lr}"); print(lr, loss)')
    assert [template.names for template in found] == [["loss"], ["lr"], ["lr", "loss"]]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ('print("a\\nb", lr)', [{}, {"lr": 0.1}]),
        ('print(lr, step, sep="\\n")', [{"lr": 0.1}, {"step": 80}]),
        ('print(f"{lr}\\n\\n{step}\\n")', [{"lr": 0.1}, {}, {"step": 80}, {}]),
        ('print("lr", lr, "\\nstep", step)', [{"lr": 0.1}, {"step": 80}]),
        ('print("""lr %s\n  step %d""" % (lr, step))', [{"lr": 0.1}, {"step": 80}]),
    ],
)
def test_each_line_of_a_statement_has_its_values(statement, expected, capsys: pytest.CaptureFixture[str]) -> None:
    exec(statement, dict(GIVEN))
    (template,) = templates(statement)
    lines = capsys.readouterr().out.splitlines()
    assert [taken_apart(template, line, "", number) or {} for number, line in enumerate(lines)] == expected


EVENT = 'log.info("epoch done", loss=loss, acc=acc, name=name, t=None)'


@pytest.mark.parametrize(
    "printed",
    [
        "2026-11-26 22:09:20 [info     ] epoch done                     acc=0.5 loss=0.25 name='a b' t=None",
        "\x1b[2m22:09\x1b[0m \x1b[1mepoch done \x1b[0m \x1b[36macc\x1b[0m=\x1b[35m0.5\x1b[0m loss=0.25 name='a b' t=None",
        '{"loss": 0.25, "acc": 0.5, "name": "a b", "t": null, "event": "epoch done"}',
        "loss=0.25 acc=0.5 name='a b' t=None event='epoch done'",
    ],
)
def test_what_a_logger_is_told_by_keyword_has_names(printed: str) -> None:
    (template,) = templates(EVENT)
    assert template.names == ["loss", "acc", "name", "t"]
    assert taken_apart(template, printed) == {"loss": 0.25, "acc": 0.5, "name": "a b", "t": None}
    assert taken_apart(template, printed.replace("done", "begun")) is None
    bound = templates('log.bind(acc=acc).info(f"epoch {epoch}", loss=loss, exc_info=True)')
    assert [one.names for one in bound] == [["epoch", "loss", "acc"]]
    assert taken_apart(bound[0], "[info] epoch 3     acc=0.5 loss=tensor([1., 2.])") == {
        "epoch": 3,
        "acc": 0.5,
        "loss": "tensor([1., 2.])",
    }


def test_a_line_that_a_statement_cannot_have_printed_has_no_values() -> None:
    (template,) = templates('print("loss", loss)')
    assert taken_apart(template, "acc 3") is None
    assert templates("print('only text')") == [] and templates("def f(:") == [] and templates("x = 1") == []


SCRIPT = """
    import logging
    import sys
    import time
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    w = 0.0
    for epoch in range(3):
        for step in range(4):
            w += step
            time.sleep(0.001)
        print("epoch", epoch, "w", w)
        logging.info("half %s", w / 2)
    print(f"end {w}")
"""
PROBED = SCRIPT.replace("        logging.info", '        print("twice", w * 2, step)\n        logging.info')


@pytest.fixture
def asked(workshop: Workshop) -> Workshop:
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", PROBED)
    return workshop


def _rows(out: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out)))


def test_what_was_printed_then_and_what_is_asked_now_stand_in_one_table(asked: Workshop) -> None:
    replayed = asked.florc("replay", "--format", "csv", "train.py")
    assert [(row["epoch"], row["name"], row["value"], row["verdict"]) for row in _rows(replayed.out)] == [
        (str(epoch), name, value, "exact")
        for epoch, w in enumerate((6.0, 12.0, 18.0))
        for name, value in (("twice", str(w * 2)), ("step", "3"))
    ]
    asked.florc("replay", "--format", "csv", "train.py")  # the newest answer counts, once
    kept = list(asked.path.glob(".florc/runs/*/asked/*"))
    assert kept and not any(file.stat().st_mode & 0o77 for file in (*kept, kept[0].parent))
    shown = _rows(asked.florc("logs", "train.py", "--format", "csv").out)
    recorded = [(row["epoch"], row["name"], row["value"]) for row in shown if row["verdict"] == "recorded"]
    assert ("1", "w", "12.0") in recorded and ("1", "half", "6.0") in recorded and ("", "w", "18.0") in recorded
    assert len(shown) - len(recorded) == 6
    named = asked.florc("logs", "train.py", "twice", "w", "--where", "epoch >= 1", "--pivot", "--format", "csv")
    assert named.out == "epoch,w,twice\n1,12.0,24.0\n2,18.0,36.0\n", named.said
    lines = [json.loads(line) for line in asked.florc("logs", "half", "--format", "jsonl").out.splitlines()]
    assert [(line["context"], line["value"], line["line"]) for line in lines] == [
        ({"epoch": 0}, 3.0, 11),
        ({"epoch": 1}, 6.0, 11),
        ({"epoch": 2}, 9.0, 11),
    ]


def test_runs_are_asked_in_sql(asked: Workshop) -> None:
    sql = "SELECT name, max(value) AS most FROM entries WHERE epoch IS NOT NULL GROUP BY name ORDER BY name"
    assert asked.florc("query", sql, "--format", "csv").out == "name,most\nepoch,2\nhalf,9.0\nw,18.0\n"
    counted = "SELECT (SELECT count(*) FROM runs) r, (SELECT count(*) FROM iterations WHERE variable = 'epoch') i"
    assert asked.florc("query", counted, "--format", "jsonl").out == '{"r": 1, "i": 3}\n'
    assert asked.florc("query", "SELECT x'00ff' AS a, 2 AS a", "--format", "jsonl").out == '{"a": "00ff", "a_2": 2}\n'
    for wrong in ("SELECT nothing FROM entries", "DELETE FROM entries", "SELECT", "ATTACH 'x' AS y", "CREATE TABLE t (a)"):
        done = asked.florc("query", wrong)
        assert done.code == 2 and done.said.startswith("florc: ") and "Traceback" not in done.err, done.said
    assert not (asked.path / "x").exists()


def test_bad_questions_get_a_sentence(asked: Workshop) -> None:
    for words, said in (
        (["logs", "train.py", "nothing"], "has no values of the name nothing; there are: epoch, half, w"),
        (["logs", "--where", "nothing > 3"], "entries has the columns"),
        (["logs", "-o", "missing/out.csv"], "cannot write missing/out.csv"),
        (["logs", "other.py"], "no recorded run of other.py"),
    ):
        done = asked.florc(*words)
        assert (done.code, done.out) == (2, "") and said in done.said, done.said


def test_a_table_goes_into_a_file(asked: Workshop) -> None:
    asked.florc("logs", "--format", "csv", "-o", "out.csv")
    assert len(_rows((asked.path / "out.csv").read_text())) == 10


def test_the_database_is_not_written_to() -> None:
    from florc.answers.database import Database
    from florc.project.script import Unusable

    made = Database([], [])
    with pytest.raises(Unusable):
        made.ask("INSERT INTO runs (id) VALUES ('x')")
    assert made.ask("SELECT count(*) FROM runs") == (["count(*)"], [(0,)])
    assert sqlite3.sqlite_version_info >= (3, 7)


def test_what_the_documentation_shows_is_what_happens(workshop: Workshop) -> None:
    """Each script, each command and each table of docs/answers.md, in its order."""
    page = Page(workshop, text_of("answers.md").split("## Names")[0]).do()
    assert page.compared == 3 and (workshop.path / "values.csv").read_text().startswith("epoch,name,value,verdict,at\n")


def test_what_a_plain_replay_printed_is_kept_too(asked: Workshop) -> None:
    done = asked.florc("replay", "train.py")
    assert len(done.out.splitlines()) == 3
    logs = _rows(asked.florc("logs", "twice", "--format", "csv").out)
    assert [(row["value"], row["verdict"]) for row in logs] == [("12.0", "exact"), ("24.0", "exact"), ("36.0", "exact")]


def test_values_of_a_notebook_have_names_and_cells(workshop: Workshop) -> None:
    cells = [
        "def more(a, b):\n    return a + b\n\ntotal = 0.0\n",
        "for epoch in range(3):\n    for step in range(4):\n        total = more(total, step)\n    print('loss', total)\n",
    ]
    (workshop.path / "train.ipynb").write_text(json.dumps(notebook(*cells)))
    assert workshop.florc("record", "--checkpoint", "every", "train.ipynb").code == 0
    cells[1] = cells[1].replace("    print(", "    print('twice', total * 2)\n    print(")
    (workshop.path / "train.ipynb").write_text(json.dumps(notebook(*cells)))
    replayed = _rows(workshop.florc("replay", "train.ipynb", "--format", "csv").out)
    expected = [("twice", str(total * 2), "train.ipynb, cell 2, line 4") for total in (6.0, 12.0, 18.0)]
    assert [(row["name"], row["value"], row["at"]) for row in replayed] == expected
    shown = _rows(workshop.florc("logs", "train.ipynb", "--format", "csv").out)
    recorded = [("total", str(total), "train.ipynb, cell 2, line 4") for total in (6.0, 12.0, 18.0)]
    assert [(row["name"], row["value"], row["at"]) for row in shown] == [*recorded, *expected]
    assert json.loads(workshop.florc("logs", "total", "--format", "jsonl").out.splitlines()[0])["cell"] == 2
    assert workshop.florc("query", "SELECT sum(value) FROM entries", "--format", "csv").out == "sum(value)\n108.0\n"
    places = "SELECT DISTINCT 'lines', cell, line FROM lines UNION SELECT DISTINCT 'entries', cell, line FROM entries"
    printed = workshop.florc("query", f"{places} UNION SELECT loop, cell, line FROM loops", "--format", "csv").out
    assert sorted(printed.splitlines()[1:]) == ["L1,2,1", "L2,2,2", "entries,2,4", "lines,2,4"], printed
    assert "L1  train.ipynb, cell 2, line 1  for epoch in range(3)" in workshop.florc("show").out


def test_what_a_cell_shows_at_its_end_has_a_name(workshop: Workshop) -> None:
    cells = [
        "total = 0.0\n",
        "for epoch in range(3):\n    for step in range(4):\n        total += step\n    print('loss', total)\n",
        "half = total / 2\nhalf",
        "(total, total / 3, 'a text')",
        "print('end', total)",
    ]
    (workshop.path / "train.ipynb").write_text(json.dumps(notebook(*cells)))
    recorded = workshop.florc("record", "--checkpoint", "every", "train.ipynb")
    assert recorded.out.splitlines()[3:] == ["9.0", "(18.0, 6.0, 'a text')", "end 18.0"]
    found = _rows(workshop.florc("logs", "train.ipynb", "--format", "csv").out)[3:]
    told = [("half", "9.0", 3, 2), ("total", "18.0", 4, 1), ("total / 3", "6.0", 4, 1), ("total", "18.0", 5, 1)]
    expected = [(name, value, f"train.ipynb, cell {cell}, line {line}") for name, value, cell, line in told]
    assert [(row["name"], row["value"], row["at"]) for row in found] == expected
    cells[0] += "total - 1\n"
    (workshop.path / "train.ipynb").write_text(json.dumps(notebook(*cells)))
    replayed = workshop.florc("replay", "train.ipynb", "--format", "csv")
    assert replayed.out == 'name,value,verdict,at\ntotal - 1,-1.0,exact,"train.ipynb, cell 1, line 2"\n', replayed.out


NO_NUMBERS = """
for epoch in range(5):
    print("loss", [0.5, float("nan"), float("inf"), -float("inf"), -0.0][epoch], "bad", None if epoch else float("nan"))
"""


def test_nan_and_infinities_are_the_same_in_logs_query_and_each_format(workshop: Workshop) -> None:
    workshop.write("train.py", NO_NUMBERS)
    workshop.florc("record", "train.py")
    query = "SELECT epoch, value FROM entries WHERE name = 'loss'"
    told = ["0.5", "nan", "inf", "-inf", "-0.0"]
    for form in ("csv", "table"):
        for words in (["logs", "--format", form, "loss"], ["query", "--format", form, query]):
            lines = workshop.florc(*words).out.replace(",", " ").splitlines()
            at = lines[0].split().index("value")
            assert [line.split()[at] for line in lines[1:]] == told, words
    for form in ("--json", "--format=jsonl"):
        for words in (["logs", form, "loss"], ["query", form, query]):
            rows = [json.loads(line) for line in workshop.florc(*words).out.splitlines()]
            assert [str(row["value"]) for row in rows] == told, words
    assert '"value": NaN' in workshop.florc("query", "--json", query).out


@pytest.mark.parametrize(
    "sql, expected",
    [
        # the order of numbers, and NaN before them, as NULL is
        ("SELECT value FROM entries WHERE name = 'loss' ORDER BY value, epoch", ["nan", "-inf", "-0.0", "0.5", "inf"]),
        ("SELECT value AS v FROM entries WHERE name = 'loss' ORDER BY v DESC LIMIT 5", ["inf", "0.5", "-0.0", "-inf", "nan"]),
        # what is computed of it, and what is not
        ("SELECT round(value * 2) FROM entries WHERE name = 'loss' AND epoch < 2", ["1.0", "nan"]),
        ("SELECT avg(value) FROM entries WHERE name = 'bad'", ["nan"]),
        ("SELECT max(value) FROM entries WHERE name = 'loss' AND epoch < 2", ["0.5"]),
        ("SELECT count(value) FROM entries WHERE name = 'loss'", ["4"]),
        ("SELECT coalesce(value, 9) FROM entries WHERE name = 'loss' AND epoch = 1", ["9"]),
        # no condition holds for it
        ("SELECT value FROM entries WHERE name = 'loss' AND value < 1 ORDER BY value", ["-inf", "-0.0", "0.5"]),
        ("SELECT value FROM entries WHERE name = 'loss' AND value > 0 ORDER BY value", ["0.5", "inf"]),
        # what is empty for another reason stays so
        ("SELECT value FROM entries WHERE name = 'bad' ORDER BY epoch", ["nan", "", "", "", ""]),
        ("SELECT value FROM entries WHERE name = 'bad' ORDER BY epoch DESC", ["", "", "", "", "nan"]),
        ("SELECT lag(value) OVER (ORDER BY epoch) FROM entries WHERE name = 'loss' AND epoch < 3", ["", "0.5", "nan"]),
        ("SELECT name, value, rank FROM entries WHERE epoch = 1 ORDER BY name", ["bad,,", "loss,nan,"]),
        ("SELECT NULL, value, random() FROM entries WHERE epoch < 0", []),
    ],
)
def test_sql_shows_nan_where_an_answer_comes_from_it(workshop: Workshop, sql: str, expected: list[str]) -> None:
    workshop.write("train.py", NO_NUMBERS)
    workshop.florc("record", "train.py")
    found = workshop.florc("query", "--format", "csv", sql)
    assert [line.strip('"') for line in found.out.splitlines()[1:]] == expected, found


@pytest.mark.parametrize(
    "printed, values",
    [
        ('"q", w, loss', {"w": "[0.5   0.25  0.125]", "loss": "0.5"}),
        ("t, loss, nested", {"t": "(1, [2, 3])", "loss": "0.5", "nested": "{'a': [1, 2], 'b': {'c': ()}}"}),
        ('f"{t} {loss}"', {"t": "(1, [2, 3])", "loss": "0.5"}),
        ("loss, name", {}),  # "0.5 conv 1": nobody can tell where the name begins
        ("name, loss", {}),
        ('name, "loss", loss', {"name": "conv 1", "loss": "0.5"}),
        ("quoted, loss", {"quoted": "['a b', 'c d']", "loss": "0.5"}),
        ("empty, loss", {"empty": "[]", "loss": "0.5"}),
    ],
)
def test_values_with_blanks_in_them_do_not_shift_the_others(workshop: Workshop, printed: str, values: dict[str, str]) -> None:
    workshop.write(
        "train.py",
        f"""
        w, t, name, quoted, empty = "[0.5   0.25  0.125]", (1, [2, 3]), "conv 1", ["a b", "c d"], []
        nested = {{"a": [1, 2], "b": {{"c": ()}}}}
        for epoch in range(2):
            loss = 0.5
            print({printed})
        """,
    )
    assert workshop.florc("record", "train.py").code == 0
    rows = [json.loads(line) for line in workshop.florc("logs", "--json").out.splitlines()]
    assert {row["name"]: str(row["value"]) for row in rows if row["context"] == {"epoch": 1} and row["name"]} == values, rows
