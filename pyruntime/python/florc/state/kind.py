"""What restoring asks of every kind of node."""

from __future__ import annotations

from .kinds import KEPT, refuse_kept


class Kind:
    """One kind of node. `m` is the Matcher (nothing may be changed through it), `r` the Restorer.

    order      filling goes by rising order: tensors and arrays 0, objects and lists 1, dicts and sets 2
    immutable  made from its parts and never filled
    """

    order = 1
    immutable = False

    def match(self, m, node, live) -> bool:
        """Whether `live` can become this node's object; if so its parts are paired through `m`."""
        return False

    def check(self, m, node, index) -> None:
        """Raise Refused when this node cannot be restored. Called for every node, matched or not."""

    def check_new(self, m, node, index) -> None:
        """Raise Refused when no new object can be made. Called for nodes without a live object."""

    def parts(self, node):
        """Encoded values that must be made before an immutable object."""
        return ()

    def make(self, r, node, index):
        """A new object: complete when immutable, else a shell that `fill` completes. Must not touch live objects."""
        raise NotImplementedError

    def same(self, made, live) -> bool:
        """Whether the live immutable object can stay in place of the one just made."""
        return False

    def fill(self, r, node, obj, index) -> None:
        """Put the recorded state into `obj`, live or new."""


class Whole(Kind):
    """One kind of immutable node that has its elements' values second: kept, or made anew of all of them at once."""

    immutable = True

    def check_new(self, m, node, index) -> None:
        refuse_kept(node[1])

    def parts(self, node):
        return node[1]

    def make(self, r, node, index):
        return r.live_of(index) if KEPT in node[1] else self.of_items(r, node, index, [r.value(v) for v in node[1]])

    def of_items(self, r, node, index, items: list):
        """The object with these elements."""
        raise NotImplementedError
