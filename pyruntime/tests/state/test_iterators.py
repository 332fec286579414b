"""Iterators that a state holds: where they are, and which of them can be put back there."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import pytest
from florc import state
from florc.state.iterators import is_under_way


def numbers() -> Any:
    for number in (1, 2, 3):
        yield abs(number)


KINDS: dict[str, Callable[[], Any]] = {
    "generator": numbers,
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


@pytest.mark.parametrize("items", [[1, 2, 3], (1, 2, 3), range(1, 4)], ids=["list", "tuple", "range"])
@pytest.mark.parametrize("taken", [0, 1, 2, 3, 4])
def test_an_iterator_of_pythons_own_is_moved_in_place(freeze: Any, items: Any, taken: int) -> None:
    iterator = iter(items)
    for _ in range(taken):
        next(iterator, None)
    kept = freeze({"items": items, "it": iterator})
    rest = list(iterator)

    for moved in range(4):
        live = iter(items)
        for _ in range(moved):
            next(live)
        if moved > taken and type(items) is range and sys.version_info >= (3, 12):  # such a one does not go back
            with pytest.raises(state.CannotRestore, match="another list"):
                kept.restore({"items": items, "it": live})
            assert list(live) == list(items)[moved:]
            continue
        found = kept.restore({"items": items, "it": live})["it"]
        assert found is live and freeze({"items": items, "it": live}) == kept
        assert list(live) == rest and next(live, None) is None
    assert list(kept.restore({"items": items})["it"]) == rest


def test_one_of_another_list_is_not_moved(freeze: Any) -> None:
    items = [1, 2, 3]
    iterator = iter(items)
    next(iterator)
    kept = freeze({"items": items, "it": iterator})
    live, other = [1, 2, 3], iter([7, 8])
    with pytest.raises(state.CannotRestore, match="another list"):
        kept.restore({"items": live, "it": other})
    assert list(other) == [7, 8] and live == [1, 2, 3]


SAMPLERS: dict[str, Callable[[Any, Any], Any]] = {
    "shuffle": lambda d, rows: d.DataLoader(rows, 2, shuffle=True),
    "in order": lambda d, rows: d.DataLoader(rows, 2),
    "drop_last": lambda d, rows: d.DataLoader(rows, 3, shuffle=True, drop_last=True),
    "single": lambda d, rows: d.DataLoader(rows, None, shuffle=True),
    "weighted": lambda d, rows: d.DataLoader(rows, 2, sampler=d.WeightedRandomSampler([1.0] * 7, 7)),
    "weighted with a generator": lambda d, rows: d.DataLoader(
        rows, 2, sampler=d.WeightedRandomSampler([1.0] * 7, 7, generator=_seeded())
    ),
    "shuffle with a generator": lambda d, rows: d.DataLoader(rows, 2, shuffle=True, generator=_seeded()),
}


def _seeded() -> Any:
    torch = pytest.importorskip("torch")
    return torch.Generator().manual_seed(5)


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("taken", [1, 2])
def test_samplers_go_on_with_what_they_drew(freeze: Any, name: str, taken: int) -> None:
    """And draw at their end what they would have drawn: the generator is where it was after each item."""
    torch = pytest.importorskip("torch")
    rows = torch.arange(9)

    def begun() -> tuple[Any, Any]:
        torch.manual_seed(3)
        loader = SAMPLERS[name](torch.utils.data, rows)
        return loader, iter(loader)

    def trace(loader: Any, iterator: Any) -> list[Any]:
        sampler = getattr(loader.batch_sampler or loader.sampler, "sampler", None) or loader.sampler
        generator = getattr(sampler, "generator", None) or torch.default_generator
        found = []
        while (batch := next(iterator, None)) is not None:
            found.append((batch.tolist(), generator.get_state().tolist(), torch.initial_seed()))
        return [*found, generator.get_state().tolist(), torch.get_rng_state().tolist()]

    loader, iterator = begun()
    for _ in range(taken):
        next(iterator)
    kept = freeze({"loader": loader, "it": iterator})
    rest = trace(loader, iterator)

    loader, live = begun()
    found = kept.restore({"loader": loader, "it": live})["it"]
    assert found is live
    assert trace(loader, live) == rest

    loader, live = begun()
    next(live)
    found = kept.restore({"loader": loader, "it": None})["it"]  # put in the place of another one
    assert found is not live and found._index_sampler is loader._index_sampler
    assert trace(loader, found) == rest


def test_the_loader_of_an_iterator_is_found_by_its_looks_where_no_other_looks_so(freeze: Any) -> None:
    data = pytest.importorskip("torch").utils.data
    rows = list(range(8))
    loader, other = data.DataLoader(rows, 2, shuffle=True), data.DataLoader(rows, 4)
    iterator = iter(loader)
    next(iterator)
    kept = freeze({"it": iterator})
    assert kept.restore({"it": None})["it"]._index_sampler is loader._index_sampler
    del iterator
    twin = data.DataLoader(rows, 2, shuffle=True)
    with pytest.raises(state.CannotRestore, match="no name here"):
        kept.restore({"it": None})
    assert twin is not other


@pytest.mark.parametrize("here", [7, 20, 21, 23])
def test_a_counter_is_moved_forward_in_place(freeze: Any, here: int) -> None:
    counter = itertools.count(5, 3)
    held = {"counter": counter, "also": counter}
    for _ in range(5):
        next(counter)
    kept = freeze(held)
    live = itertools.count(here - 2, 3) if here == 7 else itertools.count(here, 3)
    target = {"counter": live, "also": live}
    found = kept.restore(target)
    moved = found["counter"]
    assert moved is found["also"] and next(moved) == 20 and next(moved) == 23
    # one that is further, or counts other numbers, makes way for another one where its name can be bound
    assert (moved is live) == (here not in (21, 23))
