"""Dicts: both directions.

Nodes: `["dict", [key, value, …]]`, `["OrderedDict", …]`, `["defaultdict", [key, value, …], factory]`.
"""

from __future__ import annotations

import collections

from .atoms import decode, same_atom
from .kind import Kind
from .kinds import KEPT, is_ref, refuse_kept
from .sequences import differs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer


def _items(enc: Encoder, pairs: Any) -> list[Any]:
    part = enc.part
    out = []
    for key, item in pairs:
        out.append(part(key))
        out.append(part(item))
    return out


def encode_dict(enc: Encoder, obj: Any) -> Node:
    return ["dict", _items(enc, dict.items(obj))]


def encode_ordered(enc: Encoder, obj: Any) -> Node:
    content = ["OrderedDict", _items(enc, collections.OrderedDict.items(obj))]
    if type(obj) is collections.OrderedDict and obj.__dict__:  # a module's state_dict() carries `_metadata`
        attributes = [part for name, item in obj.__dict__.items() for part in (name, enc.part(item))]
        return ["object", "collections", "OrderedDict", attributes, content]
    return content


def encode_defaultdict(enc: Encoder, obj: Any) -> Node:
    return ["defaultdict", _items(enc, dict.items(obj)), enc.value(obj.default_factory)]


class Mapping(Kind):
    """Dicts: matched by key, filled after objects, because keys may hash by their attributes."""

    base: type[dict[Any, Any]] = dict
    order = 2

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if type(live) is not self.base:
            return False
        return self.match_content(m, node, live)

    def match_content(self, m: Matcher, node: Node, live: Any) -> bool:
        if KEPT in node[1] and any(
            value == KEPT and key != KEPT and not is_ref(key) and decode(key) not in live
            for key, value in zip(node[1][0::2], node[1][1::2])
        ):
            return False  # data that is not here
        m.pair_items(node[1], self.base.items(live))
        return True

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        refuse_kept(node[1])

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return self.base()

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        if KEPT in node[1]:
            return _fill_kept(r, node[1], obj, self.base)
        values = [r.value(v) for v in node[1]]
        update_dict(obj, values[0::2], values[1::2], self.base)


def _fill_kept(r: Restorer, encoded: list[Any], obj: Any, base: Any) -> None:
    """Items of a dict in a dataset: those that were recorded, the others as they are."""
    for key, value in zip(encoded[0::2], encoded[1::2]):
        if key != KEPT and value != KEPT:
            base.__setitem__(obj, r.value(key), r.value(value))


class DefaultDict(Mapping):
    base = collections.defaultdict

    def match_content(self, m: Matcher, node: Node, live: Any) -> bool:
        m.pair(node[2], live.default_factory)
        return super().match_content(m, node, live)

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        refuse_kept(node[2:])
        super().check_new(m, node, index)

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        if node[2] != KEPT:
            obj.default_factory = r.value(node[2])
        super().fill(r, node, obj, index)


class Ordered(Mapping):
    base = collections.OrderedDict


def update_dict(obj: Any, keys: Any, values: Any, base: Any = dict) -> None:
    """Make `obj` hold exactly these items in this order, writing nothing that already holds."""
    old = list(base.items(obj))
    if not differs([k for k, _ in old], keys):
        for key, value, (_, was) in zip(keys, values, old):
            if not same_atom(value, was):
                base.__setitem__(obj, key, value)
        return
    base.clear(obj)
    for key, value in zip(keys, values):
        base.__setitem__(obj, key, value)


ENCODERS: dict[type, Encode] = {
    dict: encode_dict,
    collections.OrderedDict: encode_ordered,
    collections.defaultdict: encode_defaultdict,
}
KINDS = {"dict": Mapping(), "OrderedDict": Ordered(), "defaultdict": DefaultDict()}
