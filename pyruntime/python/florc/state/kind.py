"""What restoring asks of every kind of node."""

from __future__ import annotations

from .equal import same_value
from .kinds import KEPT, refuse_kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer


class Kind:
    """One kind of node. `m` is the Matcher (nothing may be changed through it), `r` the Restorer.

    order      filling goes by rising order: tensors and arrays 0, objects and lists 1, dicts and sets 2
    immutable  made from its parts and never filled
    """

    order = 1
    immutable = False

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        """Whether `live` can become this node's object; if so its parts are paired through `m`."""
        return False

    def check(self, m: Matcher, node: Node, index: int) -> None:
        """Raise Refused when this node cannot be restored. Called for every node, matched or not."""

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        """Raise Refused when no new object can be made. Called for nodes without a live object."""

    def parts(self, node: Node) -> Iterable[Any]:
        """Encoded values that must be made before an immutable object."""
        return ()

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        """A new object: complete when immutable, else a shell that `fill` completes. Must not touch live objects."""
        raise NotImplementedError

    def same(self, made: Any, live: Any) -> bool:
        """Whether the live immutable object can stay in place of the one just made."""
        return same_value(made, live)

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        """Put the recorded state into `obj`, live or new."""


class Whole(Kind):
    """One kind of immutable node that has its elements' values second: kept, or made anew of all of them at once."""

    immutable = True

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        refuse_kept(node[1])

    def parts(self, node: Node) -> Iterable[Any]:
        values: list[Any] = node[1]
        return values

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return r.live_of(index) if KEPT in node[1] else self.of_items(r, node, index, [r.value(v) for v in node[1]])

    def of_items(self, r: Restorer, node: Node, index: int, items: list[Any]) -> Any:
        """The object with these elements."""
        raise NotImplementedError
