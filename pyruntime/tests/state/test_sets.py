"""A set that is restored is iterated over as the recorded one was, and goes on as that one would."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from florc.state.sets import Layout, arrange, arranged, layout


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


KINDS: dict[str, Callable[[random.Random, int], set]] = {
    "at once": lambda draw, size: {f"{draw.random()}" for _ in range(size)},
    "numbers": lambda draw, size: set(draw.sample(range(-size, 10 * size + 9), size)),
    "pairs": lambda draw, size: {(draw.randrange(9), draw.random()) for _ in range(size)},
    "from a set": lambda draw, size: set(frozenset(map(str, range(size)))),
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


MADE = {
    "of a list": lambda items: frozenset(items),
    "of a set": lambda items: frozenset(set(items)),
    "joined": lambda items: frozenset(items[: len(items) // 2]) | set(items[len(items) // 2 :]),
    "less": lambda items: frozenset(items) - set(items[::3]),
    "common": lambda items: frozenset(items) & frozenset(items[::2]),
    "of a dict": lambda items: frozenset(dict.fromkeys(items)),
    "of a generator": lambda items: frozenset(item for item in items),
    "grown": lambda items: functools.reduce(lambda known, item: known | {item, -item}, items[:99], frozenset()),
}


@pytest.mark.parametrize("count", [0, 1, 3, 5, 10, 18, 20, 76, 290, 300, 305, 1100])
@pytest.mark.parametrize("make", list(MADE.values()), ids=list(MADE))
def test_frozensets_lie_as_they_did(make: Callable[[list], frozenset], count: int) -> None:
    seed = random.Random(count)
    for _ in range(5):
        made = make([seed.randrange(-(10**6), 10**6) for _ in range(count)])
        again = arranged(list(made), layout(made))
        assert again is not None and list(again) == list(made) and layout(again) == layout(made)
