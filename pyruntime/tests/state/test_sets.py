"""A set that is restored is iterated over as the recorded one was, and goes on as that one would."""

from __future__ import annotations

import itertools
import random
from typing import Any, Callable, Dict

import pytest

from florc.state.sets import Layout, arrange, layout


def churned(draw: random.Random, size: int) -> set:
    made: set = set()
    for _ in range(4 * size):
        word = f"w{draw.randrange(size)}"
        made.discard(word) if draw.random() < 0.4 else made.add(word)
    return made


def mostly_removed(draw: random.Random, size: int) -> set:
    made = set(map(str, range(size)))
    for _ in range(size - size // 10):
        made.discard(str(draw.randrange(size)))
    return made


KINDS: Dict[str, Callable[[random.Random, int], set]] = {
    "at once": lambda draw, size: {f"{draw.random()}" for _ in range(size)},
    "numbers": lambda draw, size: set(draw.sample(range(-size, 10 * size + 9), size)),
    "pairs": lambda draw, size: {(draw.randrange(9), draw.random()) for _ in range(size)},
    "from a set": lambda draw, size: set(set(map(str, range(size)))),
    "churned": churned,
    "mostly removed": mostly_removed,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_element_lies_where_it_did(kind: str) -> None:
    draw, arranged = random.Random(5), 0
    for size in [*range(1, 40), 76, 77, 100, 300, 1000, 6000]:
        was = KINDS[kind](draw, size)
        again: set = set()
        if not arrange(again, list(was), layout(was)):
            continue  # removed and taken in again in a circle: refused
        arranged += 1
        assert list(again) == list(was) and layout(again) == layout(was)
        more = [f"later {draw.random()}" for _ in range(2 * size)]
        assert list(again | set()) == list(was | set())
        for word in more:
            again.add(word)
            was.add(word)
        assert list(again) == list(was)
    assert arranged >= 40


def test_four_words(round_trip: Any) -> None:
    words = {"training_step", "validation_step", "test_step", "predict_step"}
    for order in itertools.permutations(words):
        assert list(round_trip({"words": words}, {"words": set(order)}, nothing=False)["words"]) == list(words)


def test_a_layout_that_cannot_be_is_refused() -> None:
    table, slots, removed = layout({1, 2, 3})
    for wanted in (Layout(table, slots[:2], removed), Layout(table, [5, 6, 7], removed), Layout(table, slots, slots[:1])):
        assert not arrange(set(), [1, 2, 3], wanted)


def test_a_class_derived_from_set() -> None:
    class Words(set):
        __slots__ = ("more",)

    made: Any = Words(map(str, range(100)))
    again: set = set()
    assert arrange(again, list(made), layout(made)) and list(again) == list(made)
