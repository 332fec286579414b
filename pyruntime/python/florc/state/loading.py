"""Iterators over data loaders that have given out all that they had.

Node: `["spent", module, qualname]`. One that is restored has nothing more to give, either. Iterators with worker processes, and
those that have not begun, stay where they are (`references`); one that is under way is refused.
"""

from __future__ import annotations

from typing import Any

from ..adapters import torch_data
from .iterators import is_spent
from .kind import Kind
from .kinds import Refused, type_name
from .objects import blank
from .references import encode_opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer


def encode_loading(enc: Encoder, obj: Any) -> Node:
    if torch_data.loads_here(obj) and is_spent(obj):
        return ["spent", *type_name(type(obj))]
    return encode_opaque(enc, obj)


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


KINDS = {"spent": Spent()}
