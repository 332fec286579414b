"""Each limit of a survey (`survey/limits.py`), with a change that it still finds and one that it gives up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from florc.survey.limits import LIMITS
from florc.survey.scopes import Reader, Scope
from florc.survey.survey import Survey


class OneFile(Reader):
    """Reads the names of one running function, as if the program had no others."""

    def scopes(self, frame: FrameType, rebound: frozenset[str]) -> list[Scope]:
        return [Scope(dict(frame.f_locals), True, "")]


def change(held: Any, alter: Callable[[], object]) -> str | None:
    """What a survey says of `held` after `alter`. `held` is the only name of the program."""
    frame = _frame_with(held)
    survey = Survey(frame, None, OneFile({__file__}))
    alter()
    return survey.change(frame, None, None)


def is_found_again(wanted: object, held: Any, alter: Callable[[], object]) -> bool:
    """Whether an object that `held` led to is found again after `alter`."""
    frame = _frame_with(held)
    survey = Survey(frame, None, OneFile({__file__}))
    alter()
    again = survey.again(frame)
    return any(again.object(number) is wanted for number in range(LIMITS.objects))


def _frame_with(held: Any) -> FrameType:
    return sys._getframe()


@pytest.mark.parametrize("number, found", [(LIMITS.objects - 1, True), (LIMITS.objects, False)])
def test_so_many_objects_are_compared(number: int, found: bool) -> None:
    lists: list[list[int]] = [[] for _ in range(LIMITS.objects)]
    # in groups: a longer container than `items` is compared in part
    held = [lists[n : n + LIMITS.items] for n in range(0, len(lists), LIMITS.items)]
    looked_at_before = 2 + len(held)  # the names, the list of groups, the groups
    assert (change(held, lambda: lists[number - looked_at_before].append(1)) is not None) == found


@pytest.mark.parametrize("broken, found", [(LIMITS.ways - 1, True), (LIMITS.ways, False)])
def test_an_object_is_found_again_by_one_of_so_many_ways(broken: int, found: bool) -> None:
    shared: list[int] = []
    held = [[shared] for _ in range(LIMITS.ways + 1)]
    assert is_found_again(shared, held, lambda: [way.clear() for way in held[:broken]]) == found


@pytest.mark.parametrize("passes, found", [(LIMITS.passes, True), (LIMITS.passes + 1, False)])
def test_ways_through_objects_that_were_met_later_are_followed_so_often(passes: int, found: bool) -> None:
    # Each object of the chain is met by a short way of its own, which is broken; then only the next one, which was met
    # later, leads to it.
    chain: list[list[Any]] = [[]]
    while len(chain) < passes:
        chain.append([chain[-1]])
    short = [_deep(link, depth) for depth, link in enumerate(chain[:-1])]
    held = [*(outer for outer, _ in short), _deep(chain[-1], passes)[0]]
    assert is_found_again(chain[0], held, lambda: [inner.clear() for _, inner in short]) == found


def _deep(link: list[Any], depth: int) -> tuple[list[Any], list[Any]]:
    """A list that leads to `link` through so many others, and the last of these."""
    inner = outer = [link]
    for _ in range(2 * depth):
        outer = [outer]
    return outer, inner


@pytest.mark.parametrize(
    "place, found",
    [(LIMITS.items // 2 - 1, True), (LIMITS.items // 2, False), (-LIMITS.items // 2 - 1, False), (-LIMITS.items // 2, True)],
)
def test_both_ends_of_a_long_list_are_compared(place: int, found: bool) -> None:
    held = list(range(10 * LIMITS.items))
    assert (change(held, lambda: held.__setitem__(place, -1)) is not None) == found


@pytest.mark.parametrize("count", [LIMITS.items - 1, 10 * LIMITS.items])
def test_a_container_that_grows_is_seen_to(count: int) -> None:
    for held in ([0] * count, dict.fromkeys(range(count)), set(range(count))):
        grow = held.append if isinstance(held, list) else held.add if isinstance(held, set) else held.setdefault
        assert change(held, lambda: grow(-1)) is not None


@pytest.mark.parametrize("size, place, found", [(LIMITS.array_bytes, 1, True), (8 * LIMITS.array_bytes, 1, False)])
def test_of_a_large_array_a_sample_is_compared(size: int, place: int, found: bool) -> None:
    np = pytest.importorskip("numpy")
    held = np.zeros(size, dtype=np.uint8)
    assert (change(held, lambda: held.__setitem__(place, 1)) is not None) == found


def test_a_sample_has_enough_elements() -> None:
    np = pytest.importorskip("numpy")
    held = np.zeros(8 * LIMITS.array_bytes, dtype=np.uint8)
    step = held.size // LIMITS.array_samples
    assert len(range(0, held.size, step)) >= LIMITS.array_samples
    assert change(held, lambda: held.__setitem__(step, 1)) is not None


@pytest.mark.parametrize("length, told", [(LIMITS.value_characters - 2, True), (LIMITS.value_characters - 1, False)])
def test_a_short_value_is_told(length: int, told: bool) -> None:
    held = SimpleNamespace(word="")
    said = change(held, lambda: setattr(held, "word", "x" * length))  # two more characters are its quotes
    assert said is not None and (" (now " in said) == told, said


@pytest.mark.parametrize(
    "times, spent, surveyed",
    [
        (LIMITS.statement_surveys, 9.0, True),
        (LIMITS.statement_surveys + 1, 100 * LIMITS.statement_share, False),
        (LIMITS.statement_surveys + 1, 99 * LIMITS.statement_share, True),
    ],
)
def test_added_statements_are_surveyed_as_long_as_it_is_cheap(times: int, spent: float, surveyed: bool) -> None:
    assert LIMITS.surveys_statements(times, spent, 100.0) == surveyed
