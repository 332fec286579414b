"""Modules of torch's `fully_shard`, of whose parameters each rank holds a part. Both directions.

What `fully_shard` keeps beside the parameters (buffers, streams, the order of its collective calls) is made when a module first
runs, and holds nothing of a training between two iterations: it stays as it is. A process that restores where the recorded one
had run the module makes it first, as running it would: what it says of its parameters, and the hooks that it adds, are those of
the record then.

Node: `["torch.FSDP", …]` as of a module, and whether it is the one that ran first, and made it for all.
"""

from __future__ import annotations

from .kinds import Refused, type_name
from .modules import NOT_OWN, Module, encoded_module
from .objects import instance_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

_FSDP = (("torch.distributed.fsdp", "FSDPModule"), ("torch.distributed.fsdp._fully_shard._fully_shard", "FSDPModule"))
_STATE = "__composable_api_state_key_"
"""What the names begin with, of attributes that torch keeps such states in; a number of the process follows."""


def is_fsdp(kind: type) -> bool:
    """Whether it is a class of such modules."""
    return any(type_name(base) in _FSDP for base in type.__dict__["__mro__"].__get__(kind))


def _left_out(attributes: dict[str, Any]) -> frozenset[str]:
    return NOT_OWN.union(name for name in attributes if name.startswith(_STATE))


def encode_fsdp(enc: Encoder, obj: Any) -> Node:
    is_first = obj._get_fsdp_state()._is_root
    if is_first is None:
        raise Refused("a module that was handed to fully_shard and has not run yet cannot be restored")
    return [*encoded_module(enc, obj, "torch.FSDP", _left_out(instance_dict(obj))), is_first]


class Fsdp(Module):
    """A module of which there is a part."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if not super().match(m, node[:7], live):
            return False
        if node[7]:
            live._get_fsdp_state()._lazy_init()
        return True

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        self._fill(r, node, obj, _left_out(instance_dict(obj)))


KINDS = {"torch.FSDP": Fsdp()}
