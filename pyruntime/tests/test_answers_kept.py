"""No value is lost or cut without a word: answers to several places, large numbers, texts in several lines, names that SQLite has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from workshop import Workshop

LOOP = """
import time
x = 0
def add(n):
    global x
    x += n
for epoch in range(2):
    for step in range(3):
        add(epoch)
    x = x * 10
    print("done", epoch)
"""


def rows(workshop: Workshop, *words: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in workshop.florc("logs", "--json", *words).out.split("\n") if line]


def test_answers_at_two_places_stand_beside_each_other(workshop: Workshop) -> None:
    workshop.write("train.py", LOOP)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    for line in ("8", "9"):
        assert workshop.florc("ask", "train.py", "--at", line, "x").code == 0
    found = [row["value"] for row in rows(workshop, "train.py", "x") if row["verdict"] == "exact"]
    assert sorted(found) == sorted([0, 0, 0, 1, 2, 3, 0, 30]), found
    assert workshop.florc("ask", "train.py", "--at", "9", "x").code == 0
    again = [row["value"] for row in rows(workshop, "train.py", "x") if row["verdict"] == "exact"]
    assert sorted(again) == sorted(found), "the same question again takes the place of the first"


VALUES = """
x = 0
m, l, r, u, k = "3\\n4", [[1.0, 2.0], [3.0, 4.0]], "a\\rb", "a\\u2028b", 5
e, d, f, big, huge = "1e5", "\\u0663", 1e5, 2 ** 63, 10 ** 400
"""


@pytest.mark.parametrize(
    ("printed", "values"),
    [
        ('"m", m, "k", k', []),
        ('"m", m', []),
        ('"l", l', [("l", "[[1.0, 2.0], [3.0, 4.0]]")]),
        ('"r", r', [("r", "a\rb")]),
        ('"u", u', [("u", "a\u2028b")]),
        ('k, x, sep=""', []),
        ('f"{k}{x}"', []),
        ('"e", e', [("e", "1e5")]),
        ('"d", d', [("d", "\u0663")]),
        ('"f", f', [("f", 100000.0)]),
        ('"big", big', [("big", 2**63)]),
        ('"huge", huge', [("huge", 10**400)]),
    ],
)
def test_a_value_is_whole_or_has_no_name(workshop: Workshop, printed: str, values: list[tuple[str, Any]]) -> None:
    loop = LOOP.replace("x = 0\n", VALUES.lstrip(), 1)
    script = loop.replace('    print("done", epoch)', f"    print({printed})")
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    assert [(row["name"], row["value"]) for row in rows(workshop)] == values * 2
    if values and isinstance(values[0][1], int):
        assert workshop.florc("runs", "--columns", f"id,{values[0][0]}").code == 0
    workshop.write("train.py", loop)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", script.replace(f"    print({printed})", f'    print({printed})\n    print("done", epoch)'))
    done = workshop.florc("replay", "--json", "train.py")
    asked = [entry for line in done.out.split("\n")[:-2] for entry in json.loads(line)["values"].items()]
    assert asked == values * 2, done
    assert workshop.florc("query", "select count(*) AS n FROM entries", "--json").out.startswith('{"n": '), "SQL holds them"
    assert workshop.florc("logs", "--where", "value > 0").code == 0


def test_variables_of_loops_that_sqlite_has_names_for(workshop: Workshop) -> None:
    workshop.write("train.py", "for rowid in range(5, 2, -1):\n    print('loss', rowid * 2.0)\n")
    assert workshop.florc("record", "train.py").code == 0
    found = [(row["context"], row["value"]) for row in rows(workshop, "--where", "value > 0")]
    assert found == [({"rowid": number}, number * 2.0) for number in (5, 4, 3)]
    assert workshop.florc("query", "SELECT rowid_ AS n FROM entries", "--json").out == '{"n": 5}\n{"n": 4}\n{"n": 3}\n'


@pytest.mark.parametrize("question", ["x) or print(1", "x) or (1", "x], [1", "*[x]"])
def test_a_question_is_one_expression(workshop: Workshop, question: str) -> None:
    workshop.write("train.py", LOOP)
    assert workshop.florc("record", "train.py").code == 0
    done = workshop.florc("ask", "train.py", "--at", "10", question)
    assert done.code == 2 and "it is no expression" in done.said, done
