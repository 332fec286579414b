"""Two encoded states side by side: what differs, where."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..adapters import tqdm
from ..adapters.libraries import RENEWED, library_of
from .kinds import KEPT, OF_MODULES, OF_OBJECTS, is_ref
from .paths import all_paths, children, show
from .sets import hashes_of
from .tracked import THERE_OR_NOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .kinds import Node

LIMIT = 1000
_WITH_CLASS = (*OF_MODULES, *OF_OBJECTS)
_DEEP = 3
"""Elements of sets whose order is another in each run are told apart by what they hold, so far down."""


class Difference(NamedTuple):
    """`place`: path of what differs (`net.fc.weight`). `what`: one phrase (`float32[10, 64] differs`)."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


Grade = Callable[[str, int, int], str]
"""(dtype, leaf of the first, leaf of the second) -> how far they are apart."""


Passes = Callable[[str, Any, Any], bool]
"""(place, the first value, the second one, None where they are no plain ones) -> whether they may differ."""


def differences(
    graph_a: bytes,
    leaf_hashes_a: Sequence[Any],
    graph_b: bytes,
    leaf_hashes_b: Sequence[Any],
    grade: Grade | None = None,
    passes: Passes = lambda place, a, b: False,
    strictly: bool = False,
) -> list[Difference]:
    """What differs between two states, in the order of the first one's places; at most LIMIT entries.

    `leaf_hashes[i]` is anything that is equal when the bytes of leaf i are equal. Values reached twice are reported once.
    `strictly`: the order of keys counts, too, which objects are one, and how many items a queue may have. A replay needs none of
    that: it ran the same code.
    """
    comparison = _Comparison(json.loads(graph_a), leaf_hashes_a, json.loads(graph_b), leaf_hashes_b, grade, passes, strictly)
    comparison.run()
    return comparison.found


class _Comparison:
    def __init__(
        self,
        a: dict[str, Any],
        hashes_a: Sequence[Any],
        b: dict[str, Any],
        hashes_b: Sequence[Any],
        grade: Grade | None,
        passes: Passes,
        strictly: bool,
    ):
        self.a, self.b, self.strictly = a, b, strictly
        self.grade, self.passes = grade, passes
        self.hashes = (hashes_a, hashes_b)
        self.found: list[Difference] = []
        self.names = (all_paths(a), all_paths(b))
        self.queue: list[tuple[Any, ...]] = []
        self.partner: dict[int, int] = {}
        self.partner_of_b: dict[int, int] = {}
        self.renewed: set[tuple[int, int]] = set()
        """Objects that were one, and are equal at least (`libraries.RENEWED`)."""

    def run(self) -> None:
        self._roots(dict(self.a["places"]), dict(self.b["places"]))
        self._roots({o[0]: o[3] for o in self.a["owners"]}, {o[0]: o[3] for o in self.b["owners"]})
        at = 0
        while at < len(self.queue) and len(self.found) < LIMIT:
            self._nodes(*self.queue[at])
            at += 1
        self._random(dict(self.a["$random"]), dict(self.b["$random"]))

    def _say(self, place: str, what: str, a: Any = None, b: Any = None) -> None:
        if len(self.found) < LIMIT and not self.passes(place, a, b):
            self.found.append(Difference(place, what))

    def _roots(self, a: dict[str, Any], b: dict[str, Any]) -> None:
        for name in {**a, **b}:
            if name not in a or name not in b:
                self._say(name, "only in the second" if name in b else "only in the first")
            else:
                self._values(name, a[name], b[name])

    def _values(self, place: str, a: Any, b: Any) -> None:
        if is_ref(a) and is_ref(b):
            is_one = self.strictly and self.partner_of_b.setdefault(b[0], a[0]) != a[0]
            if is_one:
                self._say(place, "is the same object as another, and was not")
            elif a[0] not in self.partner:
                self.partner[a[0]] = b[0]
                self.queue.append((place, a[0], b[0]))
            elif self.partner[a[0]] != b[0] and any(f".{name}[" in place for name in RENEWED):
                if (a[0], b[0]) not in self.renewed:
                    self.renewed.add((a[0], b[0]))
                    self.queue.append((place, a[0], b[0]))
            elif self.partner[a[0]] != b[0]:
                self._say(place, "is not the same object as before")
        elif KEPT in (a, b) and place.rpartition(".")[2] in THERE_OR_NOT:
            pass
        elif is_ref(a) or is_ref(b) or repr(a) != repr(b):
            was, now = self._shown(a, 0), self._shown(b, 1)
            self._say(place, f"{was} differs" if was == now else f"{was} -> {now}", a, b)

    def _shown(self, value: Any, side: int) -> str:
        return describe((self.a, self.b)[side]["nodes"][value[0]]) if is_ref(value) else show(value)

    def _nodes(self, place: str, a: int, b: int) -> None:
        one, two = self.a["nodes"][a], self.b["nodes"][b]
        if one[0] == "opaque" and two[0] == "progress" and one[1:3] == two[1:3]:
            return None  # runs of earlier versions do not say what a bar had counted
        if describe(one) != describe(two):
            return self._say(place, f"{describe(one)} -> {describe(two)}")
        if not self._same_leaf(one, two):
            self._say(place, f"{describe(one)} {self._graded(one, two)}")
        elif one[0] in ("tensor", "ndarray", "sparse") and self._facts(one) != self._facts(two):
            self._say(place, f"{describe(one)}: layout, flags or history differ")
        elif one[0] == "opaque" and len(one) == len(two) == 5 and one[4] != two[4]:
            self._say(place, f"{describe(one)} : holds {one[4]} -> {two[4]}")
        elif (
            one[0] == "opaque"
            and one[:4] != two[:4]
            or one[0] in ("named", "rng")
            and _without_leaves(one) != _without_leaves(two)
        ):
            self._say(place, f"{' '.join(map(str, one[1:3]))} -> {' '.join(map(str, two[1:3]))}")
        mine, theirs = self._children(one, 0), self._children(two, 1)
        if one[0] in ("set", "frozenset") and hashes_of(one) != hashes_of(two):  # the same elements, met in another order
            mine, theirs = self._sorted(mine, 0), self._sorted(theirs, 1)
        if self.strictly:
            self._strictly(place, one, two, list(mine), list(theirs))
        for label in {**mine, **theirs}:
            if label in mine and label in theirs:
                self._values(place + label, mine[label], theirs[label])
            else:
                side = "first" if label in mine else "second"
                self._say(place + label, f"only in the {side}")

    def _strictly(self, place: str, one: Node, two: Node, mine: list[str], theirs: list[str]) -> None:
        if mine != theirs and sorted(mine) == sorted(theirs):
            self._say(place, f"{describe(one)}: the same in another order")
        if one[0] == "deque" and one[2:] != two[2:]:
            self._say(place, f"{describe(one)}: of at most {one[2]} -> {two[2]}")

    def _graded(self, one: Any, two: Any) -> str:
        mine, theirs = _leaves(one), _leaves(two)
        is_array = one[0] in ("tensor", "ndarray") and bool(mine) and bool(theirs)
        found = self.grade(one[2], mine[0], theirs[0]) if self.grade and is_array else ""
        return f"differs: {found}" if found else "differs"

    def _children(self, node: Node, side: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        caches = _caches(node)
        for label, value in children(node):
            if label.startswith("[#"):
                label = f"[{self.names[side][int(label[2:-1])] or '…'}]"
            if label != ".keys()" and not (node[0] == "progress" and label in tqdm.TIMED) and label not in caches:
                out.setdefault(label, value)
        return out

    def _sorted(self, children_: dict[str, Any], side: int) -> dict[str, Any]:
        """Elements of a set in an order that only depends on what they are."""
        return dict(zip(children_, sorted(children_.values(), key=lambda value: self._content(value, side, _DEEP))))

    def _content(self, value: Any, side: int, deep: int) -> str:
        """A value as text, so far down."""
        if not is_ref(value):
            return repr(value)
        node = (self.a, self.b)[side]["nodes"][value[0]]
        inside = self._children(node, side).items() if deep else ()
        hashes = [self.hashes[side][leaf] for leaf in _leaves(node)]
        return f"{describe(node)} {hashes} {[(label, self._content(child, side, deep - 1)) for label, child in inside]}"

    def _same_leaf(self, one: Any, two: Any) -> bool:
        mine = [self.hashes[0][i] for i in _leaves(one)]
        theirs = [self.hashes[1][i] for i in _leaves(two)]
        return mine == theirs

    @staticmethod
    def _facts(node: Node) -> Any:
        if node[0] == "sparse":
            return node[1:5]
        return node[2:8] + node[10:] if node[0] == "tensor" else node[2:]

    def _random(self, a: dict[str, list[Any]], b: dict[str, list[Any]]) -> None:
        for name in {**a, **b}:
            if name not in a or name not in b:
                self._say(f"$random.{name}", "only in the second" if name in b else "only in the first")
            elif not self._same_leaf(a[name], b[name]) or _without_leaves(a[name]) != _without_leaves(b[name]):
                self._say(f"$random.{name}", "state differs")


def _caches(node: Node) -> frozenset[str]:
    """What an object keeps of what it was asked: an added statement may have asked it."""
    library = library_of("torchmetrics" if node[0] == "torch.Metric" else node[1]) if node[0] in _WITH_CLASS else None
    return frozenset() if library is None else library.caches


def describe(node: Node) -> str:
    """`float32[10, 64]`, `dict of 3`, `Adam`: what a node is, not what it holds."""
    kind: str = node[0]
    if kind == "tensor":
        return f"{node[2]}{node[3]}"
    if kind == "sparse":
        return f"{node[1]}{node[2]}"
    if kind == "ndarray":
        return f"array {node[2]}{node[3]}"
    if kind in (*OF_MODULES, *OF_OBJECTS, "pickle", "handle", "value", "progress"):
        return str(node[3] if kind in ("pickle", "handle") else node[2])
    if kind == "numbers":
        return f"{node[4]} of {node[3]}"
    if kind in ("dict", "OrderedDict", "defaultdict"):
        return f"{kind} of {len(node[1]) // 2}"
    if kind in ("list", "tuple", "set", "frozenset", "deque", "namedtuple", "objects"):
        return f"{kind} of {len(node[1])}"
    return kind


def _leaves(node: Node) -> list[int]:
    if node[0] in ("tensor", "ndarray", "numbers", "bytes", "bytearray", "array", "pickle", "handle"):
        return [] if node[1] is None else [node[1]]
    if node[0] == "object" and node[4] is not None:
        return _leaves(node[4])
    if node[0] == "rng":
        return [node[3]] if node[1] in ("python", "torch") else _packed_leaves(node[3])
    return []


def _packed_leaves(packed: Any) -> list[int]:
    if type(packed) is not list:
        return []
    if packed[0] == "a":
        return [packed[2]]
    return [i for item in packed[1:] for i in _packed_leaves(item)] if packed[0] == "d" else []


def _without_leaves(node: Node) -> Any:
    if node[0] != "rng":
        return node
    return node[:3] + node[4:] if node[1] in ("python", "torch") else _packed_values(node[3])


def _packed_values(packed: Any) -> Any:
    if type(packed) is list and packed[0] == "a":
        return packed[1]
    if type(packed) is list and packed[0] == "d":
        return [_packed_values(item) for item in packed[1:]]
    return packed
