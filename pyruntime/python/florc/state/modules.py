"""torch modules, optimizers, gradient scalers, data loaders: objects with attributes that need care. Both directions.

Node: `["torch.Module", module, qualname, [name, value, …], [parameters], [buffers], [modules]]`, the last three as
`[name, value, …]`. `["combined", …]`: a `CombinedLoader` of Lightning, with the fields of an `"object"`. The others are plain
`"object"` nodes.
"""

from __future__ import annotations

import sys

from ..support.static import name_of
from .kinds import KEPT, Refused, type_name
from .mappings import update_dict
from .objects import HOOKS, Object, encode_attributes, encode_object, fill_attributes, instance_dict, match_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

TABLES = ("_parameters", "_buffers", "_modules")
NOT_OWN = HOOKS | set(TABLES)


def encode_optimizer(enc: Encoder, obj: Any) -> Node:
    enc.optimizers.append(enc.current)
    return encode_object(enc, obj)


def encode_module(enc: Encoder, obj: Any) -> Node:
    attributes = instance_dict(obj)
    tables = [attributes.get(name) for name in TABLES]
    if not all(issubclass(type(table), dict) for table in tables):
        raise Refused(f"a module of class {name_of(type(obj))} keeps its parameters outside Python")
    return encoded_module(enc, obj, "torch.Module", NOT_OWN)


def encoded_module(enc: Encoder, obj: Any, kind: str, left_out: frozenset[str]) -> Node:
    """The node of a module without some of its attributes."""
    attributes, part = instance_dict(obj), enc.part
    held = [attributes[name] for name in HOOKS.intersection(attributes)]
    enc.add_hooks(sum(len(hooks) for hooks in held if issubclass(type(hooks), dict)))
    own = [text for name, item in attributes.items() if name not in left_out for text in (name, part(item))]
    tables = [[text for name, item in attributes[table].items() for text in (name, part(item))] for table in TABLES]
    return [kind, *type_name(type(obj)), own, *tables]


_METRIC = ("torchmetrics.metric", "Metric")
_REMADE = ("update", "compute", "_update_signature")
"""What each metric makes of its class, and its own pickle lacks: functions around its methods."""
_NOT_OF_METRIC = NOT_OWN | set(_REMADE)


def is_metric(kind: type) -> bool:
    """Whether it is a class of metrics of torchmetrics."""
    return any(type_name(base) == _METRIC for base in type.__dict__["__mro__"].__get__(kind))


def encode_metric(enc: Encoder, obj: Any) -> Node:
    return encoded_module(enc, obj, "torch.Metric", _NOT_OF_METRIC)


def encode_scaler(enc: Encoder, obj: Any) -> Node:
    """A gradient scaler notes, between unscale and update, what it did under the addresses of optimizers."""
    if instance_dict(obj).get("_per_optimizer_states"):
        raise Refused("the gradient scaler is between step() and update()")
    return encode_object(enc, obj)


def encode_loader(enc: Encoder, obj: Any, kind: str = "object") -> Node:
    """A DataLoader; its live iterator (worker processes) is nobody's state."""
    own_dict = instance_dict(obj)
    attributes = {name: item for name, item in own_dict.items() if name != "_iterator" or item is None}
    own = encode_attributes(enc, attributes)
    if "_iterator" in own_dict and "_iterator" not in attributes:
        own += ("_iterator", KEPT)
    return [kind, *type_name(type(obj)), own, None]


def encode_combined(enc: Encoder, obj: Any) -> Node:
    """Lightning's loader of loaders. Its live iterator is made anew when a loop over it begins, too."""
    return encode_loader(enc, obj, "combined")


class Module(Object):
    """torch modules: their tables of parameters, buffers and submodules are updated in place too."""

    left_out = NOT_OWN
    """Attributes that stay as they are."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        attributes = instance_dict(live)
        if type_name(type(live)) != (node[1], node[2]) or not attributes or not all(t in attributes for t in TABLES):
            return False
        for encoded, name in zip(node[4:], TABLES):
            match_attributes(m, encoded, attributes[name])
        match_attributes(m, node[3], attributes)
        m.saw_class(type(live))
        return True

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        cls: Any = r.find_class(node[1], node[2], node[0])
        obj: Any = object.__new__(cls)
        sys.modules["torch"].nn.Module.__init__(obj)
        return obj

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        self._fill(r, node, obj, self.left_out)

    @staticmethod
    def _fill(r: Restorer, node: Node, obj: Any, left_out: frozenset[str]) -> None:
        attributes = instance_dict(obj)
        fill_attributes(r, node[3], attributes, left_out)
        for encoded, name in zip(node[4:], TABLES):
            update_dict(attributes[name], encoded[0::2], [r.value(v) for v in encoded[1::2]])


class Metric(Module):
    """A metric; a new one makes the functions around its methods as it does when it is unpickled."""

    left_out = _NOT_OF_METRIC

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        super().fill(r, node, obj, index)
        if not all(name in instance_dict(obj) for name in _REMADE):
            r.later(lambda: type(obj).__setstate__(obj, {}))


class Combined(Object):
    """A `CombinedLoader`. One that was iterated over in the recorded run, and never here, gets an iterator that has not begun:
    its length is asked for when a training ends."""

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        pairs = zip(node[3][0::2], node[3][1::2])
        rest = [text for name, value in pairs if name != "_iterator" for text in (name, value)]
        super().check_new(m, [*node[:3], rest, node[4]], index)

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        super().fill(r, node, obj, index)
        own = instance_dict(obj)
        if KEPT in node[3][1::2] and own.get("_iterator") is None:
            r.later(lambda: self._begin(node, own))

    @staticmethod
    def _begin(node: Node, own: dict[str, Any]) -> None:
        modes = sys.modules[node[1]].__dict__.get("_SUPPORTED_MODES", {})
        of_mode = modes.get(own.get("_mode"), {}).get("iterator")
        own["_iterator"] = None if of_mode is None else of_mode(own["_flattened"], own["_limits"])
        for name in node[3][0::2]:  # in the recorded order
            own[name] = own.pop(name)


KINDS = {"combined": Combined(), "torch.Module": Module(), "torch.Metric": Metric()}
