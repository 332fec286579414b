"""Iterators that begin in the middle, as if the items before had been taken one by one, with the loop's body between them.

The body does not run. So this is possible only if an item does not depend on anything that the body changes, including
random generators. This holds for the iterators of Python's containers, and for data loaders whose dataset only holds
data or that load in processes of their own. For a generator function, or a dataset that augments, nobody can tell.
"""

from __future__ import annotations

import itertools
import sys
from types import GeneratorType

from ..adapters import torch_data, tqdm
from ..support.static import defines, module_of, name_of, qualname_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_COUNTING = (itertools.count, itertools.repeat, itertools.product, itertools.permutations, itertools.combinations)


def why_not(iterable: Any, iterator: Iterator[Any]) -> str | None:
    """Why the fresh `iterator` of `iterable` cannot begin in the middle; None when it can."""
    if type(iterator) in (enumerate, zip):
        return next(filter(None, (why_not(None, inner) for inner in _inner(iterator)[0])), None)
    bar = tqdm.bar_of(iterator)
    if bar is not None:
        inner = bar.iterable  # which begins when it does
        if torch_data.is_loader(inner):
            return torch_data.why_not_wound(inner)
        is_safe = defines(type(inner), "__next__") or module_of(type(inner)) in ("builtins", "numpy", "torch")
        return why_not(inner, iter(inner)) if is_safe else _unknown(inner)
    if torch_data.is_iterator_class(type(iterator)):
        return torch_data.why_not_wound(iterator)
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
    bar = tqdm.bar_of(iterator)
    if bar is not None:
        tqdm.begin_at(bar, count, after(count, bar.iterable, iter(bar.iterable)))
        return iterator
    leave_out = torch_data.leave_out if torch_data.loads_here(iterator) else next
    for _ in range(count):
        leave_out(iterator)
    return iterator


def _inner(iterator: Any) -> tuple[list[Any], Any]:
    """The iterators that an `enumerate` or `zip` takes from, and the number of the next item, or whether it is strict."""
    _, arguments, *strict = iterator.__reduce__()
    return ([arguments[0]], arguments[1]) if type(iterator) is enumerate else (list(arguments), bool(strict))


def _is_of_a_container(iterator: Any) -> bool:
    """Whether its items are there already: of a list, a dict, a range, an array."""
    if module_of(type(iterator)) != "builtins" or type(iterator) in (map, filter, GeneratorType):
        return False
    if name_of(type(iterator)) != "iterator":
        return True
    array = getattr(sys.modules.get("numpy"), "ndarray", ())  # any class with `__getitem__` has such an iterator
    return issubclass(type(iterator.__reduce__()[1][0]), array)
