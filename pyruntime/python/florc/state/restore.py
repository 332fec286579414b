"""A graph and its leaves -> the program's objects, in place wherever identity matters."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from . import generators, memory, paths
from .atoms import decode
from .kinds import FORMAT, RANDOM, CannotRestore, Refused, is_ref, no_collections
from .match import Matcher
from .registry import KINDS


def restore(
    graph: bytes, read_leaf: Callable[[int], Any], live: dict[str, Any], *, trust_pickle: bool = True, foreign: Iterable[Any] = ()
) -> dict[str, Any]:
    """Put the recorded state into the objects of `live` (place -> object) and return the value of every place.

    A place missing in `live` is unbound: it gets a new object, unless another place leads to its live one. Leave out
    what the loop only rebinds, so that what the name held before keeps its value. The objects in `foreign` are known to be
    no part of the recorded state, wherever they hang now, and stay as they are. All leaves are read before anything
    changes. Raises CannotRestore, naming the place, with nothing changed.
    """
    with no_collections(), _ordinary_tensors():
        return _restore(json.loads(graph), read_leaf, live, trust_pickle, foreign)


def _restore(document: dict[str, Any], read_leaf: Any, live: dict[str, Any], trust_pickle: bool, foreign: Any) -> dict[str, Any]:
    if document.get("format") != FORMAT:
        raise CannotRestore("", f"format {document.get('format')} of a checkpoint is not known")
    generators.check_globals(document[RANDOM])
    matcher = Matcher(document, trust_pickle)
    matcher.claims.update(map(id, foreign))
    matcher.run(live)
    restorer = Restorer(matcher, read_leaf)
    restorer.make()
    restorer.fill()
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
        self._leaves = [self._read(read_leaf, i, n) for i, n in enumerate(self.document["leaves"])]

    @staticmethod
    def _read(read_leaf: Any, index: int, nbytes: int) -> Any:
        try:
            data = read_leaf(index)
        except Exception as error:
            raise CannotRestore("", f"leaf {index} cannot be read: {error}") from error
        if memoryview(data).nbytes != nbytes:
            raise CannotRestore("", f"leaf {index} has {memoryview(data).nbytes} bytes instead of {nbytes}")
        return data

    def leaf(self, index: int) -> Any:
        return self._leaves[index]

    def live_of(self, index: int) -> Any:
        return self.matcher.live[index]

    def value(self, encoded: list[Any]) -> Any:
        """The object of an encoded value whose node is made."""
        return self.made[encoded[0]] if is_ref(encoded) else decode(encoded)

    def later(self, action: Callable[[], None]) -> None:
        """Do it after every plain attribute is set (dicts and sets hash their keys)."""
        self._later.append(action)

    def make(self) -> None:
        """All new objects and memory; live objects are not touched, so a failure leaves them as they were."""
        index = -1
        try:
            memory.build(self, self.matcher)
            for index, node in enumerate(self.nodes):
                if not KINDS[node[0]].immutable:
                    live = self.matcher.live[index]
                    self._put(index, live if live is not None else KINDS[node[0]].make(self, node, index))
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
            if order == 1:
                for action in self._later:
                    action()
        generators.set_globals(self, self.document[RANDOM])
