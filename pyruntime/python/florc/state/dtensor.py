"""torch's `DTensor`, of which each rank holds a part (fully_shard, tensor parallel): both directions.

Node: `["dtensor", part, spec, flags, grad]`: the part of this rank as a node of its own, as what the parts belong together,
flags as in a tensor's node, and the encoded `.grad`, null when absent or not asked for. A live one is filled in place. A new one
(the state of an optimizer) is made where a live one has the same spec: a checkpoint cannot make a mesh of processes.
"""

from __future__ import annotations

import sys

from . import hooks
from .kind import Kind
from .kinds import Refused, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer


def is_dtensor(kind: type) -> bool:
    """Whether it is the class of such tensors."""
    return type_name(kind) in (("torch.distributed.tensor", "DTensor"), ("torch.distributed.tensor._api", "DTensor"))


def _spec(t: Any) -> str:
    spec = t._spec
    mesh, meta = spec.mesh, spec.tensor_meta
    names = getattr(mesh, "mesh_dim_names", None)
    return (
        f"{mesh.device_type} {mesh.mesh.tolist()} {names} {spec.placements} {tuple(meta.shape)} {tuple(meta.stride)} {meta.dtype}"
    )


def encode_dtensor(enc: Encoder, t: Any) -> Node:
    if t.grad_fn is not None:
        raise Refused("a DTensor with an autograd history cannot be stored as plain bytes")
    is_parameter = getattr(t, "_is_param", False)
    if set(t.__dict__) - {"_is_param"}:
        raise Refused("a DTensor with attributes cannot be stored as plain bytes")
    grad = None
    if t.requires_grad:
        enc.add_hooks(hooks.of_tensor(t))
        if t.grad is not None and enc.gradients:
            grad = enc.value(t.grad)
        elif t.grad is not None:
            enc.leaves_gradient()
    return ["dtensor", enc.value(t._local_tensor), _spec(t), "p" * is_parameter + "r" * t.requires_grad, grad]


class Dtensor(Kind):
    # Made from its part, though a live one keeps its own, which is filled.
    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if not is_dtensor(type(live)) or not live.is_leaf or _spec(live) != node[2]:
            return False
        if getattr(live, "_is_param", False) != ("p" in node[3]) or live.requires_grad != ("r" in node[3]):
            return False
        m.specs.setdefault(node[2], live._spec)
        m.pair(node[1], live._local_tensor)
        if node[4] is not None:
            m.pair(node[4], live.grad)
        return True

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        if node[2] not in m.specs or "p" in node[3]:
            raise Refused("a DTensor cannot be made anew: no other one here is distributed as it is")

    def parts(self, node: Node) -> Iterable[Any]:
        return [node[1]] if node[4] is None else [node[1], node[4]]

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        live, part = r.live_of(index), r.value(node[1])
        if live is None:
            made: Any = sys.modules["torch.distributed.tensor"].DTensor
            return made(part, r.matcher.specs[node[2]], requires_grad="r" in node[3])
        grad = None if node[4] is None else r.value(node[4])
        r.last(lambda: _fill(live, part, grad, r.gradients and "r" in node[3]))
        return live


def _fill(live: Any, part: Any, grad: Any, has_gradients: bool) -> None:
    """Its part was filled in place, but for one that was given other memory: it is copied."""
    if part is not live._local_tensor:
        with sys.modules["torch"].no_grad():
            live._local_tensor.copy_(part)
    if has_gradients:
        live.grad = grad


KINDS = {"dtensor": Dtensor()}
