"""A graph and its leaves -> the program's objects, in place wherever identity matters."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from .. import _native
from ..support.light import Uncollected
from . import alone, generators, memory, paths, tensors
from .atoms import decode
from .deferred import can_be_counted, candidates, deferred
from .kinds import FORMAT, RANDOM, CannotRestore, Refused, is_ref
from .match import Matcher
from .registry import KINDS


class Leaves(Protocol):
    """The leaves of a checkpoint, of which large ones are read when they are needed."""

    may_wait: bool
    """Whether the state of optimizers may be read later than the rest."""

    def is_at_hand(self, index: int) -> bool:
        """Whether a leaf was read already."""

    def __call__(self, index: int) -> Any:
        """The bytes of a leaf."""

    def fill(self, wanted: list[tuple[int, _native.MemoryLeaf, int]]) -> None:
        """Bring leaves to memory that they fill, of tensors at these addresses. Raises where one cannot be read; the memory may
        hold anything then."""


def restore(
    graph: bytes | dict[str, Any],
    read_leaf: Callable[[int], Any] | Leaves,
    live: dict[str, Any],
    *,
    trust_pickle: bool = True,
    foreign: Iterable[Any] = (),
    holders: alone.Holders = alone.NOBODY,
) -> dict[str, Any]:
    """Put the recorded state into the objects of `live` (place -> object) and return the value of every place.

    A place missing in `live` is unbound: it gets a new object, unless another place leads to its live one. Leave out
    what the loop only rebinds, so that what the name held before keeps its value. The objects in `foreign` are known to be
    no part of the recorded state, wherever they hang now, and stay as they are. `holders`: who held what of it
    (`alone`). A function `read_leaf` reads all leaves before anything changes; `Leaves` are read where they are needed, and what
    only an optimizer's `state` leads to may wait (`deferred`). `graph`: the text, or what it says. Raises CannotRestore, naming
    the place, with nothing changed, unless one of `Leaves` cannot be read.
    """
    with Uncollected(), _ordinary_tensors(), deferred.guard.lowered():
        document = json.loads(graph) if isinstance(graph, bytes) else graph
        return _restore(document, read_leaf, live, trust_pickle, foreign, holders)


def _restore(
    document: dict[str, Any], read_leaf: Any, live: dict[str, Any], trust_pickle: bool, foreign: Any, holders: alone.Holders
) -> dict[str, Any]:
    if document.get("format") != FORMAT:
        raise CannotRestore("", f"format {document.get('format')} of a checkpoint is not known")
    generators.check_globals(document[RANDOM])
    matcher = Matcher(document, trust_pickle)
    matcher.claims.update(map(id, foreign))
    matcher.run(live, holders)
    restorer = Restorer(matcher, read_leaf)
    restorer.make()
    deferred.replace([live for live, node in zip(matcher.live, matcher.nodes) if node[0] == "tensor" and node[1] is not None])
    restorer.fill()
    restorer.let_wait()
    return {name: restorer.value(value) for name, value in document["places"]}


def _ordinary_tensors() -> Any:
    """Tensors made under the user's inference mode could never be trained."""
    torch: Any = sys.modules.get("torch")
    return torch.inference_mode(False) if hasattr(torch, "inference_mode") else contextlib.nullcontext()


class Restorer:
    """Second half of restoring. `made[i]` is the object of node i: the live one or a new one."""

    def __init__(self, matcher: Matcher, read_leaf: Callable[[int], Any]):
        self.matcher = matcher
        self.document = matcher.document
        self.nodes = matcher.nodes
        self.gradients = self.document["gradients"]
        self.find_class = matcher.find_class
        self.memory: dict[int, Any] = {}
        self.first: list[Callable[[], None]] = []
        self.made: list[Any] = [None] * len(self.nodes)
        self._is_made = bytearray(len(self.nodes))
        self._later: list[Callable[[], None]] = []
        self._last: list[Callable[[], None]] = []
        self.shared = {index for group in self.document["shared"] for index, _ in group}
        self.brought: list[tuple[int, _native.MemoryLeaf, int]] = []
        """Large leaves, the memory into which they are read together, and the address of its tensor."""
        far: Any = read_leaf if hasattr(read_leaf, "is_at_hand") else None
        self._far = far
        may_wait = far is not None and far.may_wait and can_be_counted()
        self.waiting = candidates(self.document) if may_wait else {}
        """Tensor nodes that are not filled if it turns out that nobody can look at them unnoticed."""
        self._leaves = [
            self._read(read_leaf, i, n) if far is None or far.is_at_hand(i) else None
            for i, n in enumerate(self.document["leaves"])
        ]

    @staticmethod
    def _read(read_leaf: Any, index: int, nbytes: int) -> Any:
        try:
            data = read_leaf(index)
        except Exception as error:
            raise CannotRestore("", f"leaf {index} cannot be read: {error}") from error
        if memoryview(data).nbytes != nbytes:
            raise CannotRestore("", f"leaf {index} has {memoryview(data).nbytes} bytes instead of {nbytes}")
        return data

    def is_at_hand(self, index: int) -> bool:
        """Whether a leaf was read already."""
        return self._leaves[index] is not None

    def leaf(self, index: int) -> Any:
        data = self._leaves[index]
        return self._read(self._far, index, self.document["leaves"][index]) if data is None else data

    def bring(self) -> None:
        """Read the large leaves to their places, all at once."""
        brought, self.brought = self.brought, []
        if brought:
            self._far.fill(brought)

    def live_of(self, index: int) -> Any:
        return self.matcher.live[index]

    def value(self, encoded: list[Any]) -> Any:
        """The object of an encoded value whose node is made."""
        return self.made[encoded[0]] if is_ref(encoded) else decode(encoded)

    def later(self, action: Callable[[], None]) -> None:
        """Do it after every plain attribute is set (dicts and sets hash their keys)."""
        self._later.append(action)

    def last(self, action: Callable[[], None]) -> None:
        """Do it when everything is filled."""
        self._last.append(action)

    def make(self) -> None:
        """All new objects and memory; live objects are not touched, so a failure leaves them as they were."""
        index = -1
        try:
            memory.build(self, self.matcher)
            for index, node in enumerate(self.nodes):
                if not KINDS[node[0]].immutable:
                    live = self.matcher.live[index]
                    self._put(index, live if live is not None else KINDS[node[0]].make(self, node, index))
            self.bring()  # a sparse tensor is made of the values of others
            for index in range(len(self.nodes)):
                self._make_with_parts(index)
        except Exception as error:
            place = paths.of_node(self.document, index) if index >= 0 else ""
            raise CannotRestore(place, str(error) or type(error).__name__) from error

    def _put(self, index: int, obj: Any) -> None:
        self.made[index] = obj
        self._is_made[index] = 1

    def _make_with_parts(self, index: int) -> None:
        """An immutable object after the immutable objects in it, however deep."""
        stack = [index]
        waiting = set()
        while stack:
            top = stack[-1]
            if self._is_made[top]:
                stack.pop()
                continue
            node = self.nodes[top]
            parts = [v[0] for v in KINDS[node[0]].parts(node) if is_ref(v) and not self._is_made[v[0]]]
            if not parts:
                self._make_immutable(stack.pop(), node)
            elif top in waiting:
                raise Refused("an immutable object contains itself")
            else:
                waiting.add(top)
                stack.extend(parts)

    def _make_immutable(self, index: int, node: list[Any]) -> None:
        kind, live = KINDS[node[0]], self.matcher.live[index]
        made = kind.make(self, node, index)
        self._put(index, live if live is not None and kind.same(made, live) else made)

    def fill(self) -> None:
        """The only part that changes live objects."""
        for action in self.first:
            action()
        for order in range(4):
            for index, node in enumerate(self.nodes):
                kind = KINDS[node[0]]
                if kind.order == order and not kind.immutable:
                    kind.fill(self, node, self.made[index], index)
            if order == 0:
                self.bring()
            if order == 1:
                for action in self._later:
                    action()
        for action in self._last:
            action()
        generators.set_globals(self, self.document[RANDOM])

    def let_wait(self) -> None:
        """What only the state of an optimizer leads to is filled later, unless something in the program leads to it as well."""
        ways = []
        self.memory.clear()
        for index, way in self.waiting.items():  # references are counted: there are none here
            node, optimizer = self.nodes[index], self.made[way.optimizer]
            if deferred.guard.can_watch(type(optimizer)):
                ways.append((node, optimizer, self.value(way.parameter), self.value(way.name)))
                for number in (index, way.held, way.state):
                    self.made[number] = self.matcher.live[number] = None
            else:
                tensors.put(self, node, self.made[index], is_apart=True, owner=self.made[index])
        for node, optimizer, parameter, name in ways:
            if not deferred.add(optimizer, parameter, name, node, self._far):
                tensor = deferred.guard.attributes(optimizer)["state"][parameter][name]
                tensors.put(self, node, tensor, is_apart=True, owner=tensor)
        self.bring()
