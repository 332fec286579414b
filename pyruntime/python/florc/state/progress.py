"""Progress bars (`adapters.tqdm`), both directions. Node: `["progress", module, qualname, [name, value, …]]`. Restoring
one draws nothing.
"""

from __future__ import annotations

from ..adapters.tqdm import COUNTED
from .kind import Kind
from .kinds import Refused, type_name
from .objects import instance_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer


def encode_bar(enc: Encoder, obj: Any) -> Node:
    attributes = instance_dict(obj)
    own = [part for name in COUNTED if name in attributes for part in (name, enc.value(attributes[name]))]
    return ["progress", *type_name(type(obj)), own]


class Bar(Kind):
    """The live bar, which keeps its place on the screen."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        names, attributes = node[3][0::2], instance_dict(live)
        if type_name(type(live)) != (node[1], node[2]) or ("last_print_n" in names) != ("last_print_n" in attributes):
            return False  # a bar that was made to draw nothing has no more than its numbers
        for name, value in zip(names, node[3][1::2]):
            m.pair(value, attributes.get(name))
        return True

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        raise Refused("the progress bar was made while it was skipped, or draws in another way than in the recorded run")

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        attributes = instance_dict(obj)
        for name in COUNTED:
            attributes.pop(name, None)
        attributes.update((name, r.value(value)) for name, value in zip(node[3][0::2], node[3][1::2]))


KINDS = {"progress": Bar()}
