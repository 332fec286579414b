"""`itertools.count`, which numbers samples, nodes and steps: it is moved in place, whoever holds it.

Node: `["count", next number, step]`, of whole numbers. What it says of itself is read from its `repr`: Python 3.14 has no other
way. A counter only goes forward: one that is further here than it was, or more than `_MOST` steps away (a tenth of a second),
is another one."""

from __future__ import annotations

import itertools
from collections import deque

from .kind import Kind
from .kinds import Refused
from .references import encode_opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer

_MOST = 10_000_000


def _numbers(counter: Any) -> tuple[int, int] | None:
    """The next number and the step of a counter of whole numbers."""
    words = repr(counter)[len("count(") : -1].split(", ")
    try:
        return int(words[0]), int(words[1]) if len(words) > 1 else 1
    except ValueError:
        return None


def encode_count(enc: Encoder, obj: Any) -> Node:
    found = _numbers(obj)
    return encode_opaque(enc, obj) if found is None else ["count", *found]


class Count(Kind):
    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        found = _numbers(live) if type(live) is itertools.count else None
        return found is not None and _away(node, found) is not None

    def check(self, m: Matcher, node: Node, index: int) -> None:
        if not all(type(number) is int for number in node[1:3]):
            raise Refused("the checkpoint is damaged: a counter counts no whole numbers")

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        live = r.live_of(index)
        if live is None:
            return itertools.count(node[1], node[2])
        r.last(lambda: _go_on(live, node))
        return live


def _away(node: Node, found: tuple[int, int]) -> int | None:
    """How many steps a counter has to go on; None where it cannot get there."""
    (number, step), there = found, node[1]
    if step != node[2]:
        return None
    if step == 0:
        return 0 if number == there else None
    steps, rest = divmod(there - number, step)
    return steps if rest == 0 and 0 <= steps <= _MOST else None


def _go_on(counter: Any, node: Node) -> None:
    found = _numbers(counter)
    steps = None if found is None else _away(node, found)
    if steps is None:
        raise Refused("a counter is further here than it was")
    deque(itertools.islice(counter, steps), maxlen=0)


ENCODERS: dict[type, Encode] = {itertools.count: encode_count}
KINDS: dict[str, Kind] = {"count": Count()}
