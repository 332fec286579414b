"""First half of restoring: which live object stands for which recorded node. Changes nothing."""

from __future__ import annotations

from collections import deque
from typing import Any

from . import alone, hooks, loading, memory, owners, paths, reach
from .atoms import atom_of, decode
from .kinds import KEPT, CannotRestore, Refused, find_class, is_ref, type_name
from .registry import KINDS

_MISSING = object()


class Matcher:
    """`live[i]` is the live object of node i, or None. The shortest path decides; one live object serves one node."""

    def __init__(self, document: dict[str, Any], trust_pickle: bool):
        self.document = document
        self.nodes: list[list[Any]] = document["nodes"]
        self.sizes: list[int] = document["leaves"]
        self.trust_pickle = trust_pickle
        self.live: list[Any] = [None] * len(self.nodes)
        self.claims: set[int] = set()
        self.needs_memory: set[int] = set()
        self.specs: dict[str, Any] = {}
        """How live DTensors are distributed, by the text of it."""
        self.anchors: dict[int, tuple[Any, ...]] = {}
        self.index = -1
        self._hooks = hooks.recorded(document)
        self._classes: dict[tuple[Any, ...], type] = {}
        self._checked: set[type] = set()
        self._queue: deque[Any] = deque()
        self._keyed: list[list[Any]] = []

    def run(self, live_places: dict[str, Any], holders: alone.Holders = alone.NOBODY) -> None:
        for name, value in self.document["places"]:
            if name in live_places:
                self.pair(value, live_places[name])
        self._drain()
        for name, optimizer, position, value in self.document["owners"]:
            self._pair_owner(name, self.live[optimizer], position, value)
        for node in self.nodes:
            if node[0] == "loading" and self.live[node[5][0]] is None:
                self.pair(node[5], loading.that_looks(node[6]))
                self._drain()
        try:
            alone.part(self, holders)
        except Refused as refused:
            raise CannotRestore(paths.of_node(self.document, self.index), str(refused), by_added=True) from None
        memory.plan(self)
        self._check()

    def _pair_owner(self, name: str, optimizer: Any, position: int, value: Any) -> None:
        """Find the live module that owns a live optimizer's parameters: without it its buffers would stay as they are."""
        if optimizer is None:
            return
        found = owners.owners_of(optimizer)
        for module in [*found[position : position + 1], *found]:
            self.pair(value, module)
            self._drain()
        if self.live[value[0]] is None:
            raise CannotRestore(name, "the module that owns the optimizer's parameters is not the recorded one")

    def pair(self, value: Any, live: Any) -> None:
        """Propose `live` for an encoded value."""
        if type(value) is list and type(value[0]) is int and live is not None and self.live[value[0]] is None:
            self._queue.append((value[0], live))

    def pair_items(self, encoded: list[Any], items: Any) -> None:
        """Propose the values of `items` (key, value) for an encoded `[key, value, …]`, key by key."""
        live = dict(items)
        waiting = []
        for key, value in zip(encoded[0::2], encoded[1::2]):
            if is_ref(key):
                waiting.append((key, value))
            elif type(value) is list and key != KEPT:
                self.pair(value, live.get(decode(key)))
        if waiting and live:
            self._keyed.append([waiting, live])

    def pair_elements(self, encoded: list[Any], elements: Any) -> None:
        """Propose set elements that are objects, in turn, to recorded ones."""
        objects_ = [x for x in elements if atom_of(type(x)) is None]
        for value, live in zip([v for v in encoded if is_ref(v)], objects_):
            self.pair(value, live)

    def saw_class(self, cls: type) -> None:
        """Remember a class that has no global name (made inside a function) but has live instances."""
        self._classes.setdefault(type_name(cls), cls)

    def find_class(self, module: str, qualname: str, kind: str) -> type | None:
        """The class for a new object that a node of this kind describes. Refused when it can be none."""
        found = find_class(module, qualname) or self._classes.get((module, qualname))
        if found is not None and found not in self._checked:
            reach.check_class(found, kind)
            self._checked.add(found)
        return found

    @staticmethod
    def check_named(module: str, found: Any) -> None:
        """Refused for what only a checkpoint, and nothing that is here, would bring into the script."""
        reach.check_named(module, found)

    def expect_bytes(self, leaf: int, nbytes: int) -> None:
        if not 0 <= leaf < len(self.sizes) or self.sizes[leaf] != nbytes:
            raise Refused(f"the checkpoint is damaged: leaf {leaf} should have {nbytes} bytes")

    def _drain(self) -> None:
        while self._queue or self._keyed:
            while self._queue:
                index, live = self._queue.popleft()
                if self.live[index] is None and id(live) not in self.claims:
                    self._try(index, live)
            self._match_keys()

    def _try(self, index: int, live: Any) -> None:
        node = self.nodes[index]
        self.index = index
        waiting = len(self._queue)
        keyed = len(self._keyed)
        try:
            fits = KINDS[node[0]].match(self, node, live)
        except Refused:
            fits = False
        if fits:
            self.live[index] = live
            self.claims.add(id(live))
            return
        while len(self._queue) > waiting:
            self._queue.pop()
        del self._keyed[keyed:]

    def _match_keys(self) -> None:
        """Dicts keyed by objects: first those whose keys are known by now, then one dict by position."""
        progress = False
        for entry in list(self._keyed):
            waiting, live = entry
            left = []
            for key, value in waiting:
                known = self._peek(key)
                if known is _MISSING:
                    left.append((key, value))
                    continue
                progress = True
                self.pair(value, live.get(known))
            entry[0] = left
        self._keyed = [entry for entry in self._keyed if entry[0]]
        if progress or not self._keyed:
            return
        waiting, live = self._keyed.pop(0)
        by_address: Any = object.__hash__
        free = [key for key in live if type(key).__hash__ is by_address and id(key) not in self.claims]
        for (key, value), candidate in zip(waiting, free):
            self.pair(key, candidate)
            self.pair(value, live[candidate])

    def _peek(self, value: Any, depth: int = 20) -> Any:
        """What an encoded key is in the live program, as far as it is known."""
        if not is_ref(value):
            return _MISSING if value == KEPT else decode(value)
        if self.live[value[0]] is not None:
            return self.live[value[0]]
        node = self.nodes[value[0]]
        if node[0] != "tuple" or depth == 0:
            return _MISSING
        items = [self._peek(item, depth - 1) for item in node[1]]
        return _MISSING if any(item is _MISSING for item in items) else tuple(items)

    def _check_hooks(self, index: int, node: list[Any]) -> None:
        if self._hooks is None:
            return
        recorded, live = self._hooks.get(index, 0), self.live[index]
        if live is None and recorded:
            raise Refused("it has hooks, which no checkpoint holds")
        if live is not None and hooks.of_live(node, live) != recorded:
            raise Refused("it has other hooks here than it had in the recorded run")

    def _check(self) -> None:
        for index, node in enumerate(self.nodes):
            kind = KINDS.get(node[0])
            try:
                if kind is None:
                    raise Refused(f"unknown kind of node {node[0]!r}")
                kind.check(self, node, index)
                if self.live[index] is None:
                    kind.check_new(self, node, index)
                self._check_hooks(index, node)
            except Refused as refused:
                raise CannotRestore(paths.of_node(self.document, index), str(refused)) from None
