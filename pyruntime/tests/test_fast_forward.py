"""An iterator that begins in the middle yields what it yields after the items before were taken one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from florc.process.fast_forward import after, why_not

torch = pytest.importorskip("torch")
tqdm = pytest.importorskip("tqdm")


class Rows(torch.utils.data.Dataset):
    """Counts what is loaded."""

    def __init__(self) -> None:
        self.loaded: list[int] = []

    def __len__(self) -> int:
        return 40

    def __getitem__(self, i: int) -> Any:
        self.loaded.append(i)
        return torch.tensor(i)


def loader(**options: Any) -> Any:
    return torch.utils.data.DataLoader(Rows(), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(1), **options)


def numbers() -> Any:
    yield from range(10)


def tensors(**options: Any) -> Any:
    return torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.arange(40)),
        batch_size=4,
        shuffle=True,
        generator=torch.Generator().manual_seed(1),
        **options,
    )


KINDS: dict[str, Callable[[], Any]] = {
    "range": lambda: range(3, 30, 3),
    "list": lambda: list("abcdefghij"),
    "dict": lambda: dict.fromkeys("abcdefghij", 1).items(),
    "array": lambda: __import__("numpy").arange(10),
    "tensor": lambda: torch.arange(10),
    "count": lambda: itertools.repeat(3, 10),
    "enumerate": lambda: enumerate("abcdefghij", 5),
    "zip": lambda: zip("abcdefghij", range(10)),
    "strict zip": lambda: zip("abcdefghij", range(10), strict=True),
    "tqdm": lambda: tqdm.tqdm(range(10), disable=False, mininterval=100),
    "loader": tensors,
    "enumerated loader": lambda: enumerate(tensors()),
    "tqdm over an enumerated loader": lambda: tqdm.tqdm(enumerate(tensors()), mininterval=100),
    "enumerated tqdm over a loader": lambda: enumerate(tqdm.tqdm(tensors(), mininterval=100)),
    "zipped with a loader": lambda: zip(tensors(), range(100)),
    "loader with workers": lambda: loader(num_workers=1),
}
UNSAFE: dict[str, Callable[[], Any]] = {
    "generator": numbers,
    "enumerated generator": lambda: enumerate(numbers()),
    "map": lambda: map(str, range(10)),
    "islice": lambda: itertools.islice(numbers(), 5),
    "class with items": lambda: type("Items", (), {"__getitem__": lambda self, i: i})(),
    "dataset of its own": loader,
    "tqdm over such a one": lambda: tqdm.tqdm(loader(), mininterval=100),
    "sampler of its own": lambda: torch.utils.data.DataLoader(
        range(9), sampler=type("Own", (), {"__iter__": lambda s: numbers()})()
    ),
    "stream": lambda: torch.utils.data.DataLoader(
        type("S", (torch.utils.data.IterableDataset,), {"__iter__": lambda s: numbers()})()
    ),
}


@pytest.mark.parametrize("kind", UNSAFE)
def test_items_that_may_depend_on_what_the_body_does_are_refused(kind: str) -> None:
    iterable = UNSAFE[kind]()
    assert why_not(iterable, iter(iterable))


def plain(items: Any) -> list[str]:
    return [repr(item) for item in items]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 6])
def test_the_rest_is_the_same(kind: str, count: int) -> None:
    expected = iter(KINDS[kind]())
    for _ in range(count):
        next(expected)
    iterable = KINDS[kind]()
    assert why_not(iterable, iter(KINDS[kind]())) is None
    assert plain(after(count, iterable, iter(iterable))) == plain(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_an_iterator_that_is_too_short_says_so(kind: str) -> None:
    iterable = KINDS[kind]()
    with pytest.raises(StopIteration):
        after(50, iterable, iter(iterable))


@pytest.mark.parametrize("wrap", [lambda it: it, enumerate, lambda it: tqdm.tqdm(it, mininterval=100), lambda it: zip(it, it)])
def test_nothing_is_loaded_on_the_way(wrap: Callable[[Any], Any]) -> None:
    batches = loader()
    iterable = wrap(batches)
    following = after(3, iterable, iter(iterable))
    assert batches.dataset.loaded == []
    next(following)
    assert batches.dataset.loaded


def test_a_progress_bar_goes_on_from_there(capsys: pytest.CaptureFixture[str]) -> None:
    bar = tqdm.tqdm(range(10), mininterval=0)
    assert list(after(4, bar, iter(bar))) == [4, 5, 6, 7, 8, 9]
    assert bar.n == 10


def test_a_progress_bar_keeps_what_it_was_given() -> None:
    data = [1, 2, 3, 4]
    bar = tqdm.tqdm(data, mininterval=100)
    following = after(2, bar, iter(bar))
    assert next(following) == 3
    assert bar.iterable is data
