"""Iterators that begin in the middle, as if the items before had been taken one by one."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Iterator


def after(count: int, iterable: Any, iterator: Iterator[Any]) -> Iterator[Any]:
    """The fresh `iterator` of `iterable`, after so many items. Raises StopIteration when it has fewer.

    Where nothing is lost by it, the items are not made: those of a range, and those of a data loader over an indexed dataset
    that loads in this process. It draws the indices; what loading would draw from generators comes back with a
    checkpoint. Worker processes have generators of their own, so they load everything.
    """
    if type(iterable) is range:
        if count > len(iterable):
            raise StopIteration
        return iter(iterable[count:])
    if type(iterator) is enumerate:
        inner, number = iterator.__reduce__()[1]
        return enumerate(after(count, None, inner), number + count)
    if type(iterator) is zip:
        _, inner, *strict = iterator.__reduce__()
        there = [after(count, None, part) for part in inner]
        return zip(*there, strict=True) if strict else zip(*there)
    bar = _bar(iterator)
    if bar is not None:
        bar.initial = bar.n = bar.last_print_n = bar.n + count
        bar.iterable = after(count, bar.iterable, iter(bar.iterable))
        return iterator
    if _draws_indices(iterator):
        for _ in range(count):
            iterator._next_index()
            iterator._num_yielded += 1
        return iterator
    for _ in range(count):
        next(iterator)
    return iterator


def _bar(iterator: Any) -> Any:
    """The progress bar of tqdm whose generator this is, not yet begun; None when it is no such thing."""
    if not inspect.isgenerator(iterator) or inspect.getgeneratorstate(iterator) != inspect.GEN_CREATED:
        return None
    found = iterator.gi_frame.f_locals.get("self") if iterator.gi_code.co_name == "__iter__" else None
    return found if type(found).__module__.partition(".")[0] == "tqdm" and hasattr(found, "iterable") else None


def _draws_indices(iterator: Any) -> bool:
    """Whether it is the iterator of a data loader that asks a sampler for indices and loads them itself."""
    loading = sys.modules.get("torch.utils.data.dataloader")
    return (type(iterator) is getattr(loading, "_SingleProcessDataLoaderIter", None)
            and iterator._dataset_kind == loading._DatasetKind.Map)
