"""Dicts and sets: both directions.

Nodes: `["dict", [key, value, …]]`, `["OrderedDict", …]`, `["defaultdict", [key, value, …], factory]`,
`["set", [values]]`, `["set", [values], size of its table, a hash]` when the order is kept, `["frozenset", [values]]` (restored with the
tuples: it is immutable too).
"""

from __future__ import annotations

import bisect
import collections
import json

from .atoms import decode, same_atom
from .kind import Kind
from .kinds import KEPT, POINTER, Refused, is_ref, refuse_kept
from .sequences import differs


_SLOT_BYTES = 2 * POINTER
"""Of a set's table: an element and its hash."""
_SMALL_TABLE = 8
_HASHED = "florc"
_LARGE = 5000
_REPAIRS = 40


def _items(enc, pairs) -> list:
    value = enc.value
    out = []
    for key, item in pairs:
        out.append(value(key))
        out.append(value(item))
    return out


def encode_dict(enc, obj):
    return ["dict", _items(enc, dict.items(obj))]


def encode_ordered(enc, obj):
    content = ["OrderedDict", _items(enc, collections.OrderedDict.items(obj))]
    if type(obj) is collections.OrderedDict and obj.__dict__:  # a module's state_dict() carries `_metadata`
        attributes = [part for name, item in obj.__dict__.items() for part in (name, enc.value(item))]
        return ["object", "collections", "OrderedDict", attributes, content]
    return content


def encode_defaultdict(enc, obj):
    return ["defaultdict", _items(enc, dict.items(obj)), enc.value(obj.default_factory)]


def _ordered(enc, items) -> list:
    """Elements of a set in an order that does not depend on hashes, as far as their values tell them apart."""
    values = [enc.value(x) for x in items]
    return sorted(values, key=lambda v: json.dumps(v))


def encode_set(enc, obj):
    values = [enc.value(x) for x in set.__iter__(obj)]
    if any(is_ref(value) or value == KEPT for value in values):
        return ["set", sorted(values, key=json.dumps)]
    # A script may depend on the order in which it meets plain values; the process's hash seed decides it.
    size = set.__sizeof__(obj)
    if values and not arrange(set(), list(set.__iter__(obj)), size):
        raise Refused("the order of a set cannot be brought about again")
    return ["set", values, size, hash(_HASHED)]


def arrange(obj: set, items: list, size: int) -> bool:
    """Fill a set so that it is iterated over in the order of `items`, in a table of `size` bytes. Whether that succeeded.

    Where an element lies depends on the size of the table and on which elements came before it. Those that lie where
    their hash says go first; then, wherever the order is not yet the wanted one, the wanted element is put in earlier.
    """
    slots = max((size - set().__sizeof__()) // _SLOT_BYTES, _SMALL_TABLE)
    order = _insertion_order(items, slots - 1)
    for _ in range(_REPAIRS if len(items) < _LARGE else 1):
        _fill(obj, order, slots)
        wrong = next((pair for pair in zip(set.__iter__(obj), items) if pair[0] is not pair[1]), None)
        if wrong is None:
            return True
        there, wanted = (next(i for i, x in enumerate(order) if x is one) for one in wrong)
        if there > wanted:
            return False
        order.insert(there, order.pop(wanted))
    return False


def _is_ordered(node: list) -> bool:
    """Whether a recorded order is to be kept: under another hash seed it cannot be."""
    return len(node) > 2 and node[3] == hash(_HASHED)


def _fill(obj: set, order: list, slots: int) -> None:
    """Updating from a dict makes room for twice its length at once, and takes its keys in their order."""
    set.clear(obj)
    if slots > _SMALL_TABLE:
        count = max(slots // 4, 5)
        fillers = [object() for _ in range(count - len(order))]
        set.update(obj, dict.fromkeys([*order[:count], *fillers]))
        for filler in fillers:
            set.discard(obj, filler)
    set.update(obj, order)


def _insertion_order(items: list, mask: int) -> list:
    """First the elements whose hashes rise as their places do, then those that a taken slot sent elsewhere."""
    homes = [hash(item) & mask for item in items]
    ends: list = []
    last: list = []
    before = []
    for i, home in enumerate(homes):  # the longest run of rising homes
        at = bisect.bisect_left(ends, home)
        ends[at:at + 1] = [home]
        last[at:at + 1] = [i]
        before.append(last[at - 1] if at else -1)
    at_home, i = set(), last[-1] if last else -1
    while i >= 0:
        at_home.add(i)
        i = before[i]
    return [x for i, x in enumerate(items) if i in at_home] + [x for i, x in enumerate(items) if i not in at_home]


def encode_frozenset(enc, obj):
    return ["frozenset", _ordered(enc, frozenset.__iter__(obj))]


class Mapping(Kind):
    """Dicts: matched by key, filled after objects, because keys may hash by their attributes."""

    base: type = dict
    order = 2

    def match(self, m, node, live) -> bool:
        if type(live) is not self.base:
            return False
        return self.match_content(m, node, live)

    def match_content(self, m, node, live) -> bool:
        if KEPT in node[1] and any(
                value == KEPT and key != KEPT and not is_ref(key) and decode(key) not in live
                for key, value in zip(node[1][0::2], node[1][1::2])):
            return False  # data that is not here
        m.pair_items(node[1], self.base.items(live))
        return True

    def check_new(self, m, node, index):
        refuse_kept(node[1])

    def make(self, r, node, index):
        return self.base()

    def fill(self, r, node, obj, index):
        if KEPT in node[1]:
            return _fill_kept(r, node[1], obj, self.base)
        values = [r.value(v) for v in node[1]]
        update_dict(obj, values[0::2], values[1::2], self.base)


def _fill_kept(r, encoded, obj, base) -> None:
    """Items of a dict in a dataset: those that were recorded, the others as they are."""
    for key, value in zip(encoded[0::2], encoded[1::2]):
        if key != KEPT and value != KEPT:
            base.__setitem__(obj, r.value(key), r.value(value))


class DefaultDict(Mapping):
    base = collections.defaultdict

    def match_content(self, m, node, live) -> bool:
        m.pair(node[2], live.default_factory)
        return super().match_content(m, node, live)

    def check_new(self, m, node, index):
        refuse_kept(node[2:])
        super().check_new(m, node, index)

    def fill(self, r, node, obj, index):
        if node[2] != KEPT:
            obj.default_factory = r.value(node[2])
        super().fill(r, node, obj, index)


class Ordered(Mapping):
    base = collections.OrderedDict


def update_dict(obj, keys, values, base=dict) -> None:
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


class Set(Kind):
    order = 2

    def match(self, m, node, live) -> bool:
        return type(live) is set and self.match_content(m, node, live)

    def match_content(self, m, node, live) -> bool:
        m.pair_elements(node[1], set.__iter__(live))
        return True

    def check(self, m, node, index):
        if _is_ordered(node) and not arrange(set(), [decode(v) for v in node[1]], node[2]):
            raise Refused("the order of a set cannot be brought about again")

    def check_new(self, m, node, index):
        refuse_kept(node[1])

    def make(self, r, node, index):
        return set()

    def fill(self, r, node, obj, index):
        if KEPT in node[1]:
            return
        if _is_ordered(node):
            items = [decode(v) for v in node[1]]
            if list(obj) != items or set.__sizeof__(obj) != node[2]:
                arrange(obj, items, node[2])
            return
        new = {r.value(v) for v in node[1]}
        if new != obj or {type(x) for x in new} != {type(x) for x in set.__iter__(obj)}:
            set.clear(obj)
            set.update(obj, new)


ENCODERS = {
    dict: encode_dict, collections.OrderedDict: encode_ordered, collections.defaultdict: encode_defaultdict,
    set: encode_set, frozenset: encode_frozenset,
}
KINDS = {"dict": Mapping(), "OrderedDict": Ordered(), "defaultdict": DefaultDict(), "set": Set()}
