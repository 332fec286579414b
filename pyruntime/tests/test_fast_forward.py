"""An iterator that begins in the middle yields what it yields after the items before were taken one by one."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Dict, List

import pytest

from florc.fast_forward import after

torch = pytest.importorskip("torch")
tqdm = pytest.importorskip("tqdm")


class Rows(torch.utils.data.Dataset):
    """Counts what is loaded."""

    def __init__(self) -> None:
        self.loaded: List[int] = []

    def __len__(self) -> int:
        return 40

    def __getitem__(self, i: int) -> Any:
        self.loaded.append(i)
        return torch.tensor(i)


def loader(**options: Any) -> Any:
    return torch.utils.data.DataLoader(Rows(), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(1),
                                       **options)


def numbers() -> Any:
    yield from range(10)


KINDS: Dict[str, Callable[[], Any]] = {
    "range": lambda: range(3, 30, 3),
    "list": lambda: list("abcdefghij"),
    "generator": numbers,
    "enumerate": lambda: enumerate("abcdefghij", 5),
    "zip": lambda: zip("abcdefghij", numbers()),
    "strict zip": lambda: zip("abcdefghij", numbers(), strict=True),
    "islice": lambda: itertools.islice(itertools.count(), 10),
    "tqdm": lambda: tqdm.tqdm(range(10), disable=False, mininterval=100),
    "loader": loader,
    "enumerated loader": lambda: enumerate(loader()),
    "tqdm over an enumerated loader": lambda: tqdm.tqdm(enumerate(loader()), mininterval=100),
    "enumerated tqdm over a loader": lambda: enumerate(tqdm.tqdm(loader(), mininterval=100)),
    "zipped with a loader": lambda: zip(loader(), range(100)),
    "loader with workers": lambda: loader(num_workers=1),
}


def plain(items: Any) -> List[str]:
    return [repr(item) for item in items]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 6])
def test_the_rest_is_the_same(kind: str, count: int) -> None:
    expected = iter(KINDS[kind]())
    for _ in range(count):
        next(expected)
    iterable = KINDS[kind]()
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
