"""Lists, deques, tuples, byte strings and arrays of numbers: both directions.

Nodes: `["list", [values]]`, `["deque", [values], maxlen]`, `["tuple", [values]]`,
`["namedtuple", [values], module, qualname]`, `["numbers", leaf, "d" | "q", count, "list" | "tuple"]`,
`["bytes", leaf]`, `["bytearray", leaf]`, `["array", leaf, typecode]`.
"""

from __future__ import annotations

import array
import collections
import sys

from .atoms import same_atom
from .kind import Kind, Whole
from .kinds import KEPT, LONG_NUMBERS, Refused, refuse_kept, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer


def _little(values: array.array[Any]) -> bytes:
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def packed(enc: Encoder, obj: Any, kind: str) -> Any:
    """One leaf for a long list or tuple of nothing but floats, or nothing but 64-bit integers; else None."""
    types = set(map(type, obj))
    if len(types) != 1:
        return None
    code = "d" if types == {float} else "q"
    try:
        values = array.array(code, obj)
    except OverflowError:
        return None
    numbers = _little(values)
    if code == "q":
        enc.note_numbers(numbers)
    return ["numbers", enc.leaf(numbers), code, len(obj), kind]


def _sequence(enc: Encoder, values: Any, kind: str) -> Node:
    packable = len(values) > LONG_NUMBERS and type(values[0]) in (float, int)
    found: Node | None = packed(enc, values, kind) if packable else None
    return found or [kind, [enc.value(x) for x in values]]


def encode_list(enc: Encoder, obj: Any) -> Node:
    """Of an object derived from list: the native walk does this for lists, and for tuples."""
    return _sequence(enc, list(list.__iter__(obj)), "list")


def encode_tuple(enc: Encoder, obj: Any) -> Node:
    return _sequence(enc, obj, "tuple")


def encode_namedtuple(enc: Encoder, obj: Any) -> Node:
    return ["namedtuple", [enc.value(x) for x in tuple.__iter__(obj)], *type_name(type(obj))]


def encode_deque(enc: Encoder, obj: Any) -> Node:
    return ["deque", [enc.part(x) for x in collections.deque.__iter__(obj)], collections.deque.maxlen.__get__(obj)]


def encode_bytearray(enc: Encoder, obj: Any) -> Node:
    return ["bytearray", enc.leaf(bytes(obj))]


def encode_array(enc: Encoder, obj: Any) -> Node:
    return ["array", enc.leaf(obj.tobytes()), obj.typecode]


def encode_bytes(enc: Encoder, obj: Any) -> Node:
    """Long bytes; short ones are atoms."""
    return ["bytes", enc.leaf(obj)]


def differs(old: Any, new: Any) -> bool:
    return len(old) != len(new) or not all(map(same_atom, old, new))


class Sequence(Kind):
    """Lists and deques: matched by position, updated in place."""

    base: Any = list

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if type(live) is not self.base:
            return False
        return self.match_content(m, node, live)

    def match_content(self, m: Matcher, node: Node, live: Any) -> bool:
        for value, item in zip(node[1], self.base.__iter__(live)):
            m.pair(value, item)
        return KEPT not in node[1][len(live) :]

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        refuse_kept(node[1])

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return self.base()

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        old = list(self.base.__iter__(obj))
        new = [old[i] if v == KEPT else r.value(v) for i, v in enumerate(node[1])]
        if differs(old, new):
            self.replace(obj, new)

    def replace(self, obj: Any, new: Any) -> None:
        list.__setitem__(obj, slice(None), new)


class Deque(Sequence):
    base = collections.deque

    def match_content(self, m: Matcher, node: Node, live: Any) -> bool:
        return live.maxlen == node[2] and super().match_content(m, node, live)

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return collections.deque(maxlen=node[2])

    def replace(self, obj: Any, new: Any) -> None:
        collections.deque.clear(obj)
        collections.deque.extend(obj, new)


class Numbers(Kind):
    """A long list (in place) or tuple of numbers."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return node[4] == "list" and type(live) is list

    def match_content(self, m: Matcher, node: Node, live: Any) -> bool:
        return True

    def check(self, m: Matcher, node: Node, index: int) -> None:
        m.expect_bytes(node[1], 8 * node[3])

    def numbers(self, r: Restorer, node: Node) -> Any:
        values = array.array(node[2])
        values.frombytes(r.leaf(node[1]))
        if sys.byteorder == "big":
            values.byteswap()
        return values.tolist()

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return [] if node[4] == "list" else tuple(self.numbers(r, node))

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        if node[4] == "list":
            list.__setitem__(obj, slice(None), self.numbers(r, node))


class LongBytes(Kind):
    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return type(live) is bytes

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return bytes(r.leaf(node[1]))


class Bytes(Kind):
    """bytearray and array.array, in place."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return type(live) is bytearray if node[0] == "bytearray" else (type(live) is array.array and live.typecode == node[2])

    def match_content(self, m: Matcher, node: Node, live: Any) -> bool:
        return bool(node[0] == "bytearray" or live.typecode == node[2])

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        data = r.leaf(node[1])
        if node[0] == "bytearray":
            return bytearray(data)
        return array.array(node[2], bytes(data))

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        base = bytearray if node[0] == "bytearray" else array.array
        base.__setitem__(obj, slice(None), self.make(r, node, -1))


class Tuple(Whole):
    """Tuples and named tuples: kept when every element is the live one, else built anew."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if node[0] == "tuple" and type(live) is not tuple or not issubclass(type(live), tuple) or len(live) != len(node[1]):
            return False
        if node[0] == "namedtuple":
            if type_name(type(live)) != tuple(node[2:4]):
                return False
            m.saw_class(type(live))
        for value, item in zip(node[1], tuple.__iter__(live)):
            m.pair(value, item)
        return True

    def of_items(self, r: Restorer, node: Node, index: int, items: Any) -> Any:
        if node[0] == "tuple":
            return tuple(items)
        live = r.live_of(index)
        cls = type(live) if live is not None else r.find_class(node[2], node[3], node[0])
        if cls is None or not issubclass(cls, tuple):
            raise Refused(f"the class {node[2]}.{node[3]} is not defined")
        return tuple.__new__(cls, items)


ENCODERS: dict[type, Encode] = {
    list: encode_list,
    collections.deque: encode_deque,
    bytearray: encode_bytearray,
    array.array: encode_array,
    tuple: encode_tuple,
    bytes: encode_bytes,
}
KINDS = {
    "list": Sequence(),
    "deque": Deque(),
    "numbers": Numbers(),
    "bytes": LongBytes(),
    "bytearray": Bytes(),
    "array": Bytes(),
    "tuple": Tuple(),
    "namedtuple": Tuple(),
}
