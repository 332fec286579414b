"""Tensors that an operation returned: restored without their autograd history, and saying so when it is needed."""

from __future__ import annotations

from collections.abc import Callable

from .kinds import torch_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _restored_node(torch: Any, name: str) -> Any:
    """An autograd Function whose node has the recorded class name and whose backward says why it cannot run."""
    found: Any = _NODES.get(name)
    if found is None:
        found = _NODES[name] = type(
            name,
            (torch.autograd.Function,),
            {"forward": staticmethod(lambda ctx, anchor, holder: holder[0]), "backward": staticmethod(_no_history)},
        )
        found._backward_cls = type(name, (torch.autograd.function.BackwardCFunction,), {"_forward_cls": found})
    return found


_NODES: dict[str, Any] = {}


NO_HISTORY = "what it computes is differentiated after it, and a checkpoint holds no autograd history"


class History:
    """What is told when a restored tensor turns out to need the history that no checkpoint holds."""

    made = 0
    """How many tensors without their history were restored in this process."""
    on_missing: Callable[[], None] | None = None


def _no_history(ctx: Any, *grads: Any) -> None:
    if History.on_missing is not None:
        History.on_missing()
    raise RuntimeError("restored by florc: its autograd history is not in the checkpoint")


def with_history(value: Any, name: str) -> Any:
    """`value` as the result of an operation called `name`: prints like the recorded tensor, cannot be differentiated."""
    torch = torch_module()
    History.made += 1
    with torch.enable_grad():
        anchor = torch.empty(0, requires_grad=True, device=value.device)
        return _restored_node(torch, name).apply(anchor, [value])
