"""Iterators over data loaders that load in this process.

Nodes: `["spent", module, qualname]` for one that has given out all that it had; one that is restored has nothing more to give,
either. `["loading", …]`, as of an object, with its loader and how that looks, for one that is under way; it goes on with the
indices that its samplers have drawn (`positions`). Iterators with worker processes, over streams and over samplers of the user's
own, and those that have not begun, stay where they are (`references`): where one of them is under way, that is refused.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

from ..adapters import torch_data
from ..support.weak_table import WeakTable
from . import once, positions
from .iterators import is_spent, is_under_way
from .kind import Kind
from .kinds import Refused, type_name
from .objects import Object, blank, encode_object
from .references import encode_opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer


_LOADERS = WeakTable()
"""What gives out indices -> its data loader, and by what it is known."""


def _loaders() -> list[Any]:
    """Every data loader of the process. Looks at all objects that the collector knows: tens of milliseconds."""
    with once.timed():
        return [obj for obj in gc.get_objects() if torch_data.is_loader(obj)]


def _known(iterator: Any) -> tuple[Any, str]:
    """The data loader that an iterator is over, which it does not refer to (None where it is gone), and `torch_data.looks` of it
    (empty where another loader looks the same)."""
    indices = iterator._index_sampler
    found = _LOADERS.get(indices)
    loader = None if found is None else found[0]()
    if loader is None:
        every = _loaders()
        own = [other for other in every if other._index_sampler is indices]
        if len(own) != 1:
            return None, ""
        [loader] = own
        looks = torch_data.looks(loader)
        is_lone = sum(torch_data.looks(other) == looks for other in every) == 1
        found = _LOADERS[indices] = weakref.ref(loader), looks if is_lone else ""
    return loader, found[1]


def that_looks(looks: str) -> Any:
    """The only data loader that looks so; None where there is no such one, or several. With it a checkpoint finds the loader of
    an iterator that was put in the place of another: in the recorded run, too, no other loader looked like it."""
    found = [loader for loader in _loaders() if torch_data.looks(loader) == looks] if looks else []
    return found[0] if len(found) == 1 else None


def encode_loading(enc: Encoder, obj: Any) -> Node:
    if not torch_data.loads_here(obj):
        return encode_opaque(enc, obj)
    if is_spent(obj):
        return ["spent", *type_name(type(obj))]
    if is_under_way(obj) and torch_data.has_positions(obj) and positions.is_known(obj._sampler_iter):
        loader, looks = _known(obj)
        if loader is not None:
            return ["loading", *encode_object(enc, obj)[1:], enc.value(loader), looks]
    return encode_opaque(enc, obj)


class Loading(Object):
    """An iterator that is under way. A new one belongs to the data loader that is here: they share samplers and generators."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        loader = _known(live)[0] if type_name(type(live)) == (node[1], node[2]) else None
        if loader is None or not super().match(m, node, live):
            return False
        m.pair(node[5], loader)
        return True

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        super().check_new(m, node, index)
        if m.live[node[5][0]] is None:
            raise Refused("an iterator over a data loader that has no name here cannot be restored")


class Spent(Kind):
    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return type_name(type(live)) == (node[1], node[2]) and is_spent(live)

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        found = m.find_class(node[1], node[2], node[0])
        if found is None or not torch_data.is_iterator_class(found):
            raise Refused(f"the class {node[1]}.{node[2]} is not defined here")

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        cls: Any = r.find_class(node[1], node[2], node[0])
        made = blank(cls)
        made.__dict__.update(torch_data.SPENT, _sampler_iter=iter(()))
        return made

    def same(self, made: Any, live: Any) -> bool:
        return type(made) is type(live) and is_spent(live)


KINDS: dict[str, Kind] = {"spent": Spent(), "loading": Loading()}
