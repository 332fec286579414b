"""Sets: both directions, and how the table of one comes to look as it did.

Nodes: `["set", [values]]`; of plain values in the order in which they are met, `["set", [values], slots of the table, a
hash, [slot of each value], [slots of removed ones]]`; `["frozenset", [values]]` (restored with the tuples: it is immutable
too).

A script may depend on the order in which it meets plain values. It follows from their hashes (of text: from the process's
hash seed), the size of the table, and what was taken in or removed before: an element whose slot is taken goes to the next
one on its path, and a removed one still counts as taken. So where everything lies is read from the table, and an order of
taking in that leads there is found from it. (CPython's Objects/setobject.c, 3.10 to 3.14.)
"""

from __future__ import annotations

import ctypes
import json
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from .atoms import decode
from .kind import Kind
from .kinds import KEPT, POINTER, Refused, is_ref, refuse_kept

_SLOT_BYTES = 2 * POINTER
"""Of a set's table: an element and its hash."""
_SMALL_TABLE = 8
_LINEAR_PROBES = 9
_PERTURB_SHIFT = 5
_REMOVED = -1
"""The hash in a slot whose element was removed."""
_HASHED = "florc"
_ORDERED_PARTS = 6


class Layout(NamedTuple):
    """Where the elements of a set lie."""

    table: int
    """Slots in all."""
    slots: List[int]
    """Of the elements, in the order of iteration."""
    removed: List[int]
    """Slots of elements that are no longer there."""


def layout(obj: set) -> Layout:
    """Read the table of a set. Raises Refused when it does not look as CPython's do."""
    fields = ctypes.c_ssize_t * 4  # fill, used, mask, address of the table
    fill, used, mask, address = fields.from_address(id(obj) + object.__basicsize__)
    items = list(set.__iter__(obj))
    in_memory = (set.__sizeof__(obj) - type(obj).__basicsize__) // _SLOT_BYTES
    if used != len(items) or mask + 1 != max(in_memory, _SMALL_TABLE) or not used <= fill <= mask:
        raise Refused("the table of a set cannot be read")
    table = (ctypes.c_ssize_t * (2 * (mask + 1))).from_address(address)[:]
    removed = [at for at in range(mask + 1) if table[2 * at + 1] == _REMOVED and table[2 * at]]
    gone = set(removed)
    slots = [at for at in range(mask + 1) if table[2 * at] and at not in gone]
    if [table[2 * at] for at in slots] != list(map(id, items)) or len(gone) != fill - used:
        raise Refused("the table of a set cannot be read")
    return Layout(mask + 1, slots, removed)


def arrange(obj: set, items: list, wanted: Layout) -> bool:
    """Fill a set so that its elements lie as wanted. Whether that succeeded: hashes may be others than they were."""
    order = _insertion_order(items, wanted)
    set.clear(obj)
    if order is None:
        return False
    removed = [_Removed(slot + wanted.table) for slot in wanted.removed]
    keys = [*removed, *order]
    if wanted.table > _SMALL_TABLE and keys:
        # Updating from a dict makes room for twice its length at once, and takes its keys in their order.
        count = max(wanted.table // 4, 5)
        present = [_Present(hash(keys[i % len(keys)])) for i in range(count - len(keys))]
        first = dict.fromkeys([*keys[:count], *present])
        for filler in present:
            filler.is_there = True
        set.update(obj, first)
        keys = keys[count:]
    set.update(obj, keys)
    for one in removed:
        set.discard(obj, one)
    return len(obj) == len(items) and layout(obj) == wanted


class _Removed:
    """Lies in a slot until it is removed, which leaves the slot taken."""

    def __init__(self, hashed: int):
        self._hash = hashed

    def __hash__(self) -> int:
        return self._hash


class _Present(_Removed):
    """Makes a dict longer, and not the set: it is equal to the element that has its hash, once it says so."""

    is_there = False

    def __eq__(self, other: object) -> bool:
        return self is other or self.is_there

    __hash__ = _Removed.__hash__


def _path(hashed: int, mask: int) -> Iterator[int]:
    """The slots that an element is offered, one after the other."""
    at, perturb = hashed & mask, hashed & ((1 << 8 * POINTER) - 1)
    while True:
        yield from range(at, at + 1 + (_LINEAR_PROBES if at + _LINEAR_PROBES <= mask else 0))
        perturb >>= _PERTURB_SHIFT
        at = (at * 5 + 1 + perturb) & mask


def _insertion_order(items: list, wanted: Layout) -> Optional[list]:
    """An order of taking in that puts each item where it shall lie; None when there is none. Removed ones come first."""
    if len(items) != len(wanted.slots):
        return None
    there = dict(zip(wanted.slots, range(len(items))))
    taken = set(wanted.removed)
    before: List[int] = []
    """How many items must be taken in before this one."""
    after: Dict[int, List[int]] = {}
    for index, item in enumerate(items):
        waits = set()
        for slot in _path(hash(item), wanted.table - 1):
            if slot == wanted.slots[index]:
                break
            if slot in there:
                waits.add(there[slot])
            elif slot not in taken:
                return None
        before.append(len(waits))
        for one in waits:
            after.setdefault(one, []).append(index)
    ready = [index for index, count in enumerate(before) if not count]
    order = []
    while ready:
        index = ready.pop()
        order.append(items[index])
        for one in after.get(index, ()):
            before[one] -= 1
            if not before[one]:
                ready.append(one)
    return order if len(order) == len(items) else None


def encode_set(enc, obj):
    values = [enc.value(x) for x in set.__iter__(obj)]
    if any(is_ref(value) or value == KEPT for value in values):
        return ["set", sorted(values, key=json.dumps)]
    table, slots, removed = layout(obj)
    return ["set", values, table, hash(_HASHED), slots, removed]


def encode_frozenset(enc, obj):
    """Its elements in an order that does not depend on hashes, as far as their values tell them apart."""
    values = [enc.value(x) for x in frozenset.__iter__(obj)]
    return ["frozenset", sorted(values, key=lambda v: json.dumps(v))]


def _is_ordered(node: list) -> bool:
    """Whether a recorded order is to be kept: under another hash seed it cannot be."""
    return len(node) > 2 and node[3] == hash(_HASHED)


def _wanted(node: list) -> Tuple[list, Layout]:
    return [decode(value) for value in node[1]], Layout(node[2], *node[4:])


class Set(Kind):
    order = 2

    def match(self, m, node, live) -> bool:
        return type(live) is set and self.match_content(m, node, live)

    def match_content(self, m, node, live) -> bool:
        m.pair_elements(node[1], set.__iter__(live))
        return True

    def check(self, m, node, index):
        if _is_ordered(node) and not (len(node) == _ORDERED_PARTS and arrange(set(), *_wanted(node))):
            raise Refused("the order of a set cannot be brought about again")

    def check_new(self, m, node, index):
        refuse_kept(node[1])

    def make(self, r, node, index):
        return set()

    def fill(self, r, node, obj, index):
        if KEPT in node[1]:
            return
        if _is_ordered(node):
            items, wanted = _wanted(node)
            if list(set.__iter__(obj)) != items or layout(obj) != wanted:
                arrange(obj, items, wanted)
            return
        new = {r.value(v) for v in node[1]}
        if new != obj or {type(x) for x in new} != {type(x) for x in set.__iter__(obj)}:
            set.clear(obj)
            set.update(obj, new)


ENCODERS = {set: encode_set, frozenset: encode_frozenset}
KINDS = {"set": Set()}
