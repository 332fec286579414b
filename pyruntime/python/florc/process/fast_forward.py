"""Iterators that begin in the middle, as if the items before had been taken one by one, with the loop's body between them.

The body is not run. So this is only possible where an item depends on nothing that the body changes, the state of generators
included: those of Python's containers, and of data loaders whose dataset only holds data, or that load in processes of their
own. A generator function, a dataset that augments: nobody can tell.
"""

from __future__ import annotations

import itertools
import sys
from types import GeneratorType

from ..support.static import defines, is_begun, module_of, name_of, qualname_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_COUNTING = (itertools.count, itertools.repeat, itertools.product, itertools.permutations, itertools.combinations)
_SAMPLERS = ("torch.utils.data.sampler", "torch.utils.data.distributed")


def why_not(iterable: Any, iterator: Iterator[Any]) -> str | None:
    """Why the fresh `iterator` of `iterable` cannot begin in the middle; None when it can."""
    if type(iterator) in (enumerate, zip):
        return next(filter(None, (why_not(None, inner) for inner in _inner(iterator)[0])), None)
    bar = _bar(iterator)
    if bar is not None:
        inner = bar.iterable  # which begins when it does
        if _is_loader(inner):
            return _why_not_loader(inner)
        is_safe = defines(type(inner), "__next__") or module_of(type(inner)) in ("builtins", "numpy", "torch")
        return why_not(inner, iter(inner)) if is_safe else _unknown(inner)
    if module_of(type(iterator)) == "torch.utils.data.dataloader":
        return _why_not_loader(iterator)
    if type(iterator) in _COUNTING or _is_of_a_container(iterator):
        return None
    return _unknown(iterator)


def _unknown(obj: Any) -> str:
    return f"nothing tells what the items of a {qualname_of(type(obj))} depend on"


def after(count: int, iterable: Any, iterator: Iterator[Any]) -> Iterator[Any]:
    """The fresh `iterator` of `iterable`, after so many items. Raises StopIteration when it has fewer.

    The items of a range are not made, and a data loader that loads in this process draws the indices only.
    """
    if type(iterable) is range:
        if count > len(iterable):
            raise StopIteration
        return iter(iterable[count:])
    if type(iterator) is enumerate:
        (inner,), number = _inner(iterator)
        return enumerate(after(count, None, inner), number + count)
    if type(iterator) is zip:
        inner, strict = _inner(iterator)
        there = [after(count, None, part) for part in inner]
        return zip(*there, strict=True) if strict else zip(*there)
    bar = _bar(iterator)
    if bar is not None:
        bar.initial = bar.n = bar.last_print_n = bar.n + count
        bar.iterable = _Begun(bar, after(count, bar.iterable, iter(bar.iterable)))
        return iterator
    draws = name_of(type(iterator)) == "_SingleProcessDataLoaderIter"
    for _ in range(count):
        if draws:
            iterator._next_index()  # type: ignore[attr-defined]  # `draws` says that it has
            iterator._num_yielded += 1  # type: ignore[attr-defined]  # `draws` says that it has
        else:
            next(iterator)
    return iterator


class _Begun:
    """What a bar runs over until it begins: from then on the bar has what the script gave it."""

    def __init__(self, bar: Any, iterator: Iterator[Any]):
        self._bar, self._iterator, self._given = bar, iterator, bar.iterable

    def __iter__(self) -> Iterator[Any]:
        self._bar.iterable = self._given
        return self._iterator


def _inner(iterator: Any) -> tuple[list[Any], Any]:
    """The iterators that an `enumerate` or `zip` takes from, and the number of the next item, or whether it is strict."""
    _, arguments, *strict = iterator.__reduce__()
    return ([arguments[0]], arguments[1]) if type(iterator) is enumerate else (list(arguments), bool(strict))


def _bar(iterator: Any) -> Any:
    """The progress bar of tqdm whose generator this is, not yet begun; None when it is no such thing."""
    if type(iterator) is not GeneratorType or iterator.gi_frame is None or is_begun(iterator):
        return None
    found = iterator.gi_frame.f_locals.get("self") if iterator.gi_code.co_name == "__iter__" else None
    return found if module_of(type(found)).partition(".")[0] == "tqdm" and hasattr(found, "iterable") else None


def _is_of_a_container(iterator: Any) -> bool:
    """Whether its items are there already: of a list, a dict, a range, an array."""
    if module_of(type(iterator)) != "builtins" or type(iterator) in (map, filter, GeneratorType):
        return False
    if name_of(type(iterator)) != "iterator":
        return True
    array = getattr(sys.modules.get("numpy"), "ndarray", ())  # any class with `__getitem__` has such an iterator
    return issubclass(type(iterator.__reduce__()[1][0]), array)


def _is_loader(obj: Any) -> bool:
    loading = sys.modules.get("torch.utils.data")
    return loading is not None and issubclass(type(obj), loading.DataLoader)


def _why_not_loader(loader: Any) -> str | None:
    """Of a data loader or its iterator, whose attributes tell the same."""
    loading = sys.modules["torch.utils.data"]
    is_iterator = not issubclass(type(loader), loading.DataLoader)
    workers = loader._num_workers if is_iterator else loader.num_workers
    dataset = loader._dataset if is_iterator else loader.dataset
    samplers = [loader._index_sampler if is_iterator else loader.batch_sampler or loader.sampler]
    if issubclass(type(dataset), loading.IterableDataset):
        return "a stream of data has no positions"
    while samplers:
        sampler = samplers.pop()
        if not module_of(type(sampler)).startswith(_SAMPLERS):
            return f"nothing tells what the indices of {qualname_of(type(sampler))} depend on"
        samplers += [sampler.sampler] if issubclass(type(sampler), loading.BatchSampler) else []
    return (
        None
        if workers or _only_holds_data(loading, dataset)
        else (f"{qualname_of(type(dataset))} may draw from generators when it loads")
    )


def _only_holds_data(loading: Any, dataset: Any) -> bool:
    if type(dataset) is loading.Subset:
        return _only_holds_data(loading, dataset.dataset)
    if type(dataset) in (loading.ConcatDataset, loading.StackDataset):
        return issubclass(type(dataset.datasets), list) and all(_only_holds_data(loading, part) for part in dataset.datasets)
    kinds = (loading.TensorDataset, list, tuple, range, dict)
    return type(dataset) in kinds or module_of(type(dataset)) in ("numpy", "torch")
