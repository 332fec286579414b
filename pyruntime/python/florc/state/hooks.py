"""Hooks are code: no checkpoint holds them. How many an object has is in the graph, so that others in a replay are noticed.

`hooks` of a document: `[[number of the node, count], …]`, for objects that have some.
"""

from __future__ import annotations

from .kinds import OF_MODULES
from .objects import HOOKS, instance_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .kinds import Node

_OF_TENSORS = ("_backward_hooks", "_post_accumulate_grad_hooks")


def of_tensor(tensor: Any) -> int:
    """How many a tensor has."""
    return sum(len(held) for held in (getattr(tensor, name, None) for name in _OF_TENSORS) if held)


def of_live(node: Node, live: Any) -> int:
    """How many the live object of a node has."""
    if node[0] == "tensor":
        return of_tensor(live) if "r" in node[6] else 0
    attributes = instance_dict(live) if node[0] in (*OF_MODULES, "object") else None
    held = [attributes[name] for name in HOOKS.intersection(attributes)] if attributes else []
    return sum(len(hooks) for hooks in held if issubclass(type(hooks), dict))


def recorded(document: dict[str, Any]) -> dict[int, int] | None:
    """How many the object of each node had; None where that was not recorded."""
    found = document.get("hooks")
    return None if found is None else {int(node): int(count) for node, count in found}
