"""Where a node is, in the user's words: `net.fc.weight`, `optimizer.state[net.fc.weight]['exp_avg']`."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator

from .kinds import OF_MODULES, OF_OBJECTS, is_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Node

_LENGTH = 200


def children(node: Node) -> Iterator[tuple[str, object]]:
    """(label, encoded value) of what a node holds. A label `[#]` stands for a key that is itself an object."""
    kind = node[0]
    if kind in OF_OBJECTS:
        yield from _named(node[3])
        if node[4] is not None:
            yield from children(node[4])
        if kind == "loading":
            yield "(loader)", node[5]
    elif kind == "progress":
        yield from _named(node[3])
    elif kind in OF_MODULES:
        for encoded in (*node[4:7], node[3]):
            yield from _named(encoded)
    elif kind == "tensor":
        yield from _named(node[9])
        if node[8] is not None:
            yield ".grad", node[8]
    elif kind == "dtensor":
        yield ".to_local()", node[1]
        if node[4] is not None:
            yield ".grad", node[4]
    elif kind == "at":
        yield ".__reduce__()", node[1]
    elif kind == "suspended":
        yield from _named(node[5])
        yield from ((f".gi_frame[{number}]", value) for number, value in enumerate(node[6]))
    elif kind in ("batches", "drawn"):
        yield from ((f".gi_frame[{number}]", value) for number, value in enumerate(node[1:]))
    elif kind == "sparse":
        for i, value in enumerate(node[5]):
            yield (".values()" if i == len(node[5]) - 1 else f".indices()[{i}]"), value
    elif kind in ("dict", "OrderedDict", "defaultdict"):
        for key, value in zip(node[1][0::2], node[1][1::2]):
            yield (f"[#{key[0]}]" if is_ref(key) else f"[{show(key)}]"), value
        for key in node[1][0::2]:
            yield ".keys()", key
        if kind == "defaultdict":
            yield ".default_factory", node[2]
    elif kind in ("list", "tuple", "deque", "set", "frozenset", "namedtuple", "objects"):
        for i, value in enumerate(node[1]):
            yield f"[{i}]", value
    elif kind == "method":
        yield ".__self__", node[1]
    elif kind == "weakref":
        yield "()", node[1]
    elif kind == "generator":
        yield ".bit_generator", node[1]
    elif kind == "partial":
        for i, value in enumerate((node[1], *node[2], *node[3])):
            yield f".partial[{i}]", value
        yield from _named(node[6] if len(node) > 6 else [])
    elif kind == "data":
        for i, value in enumerate(node[2]):
            yield f".args[{i}]", value
    elif kind == "value":
        yield from _named(node[3])
        yield ".base", node[5]


def _named(encoded: list[Any]) -> Iterator[tuple[str, object]]:
    for name, value in zip(encoded[0::2], encoded[1::2]):
        yield f".{name}", value


def show(atom: Any) -> str:
    """An atom as Python would write it."""
    from .atoms import decode

    try:
        text = repr(decode(atom))
    except Exception:  # its class is not defined here, or its library not imported
        is_member = isinstance(atom, list) and len(atom) == 4 and atom[0] == "e"
        text = f"{atom[2]}.{atom[3]}" if is_member else str(atom[-1] if isinstance(atom, list) else atom)
    return text if len(text) <= _LENGTH else text[:_LENGTH] + "…"


def plain(atom: Any) -> Any:
    """What an atom stands for; what cannot be read stays as it is."""
    from .atoms import decode

    try:
        return atom if is_ref(atom) else decode(atom)
    except Exception:  # its class is not defined here
        return atom


def all_paths(document: dict[str, Any]) -> list[str | None]:
    """The shortest path of every node, None for one that nothing leads to."""
    nodes = document["nodes"]
    found: list[str | None] = [None] * len(nodes)
    queue: deque[Any] = deque()

    def reach(value: Any, path: str) -> None:
        if is_ref(value) and found[value[0]] is None:
            found[value[0]] = path
            queue.append(value[0])

    for name, value in document["places"]:
        reach(value, name)
    for name, _, _, value in document["owners"]:
        reach(value, name)
    while queue:
        index = queue.popleft()
        for label, value in children(nodes[index]):
            if is_ref(value):
                reach(value, found[index] + _resolved(label, found))
    return found


def _resolved(label: str, found: list[str | None]) -> str:
    """A key that is an object, by its own path when that is known already."""
    if label.startswith("[#"):
        return f"[{found[int(label[2:-1])] or '…'}]"
    return label


def by_reference(graph: bytes) -> list[tuple[str, str]]:
    """(path, class) of everything in a graph whose state was not recorded and whose live object will stay."""
    document = json.loads(graph)
    found = all_paths(document)
    return [
        (found[i] or f"node {i}", ".".join(filter(None, (node[1].replace("builtins", ""), node[2]))))
        for i, node in enumerate(document["nodes"])
        if node[0] == "opaque"
    ]


def of_node(document: dict[str, Any], index: int) -> str:
    return all_paths(document)[index] or f"node {index}"


def of_object(enc: Encoder, places: dict[str, object]) -> str:
    """The path of the object that an Encoder is at, from the objects themselves: their nodes are not complete yet."""
    steps: list[str] = []
    index: int | None = enc.current
    while index is not None and index >= 0:
        parent, last = enc.parent(index), enc.object(index)
        if parent is not None and parent >= 0:
            steps.append(_label(enc.object(parent), last))
        index = parent
        if parent is not None and parent < 0:
            root = next((name for name, value in places.items() if value is last), enc.root)
            return root + "".join(reversed(steps))
    return enc.root


def _label(parent: Any, child: Any) -> str:
    attributes: Any = getattr(parent, "__dict__", None)
    if issubclass(type(attributes), dict):
        for name, value in attributes.items():
            if value is child:
                return f".{name}"
            if name in ("_parameters", "_buffers", "_modules") and issubclass(type(value), dict):
                for key, item in value.items():
                    if item is child:
                        return f".{key}"
    if issubclass(type(parent), dict):
        for key, value in dict.items(parent):
            if value is child:
                return f"[{key!r}]" if issubclass(type(key), (str, int, float, tuple)) else "[…]"
    if issubclass(type(parent), (list, tuple)):
        for i, value in enumerate(parent):
            if value is child:
                return f"[{i}]"
    for name in getattr(type(parent), "__slots__", ()):
        if getattr(parent, name, None) is child:
            return f".{name}"
    return ".…"
