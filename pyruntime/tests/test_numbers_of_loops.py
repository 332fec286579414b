"""The numbers of a loop's iterations are those that its variable had, however fast it runs."""

from __future__ import annotations

import json

import pytest
from florc.runs.timeline import Followed
from workshop import Workshop

OVER = {
    "range(10, 0, -3)": [10, 7, 4, 1],
    "range(0, 5000)": list(range(5000)),
    "[1, 10, 100, 1000, 5]": [1, 10, 100, 1000, 5],
    "reversed(range(300))": list(range(299, -1, -1)),
    "[7]": [7],
    "[3, 3, 3, 9, 9]": [3, 3, 3, 9, 9],
    "(n * n for n in range(40))": [n * n for n in range(40)],
    "[2, 'a', 5]": [0, 1, 2],
    "[2, 2 ** 70, 5]": [0, 1, 2],
    "(n * n for n in range(1500))": list(range(1500)),
}


@pytest.mark.parametrize("iterable", OVER)
def test_a_row_has_the_number_of_its_iteration(workshop: Workshop, iterable: str) -> None:
    workshop.write("train.py", f"for i in {iterable}:\n    print('v', i)\n")
    assert workshop.florc("record", "train.py").code == 0
    rows = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl").out.splitlines()]
    found = [row["context"]["i"] for row in rows if row["name"] == "i"]
    assert found == OVER[iterable]


def test_a_number_is_found_again() -> None:
    for numbers, count, all_of in (
        ({0: 10, 1: 7}, 4, [10, 7, 4, 1]),
        ({0: 1, 1: 10, 2: 100, 3: 1000, 4: 5}, 5, [1, 10, 100, 1000, 5]),
        ({0: 3, 1: 3, 3: 9}, 5, [3, 3, 3, 9, 9]),
        ({0: 0, 1: 2, 4: 1}, 7, [0, 2, 4, 6, 1, 3, 5]),
    ):
        loop = Followed("L1", {count - 1: 0.0}, numbers, {})
        assert [loop.number_of(index) for index in range(count)] == all_of
        for number in all_of:
            assert loop.index_of(number) == loop.index_of(number, at_least=True) == all_of.index(number), (numbers, number)
        if numbers[1] > numbers[0]:
            for number in (-5, 8, 2000):
                at_least = next((index for index, value in enumerate(all_of) if value >= number), count)
                assert loop.index_of(number, at_least=True) == at_least, (numbers, number)
