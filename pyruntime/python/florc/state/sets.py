"""Sets and frozensets: both directions, and how the hash table of a restored set gets its recorded form.

Nodes: `["set", [values], slots of the table, a hash, [slot of each value], [slots of removed ones], sum of the values'
hashes]`. The values are in iteration order. `["frozenset", …]` has the same fields; it is restored with the tuples,
because it is immutable, too. Where the order is not kept, only the values are there.

A script may depend on the order in which it iterates over a set. This order follows from the hashes of the elements (for
text: from the hash seed of the process), the size of the table, and earlier insertions and removals: an element whose
slot is taken moves to the next slot on its path, and the slot of a removed element still counts as taken. So florc
records the slot of each element and computes an order of insertion that leads to the same table (CPython's
Objects/setobject.c, 3.10 to 3.14).

Elements that hash by their address have other hashes in each run. Their order cannot be restored.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .atoms import decode
from .kind import Kind, Whole
from .kinds import KEPT, POINTER, CannotRestore, Refused, is_ref, refuse_kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer

_SLOT_BYTES = 2 * POINTER
"""Of a set's table: an element and its hash."""
_SMALL_TABLE = 8
_LINEAR_PROBES = 9
_PERTURB_SHIFT = 5
_REMOVED = -1
"""The hash in a slot whose element was removed."""
_HASHED = "florc"
_ORDERED_PARTS = 6
_WITH_HASHES = 7
"""Parts of a node that has the order; of one that has the sum of the hashes, too (earlier versions did not write it)."""
_MOST = 1 << 61
lost_orders = [0]
"""How many sets were restored in another order, as their elements have other hashes in each run."""


class Layout(NamedTuple):
    """Where the elements of a set lie."""

    table: int
    """Slots in all."""
    slots: list[int]
    """Of the elements, in the order of iteration."""
    removed: list[int]
    """Slots of elements that are no longer there."""


def layout(obj: Any) -> Layout:
    """Read the table of a set or a frozenset. Raises Refused when it does not look as CPython's do."""
    return _read(obj)[0]


def _read(obj: Any) -> tuple[Layout, int]:
    """Its layout, and the sum of the hashes of its elements: no code of theirs runs."""
    base = set if issubclass(type(obj), set) else frozenset
    fields = ctypes.c_ssize_t * 4  # fill, used, mask, address of the table
    fill, used, mask, address = fields.from_address(id(obj) + object.__basicsize__)
    items = list(base.__iter__(obj))
    in_memory = (base.__sizeof__(obj) - type(obj).__basicsize__) // _SLOT_BYTES
    if used != len(items) or mask + 1 != max(in_memory, _SMALL_TABLE) or not used <= fill <= mask:
        raise Refused("the table of a set cannot be read")
    table = (ctypes.c_ssize_t * (2 * (mask + 1))).from_address(address)[:]
    removed = [at for at in range(mask + 1) if table[2 * at + 1] == _REMOVED and table[2 * at]]
    gone = set(removed)
    slots = [at for at in range(mask + 1) if table[2 * at] and at not in gone]
    if [table[2 * at] for at in slots] != list(map(id, items)) or len(gone) != fill - used:
        raise Refused("the table of a set cannot be read")
    return Layout(mask + 1, slots, removed), sum(table[2 * at + 1] for at in slots) % _MOST


def arrange(obj: set[Any], items: list[Any], wanted: Layout) -> bool:
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
        first = _longer(keys[:count], count)
        if first is not None:
            set.update(obj, first)
            keys = keys[count:]
    set.update(obj, keys)
    for one in removed:
        set.discard(obj, one)
    return len(obj) == len(items) and layout(obj) == wanted


def arranged(items: list[Any], wanted: Layout) -> frozenset[Any] | None:
    """A frozenset whose elements lie as wanted; None where none can be made."""
    order = None if wanted.removed else _insertion_order(items, wanted)
    if order is None:
        return None
    keys: Iterable[Any] | None = None
    if wanted.table > _SMALL_TABLE and len(order) < wanted.table // 2:
        keys = _longer(order, wanted.table // 4)  # as `arrange` has it, but all at once
    # else the table grows on the way, while it holds only what waits for no other
    made = frozenset(order if keys is None else keys)
    return made if len(made) == len(items) and layout(made) == wanted else None


def _longer(keys: list[Any], count: int) -> dict[Any, None] | None:
    """The keys in a dict of at least so many. What else the dict holds is equal to one of these keys by the time that a set
    takes it in. None if there can be no such dict, because each comparison would run code of the script.
    """
    safe = [key for key in keys if type(key) in _COMPARED_QUIETLY]
    if not safe and len(keys) < count:
        return None
    present = [_Present(hash(safe[i % len(safe)])) for i in range(count - len(keys))]
    made = dict.fromkeys([*keys, *present])
    for filler in present:
        filler.is_there = True
    return made


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


def _insertion_order(items: list[Any], wanted: Layout) -> list[Any] | None:
    """An order of insertion that puts each item into its slot; None when there is none. Removed items come first, then items
    that wait for no other item: their order does not matter.
    """
    if len(items) != len(wanted.slots):
        return None
    there = dict(zip(wanted.slots, range(len(items))))
    taken = set(wanted.removed)
    before: list[int] = []
    """How many items must be taken in before this one."""
    after: dict[int, list[int]] = {}
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
    for index in ready:  # which grows
        order.append(items[index])
        for one in after.get(index, ()):
            before[one] -= 1
            if not before[one]:
                ready.append(one)
    return order if len(order) == len(items) else None


_COMPARED_QUIETLY = (_Removed, int, str, bytes, bool, float, complex, tuple, frozenset, type(None))


def encode_set(enc: Encoder, obj: Any) -> Node:
    values = [enc.value(x) for x in set.__iter__(obj)]
    return ["set", sorted(values, key=json.dumps)] if KEPT in values else ["set", values, *_order(obj)]


def encode_frozenset(enc: Encoder, obj: Any) -> Node:
    values = [enc.value(x) for x in frozenset.__iter__(obj)]
    return ["frozenset", sorted(values, key=json.dumps)] if KEPT in values else ["frozenset", values, *_order(obj)]


def _order(obj: Any) -> list[Any]:
    there, hashed = _read(obj)
    return [there.table, hash(_HASHED), there.slots, there.removed, hashed]


def hashes_of(node: list[Any]) -> int | None:
    """The sum of the hashes of a recorded set's elements; None where it is not known. Where it differs, so may the order."""
    return node[_WITH_HASHES - 1] if len(node) == _WITH_HASHES else None


def _is_ordered(node: list[Any]) -> bool:
    """Whether a recorded order is to be kept: under another hash seed it cannot be."""
    return len(node) > 2 and node[3] == hash(_HASHED)


def _wanted(node: list[Any]) -> Layout:
    return Layout(node[2], *node[4:_ORDERED_PARTS])


def _have_other_hashes(node: list[Any], items: list[Any]) -> bool:
    recorded = hashes_of(node)
    return recorded is not None and sum(map(hash, items)) % _MOST != recorded


def _keeps_order(node: list[Any], items: list[Any]) -> bool:
    """Whether the order is to be brought about; one that is lost, as the hashes are others, is counted."""
    is_lost = _is_ordered(node) and _have_other_hashes(node, items)
    lost_orders[0] += is_lost and len(items) > 1
    return _is_ordered(node) and not is_lost


def _checked(node: list[Any], can: Callable[[list[Any], Layout], bool]) -> None:
    """Raises Refused where elements that are plain values cannot be laid as they were; of others that is seen when they are
    made."""
    if not _is_ordered(node) or any(map(is_ref, node[1])):
        return
    if len(node) not in (_ORDERED_PARTS, _WITH_HASHES):
        raise Refused("the order of a set cannot be brought about again")
    items = list(map(decode, node[1]))
    if not _have_other_hashes(node, items) and not can(items, _wanted(node)):
        raise Refused("the order of a set cannot be brought about again")


class Set(Kind):
    order = 2

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return type(live) is set and self.match_content(m, node, live)

    def match_content(self, m: Matcher, node: Node, live: Any) -> bool:
        m.pair_elements(node[1], set.__iter__(live))
        return True

    def check(self, m: Matcher, node: Node, index: int) -> None:
        _checked(node, lambda items, wanted: arrange(set(), items, wanted))

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        refuse_kept(node[1])

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return set()

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        if KEPT in node[1]:
            return
        items = [r.value(v) for v in node[1]]
        if _keeps_order(node, items):
            wanted = _wanted(node)
            same = len(obj) == len(items) and all(map(_is_same, set.__iter__(obj), items))
            if not (same and layout(obj) == wanted) and not arrange(obj, items, wanted):
                raise CannotRestore("", "the order of a set cannot be brought about again")
            return
        new = set(items)
        if new != obj or {type(x) for x in new} != {type(x) for x in set.__iter__(obj)}:
            set.clear(obj)
            set.update(obj, new)


def _is_same(one: Any, other: Any) -> bool:
    """Whether an element can stay: the same object, or an equal plain value."""
    return one is other or type(one) is type(other) and type(one) in _PLAIN and one == other


_PLAIN = (int, str, bytes, bool, float)


class FrozenSet(Whole):
    """Kept when it has the same elements in the same order, else built anew."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if type(live) is not frozenset:
            return False
        m.pair_elements(node[1], frozenset.__iter__(live))
        return True

    def check(self, m: Matcher, node: Node, index: int) -> None:
        _checked(node, lambda items, wanted: arranged(items, wanted) is not None)

    def of_items(self, r: Restorer, node: Node, index: int, items: Any) -> Any:
        if not _keeps_order(node, items):
            return frozenset(items)
        made = arranged(items, _wanted(node))
        if made is None:
            raise Refused("the order of a frozenset cannot be brought about again")
        return made


ENCODERS: dict[type, Encode] = {set: encode_set, frozenset: encode_frozenset}
KINDS = {"set": Set(), "frozenset": FrozenSet()}
