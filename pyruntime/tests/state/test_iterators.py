"""Iterators that a state holds: where they are cannot be put back."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from florc import state
from florc.state.iterators import is_under_way


def numbers() -> Any:
    yield from (1, 2, 3)


KINDS: dict[str, Callable[[], Any]] = {
    "generator": numbers,
    "list": lambda: iter([1, 2, 3]),
    "text": lambda: iter("abc"),
    "enumerate": lambda: enumerate([1, 2, 3]),
    "zip": lambda: zip([1, 2, 3], "abc"),
    "map": lambda: map(str, [1, 2, 3]),
    "filter": lambda: filter(None, [1, 2, 3]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_only_an_iterator_that_has_moved_and_can_move_is_under_way(kind: str) -> None:
    iterator = KINDS[kind]()
    assert not is_under_way(iterator)
    next(iterator)
    assert is_under_way(iterator)
    with pytest.raises(state.Unsupported, match=r"streams\['a'\]: .* cannot be restored"):
        state.encode({"streams": {"a": iterator}})
    list(iterator)
    assert not is_under_way(iterator)
    state.encode({"streams": {"a": iterator}})


def test_what_does_not_tell_is_taken_to_be_under_way() -> None:
    iterator = iter(range(3))  # from Python 3.12 on, only what is left of the range is known
    next(iterator)
    assert is_under_way(iterator)
    assert is_under_way(itertools.count()) and is_under_way(itertools.cycle([1])) and is_under_way(iter({1: 2}))


def test_other_objects_are_not() -> None:
    assert not any(map(is_under_way, ([1], "a", 1, None, open, numbers, range(3))))


def test_the_iterator_of_a_data_loader() -> None:
    data = pytest.importorskip("torch").utils.data
    iterator = iter(data.DataLoader(list(range(4)), batch_size=2))
    assert not is_under_way(iterator)
    next(iterator)
    assert is_under_way(iterator)
    next(iterator)
    assert not is_under_way(iterator)
