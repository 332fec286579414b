"""Iterators inside the state: their position cannot be restored, so a state with one that has begun gets no checkpoint."""

from __future__ import annotations

import _io  # its classes; those of `io` are abstract, and asking them runs `__subclasscheck__` and hashes classes
import operator
import types
from typing import Any

from ..support.static import defines, is_begun, module_of

_OF_ITERATORS = (enumerate, zip, map, filter)


def is_under_way(obj: Any) -> bool:
    """Whether an iterator gave something out and has more to give; true for one of Python's where that cannot be told."""
    if issubclass(type(obj), types.GeneratorType):
        return is_begun(obj)
    if not defines(type(obj), "__next__") or issubclass(type(obj), _io._IOBase):
        return False
    module = module_of(type(obj))
    if module == "torch.utils.data.dataloader":
        return obj._num_yielded > 0 and not is_spent(obj)
    if module == "itertools":
        return True
    if module in ("_csv", "csv"):
        return bool(obj.line_num > 0)  # whether it has more to give is known to its file alone
    if module != "builtins" or operator.length_hint(obj, 1) == 0:
        return False
    reduced = obj.__reduce__()
    if issubclass(type(obj), _OF_ITERATORS):
        return any(is_under_way(inner) for inner in reduced[1])
    return len(reduced) < 3 or reduced[2] != 0  # of a range, Python 3.12 and later tell only what is left: None


def is_spent(loading: Any) -> bool:
    """Whether an iterator over a data loader gave out all that it had."""
    try:
        return bool(loading._num_yielded >= len(loading))
    except TypeError:  # over a dataset without a length
        return False
