"""torch's `DistributedDataParallel`, whose reducer adds up the gradients of all ranks in buckets. Both directions.

The reducer is native. After the first backward pass it puts the parameters into other buckets, in the order in which their
gradients were ready. With more than two ranks, the buckets decide in which order numbers are added, so in the last bits of what
is trained. A process that restores where the recorded one had trained has the first buckets still: it lets the gradients of all
parameters be ready, as zeros, in the recorded order, and the reducer makes the same buckets of that. All ranks restore the same
blocks, so all of them do it.

Node: `["torch.DDP", …]` as of a module, and the recorded order of parameters, empty before the first backward pass.
"""

from __future__ import annotations

import sys

from ..support.weak_table import WeakTable
from .kinds import Refused, type_name
from .modules import Module, encode_module
from .objects import instance_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

_REBUILT = WeakTable()
"""Module -> the order in which its reducer has the parameters that was put back: it tells that only after three steps."""
_DDP = ("torch.nn.parallel.distributed", "DistributedDataParallel")


def is_ddp(kind: type) -> bool:
    """Whether it is a class of such modules."""
    return any(type_name(base) == _DDP for base in type.__dict__["__mro__"].__get__(kind))


def encode_ddp(enc: Encoder, obj: Any) -> Node:
    return ["torch.DDP", *encode_module(enc, obj)[1:], _order(obj)]


def _order(obj: Any) -> list[int]:
    """The parameters by their numbers, in the order in which they are in the reducer's buckets; empty where these are the
    first."""
    own = instance_dict(obj)
    unlike = [name for name in ("static_graph", "gradient_as_bucket_view", "_comm_hooks", "mixed_precision") if own.get(name)]
    if unlike:
        raise Refused(f"what the reducer of a DistributedDataParallel with {unlike[0].strip('_')} holds is out of sight")
    if own.get("find_unused_parameters"):
        return []  # it keeps the first buckets
    told = obj._get_ddp_logging_data()
    if not own.get("_has_rebuilt_buckets"):
        if told.get("iteration", 0):
            raise Refused("the reducer of a DistributedDataParallel makes its buckets after the first training steps")
        return []
    found = [int(number) for number in str(told.get("rebuilt_per_bucket_param_indices", "")).replace(",", " ").split()]
    if not found and obj in _REBUILT:
        return list(_REBUILT[obj])
    if not found:
        raise Refused("the reducer of a DistributedDataParallel does not tell its buckets before the third training step")
    return found


class Ddp(Module):
    """A module with a reducer."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        is_later = bool(instance_dict(live).get("_has_rebuilt_buckets")) and not node[7]
        return not (is_later and not instance_dict(live).get("find_unused_parameters")) and super().match(m, node[:7], live)

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        has_first = not instance_dict(obj).get("_has_rebuilt_buckets")
        super().fill(r, node[:7], obj, index)
        if node[7] and has_first:
            r.last(lambda: _rebuild(obj, node[7]))


def _rebuild(obj: Any, order: list[int]) -> None:
    """Let the reducer make its buckets again. A collective call."""
    torch: Any = sys.modules["torch"]
    parameters, _ = obj._build_params_for_reducer()
    gradients = [parameter.grad for parameter in parameters]
    try:
        with torch.enable_grad():
            obj.reducer.prepare_for_forward()
            for parameter in parameters:
                parameter.grad = None
            obj.reducer.prepare_for_backward([])
            for number in order:
                parameter = parameters[number]
                parameter.expand_as(parameter).backward(torch.zeros_like(parameter))
            obj.reducer._rebuild_buckets()
        _REBUILT[obj] = order
    finally:
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient


KINDS = {"torch.DDP": Ddp()}
