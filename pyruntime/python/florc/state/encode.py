"""Places -> one object graph and raw byte leaves."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Optional

from . import classify, generators, memory, owners, paths
from .atoms import ATOMS, flat_tuple
from .kinds import FORMAT, INLINE_BYTES, KEPT, OWNER, RANDOM, Encoded, Refused, Unsupported, is_ref, no_collections
from .references import encode_weakref, refuse_root

LIGHT_NODES = 5000
"""A dataset may be a large tree of Python objects: beyond this many nodes the rest is kept as it is."""
LIGHT_ITEMS = 1000


def encode(places: Dict[str, Any], *, gradients: bool = False, outputs: Iterable[str] = (),
           names: Optional[Dict[str, Any]] = None) -> Encoded:
    """The state of `places` (name -> object) and of all generators, at this instant.

    Leaves refer to live memory where that needs no copy: read them before anything trains on.
    `gradients` stores `.grad` of leaf tensors too. `outputs` names places that are known to be output only (files that
    the loop writes): they are recorded by reference. `names` are further names whose objects are part of the state only
    where a place leads to them. Raises Unsupported, naming the place.
    """
    encoder = Encoder(gradients)
    with no_collections():
        return _encode(encoder, places, frozenset(outputs), names or {})


def _encode(encoder: Encoder, places: Dict[str, Any], outputs: frozenset, names: Dict[str, Any]) -> Encoded:
    try:
        roots = encoder.roots(places, outputs)
        extra = encoder.owner_roots()
        encoder.run_light()
        roots += encoder.known(names)
        random_state = generators.capture(encoder)
    except Refused as refused:
        raise Unsupported(encoder.path(places), str(refused)) from None
    document = {
        "format": FORMAT,
        "gradients": encoder.gradients,
        "places": [[name, value] for name, value in roots],
        "owners": extra,
        RANDOM: random_state,
        "shared": memory.shared(encoder),
        "leaves": [len(leaf) if type(leaf) is bytes else leaf.nbytes for leaf in encoder.leaves],
        "nodes": encoder.nodes,
    }
    graph = json.dumps(document, separators=(",", ":"), check_circular=False, allow_nan=False).encode("ascii")
    return Encoded(graph, encoder.leaves, sum(document["leaves"]), encoder)


class Encoder:
    """Walks objects breadth first; an object's node number is the order in which it was met.

    `objects[i]` is held so that its address stays its own while the walk lasts. Light objects (datasets, samplers,
    loaders) wait until everything else is known: what is reachable without them is state, the rest is bulk data.
    """

    def __init__(self, gradients: bool = False):
        self.gradients = gradients
        self.nodes: List[Any] = []
        self.objects: List[Any] = []
        self.parents: List[int] = []
        self.memo: Dict[int, int] = {}
        self.leaves: List[Any] = []
        self.spans: List[tuple] = []
        self.tensor_leaves: Dict[tuple, int] = {}
        self.optimizers: List[int] = []
        self.histories = 0
        """How many tensors with an autograd history were met: it is not part of the state."""
        self.current = -1
        self.root = ""
        self.light = False
        self.light_nodes: List[int] = []
        self.weak_nodes: List[int] = []
        self.kept: List[tuple] = []
        """What stays as it is: (number of the node that holds it, object)."""
        self.is_cut = False
        """Whether more stays as it is because there was too much of it."""
        self._done = 0
        self.names: List[str] = []
        """Names that hold an object which a place leads to."""

    def roots(self, places: Dict[str, Any], outputs: frozenset) -> list:
        found = []
        for name, value in places.items():
            self.root, self.current = name, -1
            found.append([name, self.value(value)])
        self.run()
        for (name, value), (_, encoded) in zip(places.items(), found):
            if is_ref(encoded) and name not in outputs and not callable(self.nodes[encoded[0]]):
                self.root, self.current = name, -1
                refuse_root(value, self.nodes[encoded[0]])
        return found

    def known(self, names: Dict[str, Any]) -> list:
        """Roots for the names whose objects were met."""
        found = [[name, [self.memo[id(value)]]] for name, value in names.items() if id(value) in self.memo]
        self.names = [name for name, _ in found]
        return found

    def owner_roots(self) -> list:
        """[[place, optimizer's node, position, value]]: modules whose parameters an optimizer in the graph updates."""
        found = []
        for index in list(self.optimizers):
            for position, module in enumerate(owners.owners_of(self.objects[index])):
                if id(module) not in self.memo:
                    self.current = index
                    found.append([f"{OWNER}{len(found)}", index, position, self.value(module)])
                    self.run()
        return found

    def value(self, obj):
        """The encoded form of one object: an atom, or a reference to its node (made when new)."""
        kind = type(obj)
        atom = ATOMS.get(kind)
        if atom is not None:
            return atom(obj)
        index = self.memo.get(id(obj))
        if index is not None:
            return [index]
        if kind is tuple:
            flat = flat_tuple(obj)
            if flat is not None:
                return flat
        elif kind is bytes and len(obj) <= INLINE_BYTES:
            return ["b", obj.hex()]
        handler = classify.HANDLERS.get(kind)
        if handler is None:
            handler = classify.learn(kind, obj)
            if kind in ATOMS:
                return ATOMS[kind](obj)
        if self.light and self.is_bulk(handler, obj):
            self.kept.append((self.current, obj))
            return KEPT
        index = len(self.objects)
        self.memo[id(obj)] = index
        self.objects.append(obj)
        self.nodes.append(handler)
        self.parents.append(self.current)
        return [index]

    def run(self) -> None:
        """Fill every node that was met and not yet filled."""
        objects, nodes, index = self.objects, self.nodes, self._done
        while index < len(objects):
            handler = nodes[index]
            if handler is encode_weakref:
                self.weak_nodes.append(index)
            elif handler in classify.LIGHT and not self.light:
                self.light_nodes.append(index)
            else:
                self.current = index
                nodes[index] = handler(self, objects[index])
            index += 1
        self._done = index

    def run_light(self) -> None:
        """Datasets and the like, then weak references: both ask what is in the graph already."""
        self.light = True
        for index in self.light_nodes:
            self.current = index
            self.nodes[index] = self.nodes[index](self, self.objects[index])
        self.run()
        for index in self.weak_nodes:
            self.current = index
            self.nodes[index] = encode_weakref(self, self.objects[index])
        self.light = False

    def is_bulk(self, handler, obj) -> bool:
        if handler in classify.BULK:
            return True
        if len(self.objects) - len(self.light_nodes) > self.light_limit:
            self.is_cut = True
            return True
        return handler in classify.SIZED and len(obj) > LIGHT_ITEMS

    @property
    def light_limit(self) -> int:
        if not hasattr(self, "_light_limit"):
            self._light_limit = len(self.objects) + LIGHT_NODES
        return self._light_limit

    def leaf(self, leaf) -> int:
        """The index of a new leaf: a Leaf or bytes."""
        self.leaves.append(leaf)
        return len(self.leaves) - 1

    def path(self, places: Dict[str, Any]) -> str:
        """Where the object being encoded is, in the user's words."""
        return paths.of_object(self, places)
