"""`functools.partial`, and what is derived from it: both directions, with its attributes.

Node: `["partial", func, [args], [key, value, …]]`; of a derived class, and of one with attributes, followed by
`module, qualname, [name, value, …]`.
"""

from __future__ import annotations

import functools

from ..support.static import all_slots
from .equal import attributes_with_slots, parts_of_partial
from .kind import Kind
from .kinds import Refused, is_ref, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer

_CLASS, _ATTRIBUTES = slice(4, 6), 6


def encode_partial(enc: Encoder, obj: Any) -> Node:
    func, args, keywords = parts_of_partial(obj)
    items = [enc.value(x) for pair in keywords.items() for x in pair]
    node = ["partial", enc.value(func), [enc.value(x) for x in args], items]
    attributes = [enc.value(x) for pair in attributes_with_slots(obj) for x in pair]
    return [*node, *type_name(type(obj)), attributes] if attributes or type(obj) is not functools.partial else node


def attributes_in(node: Node) -> list[Any]:
    """The encoded attributes, and their names."""
    return node[_ATTRIBUTES] if len(node) > _ATTRIBUTES else []


class Partial(Kind):
    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if not issubclass(type(live), functools.partial) or type_name(type(live)) != tuple(
            node[_CLASS] or ("functools", "partial")
        ):
            return False
        func, args, keywords = parts_of_partial(live)
        if len(args) != len(node[2]):
            return False
        m.pair(node[1], func)
        for value, item in zip(node[2], args):
            m.pair(value, item)
        m.pair_items(node[3], keywords.items())
        m.pair_items(attributes_in(node), attributes_with_slots(live))
        m.saw_class(type(live))
        return True

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        if node[_CLASS] and m.find_class(node[4], node[5], node[0]) is None:
            raise Refused(f"the class {node[4]}.{node[5]} is not defined here")

    def parts(self, node: Node) -> Iterable[Any]:
        return [node[1], *node[2], *node[3], *filter(is_ref, attributes_in(node))]

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        func, args, items, named = ([r.value(v) for v in part] for part in ([node[1]], node[2], node[3], attributes_in(node)))
        cls: Any = r.find_class(node[4], node[5], node[0]) if node[_CLASS] else functools.partial
        made: Any = functools.partial.__new__(cls, *func, *args, **dict(zip(items[::2], items[1::2])))
        slots = dict(all_slots(cls))
        for name, value in zip(named[::2], named[1::2]):
            if name in slots:
                slots[name].__set__(made, value)
            else:
                made.__dict__[name] = value
        return made


ENCODERS: dict[type, Encode] = {functools.partial: encode_partial}
KINDS: dict[str, Kind] = {"partial": Partial()}
