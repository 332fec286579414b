"""torch tensors with a sparse layout: both directions.

Node: `["sparse", layout, shape, flags, coalesced, [index tensors…, values]]`, the parts as nodes of their own. `flags`
as in a tensor's node, `coalesced` is null but for COO. A live tensor is filled in place when its parts have the recorded
shapes.
"""

from __future__ import annotations

import sys

from .kind import Kind
from .kinds import Refused, is_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

PARTS = {
    "sparse_coo": ("_indices", "_values"),
    "sparse_csr": ("crow_indices", "col_indices", "values"),
    "sparse_csc": ("ccol_indices", "row_indices", "values"),
    "sparse_bsr": ("crow_indices", "col_indices", "values"),
    "sparse_bsc": ("ccol_indices", "row_indices", "values"),
}
"""Layout -> methods that return what a tensor consists of; the memory is its own."""


def encode_sparse(enc: Encoder, t: Any) -> Node:
    torch = sys.modules["torch"]
    layout = str(t.layout)[6:]
    if layout not in PARTS:
        raise Refused(f"a tensor of layout {t.layout} cannot be stored as plain bytes")
    if t.grad_fn is not None:
        raise Refused("a sparse tensor with an autograd history cannot be stored as plain bytes")
    if t.__dict__ or enc.gradients and t.grad is not None:
        raise Refused("a sparse tensor with attributes or a gradient cannot be stored as plain bytes")
    flags = ("p" if type(t) is not torch.Tensor else "") + ("r" if t.requires_grad else "")
    coalesced = t.is_coalesced() if layout == "sparse_coo" else None
    return ["sparse", layout, list(t.shape), flags, coalesced, [enc.value(part) for part in _parts(t, layout)]]


def _parts(t: Any, layout: str) -> list[Any]:
    plain = t.detach()
    return [getattr(plain, name)() for name in PARTS[layout]]


class Sparse(Kind):
    # Made from its parts, though a live one is filled: that comes after they are.
    immutable = True

    def check(self, m: Matcher, node: Node, index: int) -> None:
        if node[1] not in PARTS or len(node[5]) != len(PARTS[node[1]]) or not all(map(is_ref, node[5])):
            raise Refused("the checkpoint is damaged: a sparse tensor lacks parts")

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        torch = sys.modules.get("torch")
        if torch is None or type(live) is not (torch.nn.Parameter if "p" in node[3] else torch.Tensor):
            return False
        if str(live.layout)[6:] != node[1] or list(live.shape) != node[2] or live.is_inference() or not live.is_leaf:
            return False
        parts = _parts(live, node[1])
        for ref, part in zip(node[5], parts):
            recorded = m.nodes[ref[0]]
            if recorded[2:4] + [recorded[5]] != [str(part.dtype)[6:], list(part.shape), str(part.device)]:
                return False
        for ref, part in zip(node[5], parts):
            m.pair(ref, part)
        return True

    def parts(self, node: Node) -> Iterable[Any]:
        values: list[Any] = node[5]
        return values

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        torch = sys.modules["torch"]
        live = r.live_of(index)
        parts = [r.value(ref) for ref in node[5]]
        if live is not None:
            r.later(lambda: _fill(node, live, parts))
            return live
        layout = getattr(torch, node[1])
        if node[1] == "sparse_coo":
            made = torch.sparse_coo_tensor(*parts, node[2], check_invariants=True)._coalesced_(node[4])
        else:
            made = torch.sparse_compressed_tensor(*parts, node[2], layout=layout, check_invariants=True)
        if "p" in node[3]:
            return torch.nn.Parameter(made, requires_grad="r" in node[3])
        return made.requires_grad_() if "r" in node[3] else made


def _fill(node: Node, live: Any, parts: Any) -> None:
    """The parts were filled in place, but for those that were given other memory: they are copied."""
    with sys.modules["torch"].no_grad():
        for target, part in zip(_parts(live, node[1]), parts):
            target.copy_(part)
        if node[1] == "sparse_coo":
            live._coalesced_(node[4])
    if live.requires_grad != ("r" in node[3]):
        live.requires_grad_("r" in node[3])


KINDS = {"sparse": Sparse()}
