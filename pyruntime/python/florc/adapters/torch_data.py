"""Data loaders of torch: from which item on their iterators can be made to go on, and how."""

from __future__ import annotations

import sys

from ..support.static import module_of, name_of, qualname_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ITERATORS = "torch.utils.data.dataloader"
SPENT = {"_num_yielded": 0, "_index_sampler": (), "_profile_name": "DataLoader", "_dataset_kind": 0}
"""What an iterator asks itself for when it has no more indices to load."""
_SAMPLERS = ("torch.utils.data.sampler", "torch.utils.data.distributed")


def is_loader(obj: Any) -> bool:
    """Whether an object is a `DataLoader`."""
    loading = sys.modules.get("torch.utils.data")
    return loading is not None and issubclass(type(obj), loading.DataLoader)


def is_iterator_class(cls: type) -> bool:
    """Whether the objects of a class are iterators over data loaders."""
    return module_of(cls) == _ITERATORS and name_of(cls).startswith("_") and name_of(cls).endswith("Iter")


def loads_here(iterator: Any) -> bool:
    """Whether an iterator loads in this process, so that an item can be left out by drawing its indices only."""
    return name_of(type(iterator)) == "_SingleProcessDataLoaderIter"


def has_positions(iterator: Any) -> bool:
    """Whether what an iterator will load is told by indices."""
    loading = sys.modules["torch.utils.data"]
    return not issubclass(type(iterator._dataset), loading.IterableDataset)


def looks(loader: Any) -> str:
    """What tells a data loader from others of a program, in all of its runs."""
    dataset, sampler = loader.dataset, _sampler(loader)
    kinds = " ".join(qualname_of(type(part)) for part in (loader, dataset, sampler, getattr(sampler, "sampler", None)))
    count = len(dataset) if type(dataset).__module__.startswith("torch.") else ""
    return f"{kinds} {loader.batch_size} {loader.drop_last} {count}"


def _sampler(loader: Any) -> Any:
    """What its items come from. (Whether a sampler is true is its length, which one of the user's need not have.)"""
    return loader.sampler if loader.batch_sampler is None else loader.batch_sampler


def leave_out(iterator: Any) -> None:
    """Leave out the next item of an iterator that loads here. Raises StopIteration when there is none."""
    iterator._next_index()
    iterator._num_yielded += 1


def why_not_wound(loader: Any) -> str | None:
    """Why a data loader, or its iterator, whose attributes tell the same, cannot begin in the middle; None when it can."""
    loading = sys.modules["torch.utils.data"]
    is_iterator = not issubclass(type(loader), loading.DataLoader)
    workers = loader._num_workers if is_iterator else loader.num_workers
    dataset = loader._dataset if is_iterator else loader.dataset
    samplers = [loader._index_sampler if is_iterator else _sampler(loader)]
    if issubclass(type(dataset), loading.IterableDataset):
        return "a stream of data has no positions"
    while samplers:
        sampler = samplers.pop()
        if not module_of(type(sampler)).startswith(_SAMPLERS):
            return f"nothing tells what the indices of {qualname_of(type(sampler))} depend on"
        samplers += [sampler.sampler] if issubclass(type(sampler), loading.BatchSampler) else []
    if workers or _only_holds_data(loading, dataset):
        return None
    return f"{qualname_of(type(dataset))} may draw from generators when it loads"


def _only_holds_data(loading: Any, dataset: Any) -> bool:
    if type(dataset) is loading.Subset:
        return _only_holds_data(loading, dataset.dataset)
    if type(dataset) in (loading.ConcatDataset, loading.StackDataset):
        return issubclass(type(dataset.datasets), list) and all(_only_holds_data(loading, part) for part in dataset.datasets)
    kinds = (loading.TensorDataset, list, tuple, range, dict)
    return type(dataset) in kinds or module_of(type(dataset)) in ("numpy", "torch")
