"""Plain objects: their attributes, set without running any of the user's code. Both directions.

Nodes: `["object", module, qualname, [name, value, …], content or null]` where content is the node of the builtin
container it derives from; `["value", module, qualname, [name, value, …], base, encoded base value]`.
"""

from __future__ import annotations

import sys
import types

from ..adapters.libraries import REBOUND, library_of
from ..support.static import all_slots, module_of, mro_of
from .atoms import same_atom
from .containers import ENCODERS as CONTENT
from .containers import KINDS as CONTAINERS
from .equal import PLAIN
from .kind import Kind
from .kinds import CONTENT_BASES, KEPT, VALUE_BASES, Refused, layout_base, type_name
from .references import in_opaque_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

HOOKS = frozenset(
    [
        "_backward_pre_hooks",
        "_backward_hooks",
        "_is_full_backward_hook",
        "_forward_hooks",
        "_forward_hooks_with_kwargs",
        "_forward_hooks_always_called",
        "_forward_pre_hooks",
        "_forward_pre_hooks_with_kwargs",
        "_state_dict_hooks",
        "_state_dict_pre_hooks",
        "_load_state_dict_pre_hooks",
        "_load_state_dict_post_hooks",
        "_load_state_dict_hooks",
        "_optimizer_step_pre_hooks",
        "_optimizer_step_post_hooks",
        "_optimizer_state_dict_pre_hooks",
        "_optimizer_state_dict_post_hooks",
        "_optimizer_load_state_dict_pre_hooks",
        "_optimizer_load_state_dict_post_hooks",
        "_compiled_call_impl",
        "_torchdynamo_wrapper_id",
    ]
)
"""Attributes that hold code or addresses, not state: never recorded, and on restore the live ones stay."""
_MISSING = object()


def instance_dict(obj: Any) -> Any:
    """The attribute dict of an object, past any `__getattribute__` of its class; None without one."""
    try:
        return object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None


def blank(cls: type) -> Any:
    """A new object of the class without any of the user's code: made by the nearest builtin `__new__`."""
    for base in mro_of(cls):
        new: Any = base.__dict__.get("__new__")
        if issubclass(type(new), types.BuiltinFunctionType):
            return new(cls)
    return object.__new__(cls)


def encode_attributes(enc: Encoder, attributes: dict[str, Any]) -> list[Any]:
    value = enc.value
    out = []
    for name, item in attributes.items():
        if name not in HOOKS:
            out.append(name)
            out.append(value(item))
        elif item and issubclass(type(item), dict):
            enc.add_hooks(len(item))
    return out


def _attributes(enc: Encoder, obj: Any) -> list[Any]:
    attributes = instance_dict(obj)
    out = encode_attributes(enc, attributes) if attributes else []
    for name, slot in all_slots(type(obj)):
        item = _read(slot, obj)
        if item is not _MISSING:
            out += (name, enc.value(item))
    return out


def _read(slot: Any, obj: Any) -> Any:
    try:
        return slot.__get__(obj, type(obj))
    except AttributeError:
        return _MISSING


def encode_object(enc: Encoder, obj: Any) -> Node:
    return ["object", *type_name(type(obj)), _attributes(enc, obj), None]


def encode_without_handles(enc: Encoder, obj: Any) -> Node:
    """An object of a library with attributes that lead to another process of the run: None, if they hold such a handle now."""
    library = library_of(module_of(type(obj)))
    handles = library.handles if library is not None else frozenset()
    attributes = {
        name: None if name in handles and in_opaque_module(type(item)) else item for name, item in instance_dict(obj).items()
    }
    return ["object", *type_name(type(obj)), encode_attributes(enc, attributes), None]


def encode_derived(enc: Encoder, obj: Any) -> Node:
    """An instance of a class derived from list, dict, set, deque, …"""
    base: Any = layout_base(type(obj))
    content = CONTENT[base](enc, obj)
    return ["object", *type_name(type(obj)), _attributes(enc, obj), content]


def encode_derived_value(enc: Encoder, obj: Any) -> Node:
    """An instance of a class derived from int, str, tuple, …"""
    base: Any = layout_base(type(obj))
    plain = PLAIN[base](obj)
    return ["value", *type_name(type(obj)), _attributes(enc, obj), VALUE_BASES[base], enc.value(plain)]


def match_attributes(m: Matcher, encoded: list[Any], attributes: Any) -> None:
    if attributes:
        for name, value in zip(encoded[0::2], encoded[1::2]):
            if type(value) is list and name in attributes and name not in REBOUND:
                m.pair(value, attributes[name])


def fill_attributes(r: Restorer, encoded: list[Any], attributes: dict[str, Any], keep: Any = HOOKS) -> None:
    """Make an attribute dict hold exactly the recorded names, in their order; `keep` and KEPT slots stay as they are."""
    recorded = {}
    for name, value in zip(encoded[0::2], encoded[1::2]):
        if value != KEPT:
            recorded[name] = r.value(value)
        elif name in attributes:
            recorded[name] = attributes[name]
    present = [name for name in attributes if name not in keep]
    if present == list(recorded):
        for name, value in recorded.items():
            if not same_atom(attributes[name], value):
                attributes[name] = value
        return
    kept = {name: attributes[name] for name in attributes if name in keep}
    attributes.clear()
    attributes.update(recorded)
    attributes.update(kept)


class Object(Kind):
    """Plain objects, with or without the content of a builtin container."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if type_name(type(live)) != (node[1], node[2]):
            return False
        attributes = instance_dict(live)
        names = attributes or ()
        slots = dict(all_slots(type(live)))
        for name, value in zip(node[3][0::2], node[3][1::2]):
            if value == KEPT and name not in names and name not in slots:
                return False
        if node[4] is not None:
            base = CONTENT_BASES.get(layout_base(type(live)) or object)
            if base != ("list" if node[4][0] == "numbers" else node[4][0]) or (
                not self.content(node).match_content(m, node[4], live)
            ):
                return False
        match_attributes(m, node[3], attributes)
        for name, value in zip(node[3][0::2], node[3][1::2]):
            if name in slots and name not in names:
                m.pair(value, _read(slots[name], live))
        m.saw_class(type(live))
        return True

    @staticmethod
    def content(node: Node) -> Any:
        return CONTAINERS[node[4][0]]

    def check(self, m: Matcher, node: Node, index: int) -> None:
        if node[0] == "object" and node[4] is not None:
            self.content(node).check(m, node[4], index)

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        cls = m.find_class(node[1], node[2], node[0])
        if cls is None:
            raise Refused(f"the class {node[1]}.{node[2]} is not defined here")
        if KEPT in node[3][1::2]:
            raise Refused(f"the data of this {node[2]} was not recorded, and there is none here now")
        if layout_base(cls) is None and node[0] == "object":
            raise Refused(f"the class {node[1]}.{node[2]} is not a plain Python class any more")

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        cls: Any = r.find_class(node[1], node[2], node[0])
        base: Any = layout_base(cls)
        if node[4] is not None and node[4][0] == "deque":
            obj = blank(cls)
            base.__init__(obj, (), node[4][2])
        elif node[4] is not None and node[4][0] == "array":
            obj = base.__new__(cls, node[4][2])
        else:
            obj = blank(cls)
        torch = sys.modules.get("torch")
        if torch is not None and issubclass(type(obj), torch.optim.Optimizer):
            obj.__dict__["defaults"] = {}
            torch.optim.Optimizer.__setstate__(obj, {})  # gives it the hook tables that are not recorded
        return obj

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        attributes = instance_dict(obj)
        slots = dict(all_slots(type(obj)))
        plain: list[Any] = []
        slotted: dict[str, Any] = {}
        for name, value in zip(node[3][0::2], node[3][1::2]):
            if name in slots and (attributes is None or name not in attributes):
                slotted[name] = value
            else:
                plain += (name, value)
        if attributes is not None:
            fill_attributes(r, plain, attributes)
        for name, slot in slots.items():
            self._fill_slot(r, slot, obj, slotted.get(name, _MISSING))
        if node[4] is not None:
            r.later(lambda: self.content(node).fill(r, node[4], obj, index))

    @staticmethod
    def _fill_slot(r: Restorer, slot: Any, obj: Any, value: Any) -> None:
        if value is _MISSING:
            if _read(slot, obj) is not _MISSING:
                slot.__delete__(obj)
        elif value != KEPT:
            slot.__set__(obj, r.value(value))


class DerivedValue(Kind):
    """Instances of classes derived from int, str, tuple, …: rebuilt, with their attributes."""

    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        base = layout_base(type(live))
        if type_name(type(live)) != (node[1], node[2]) or base not in VALUE_BASES:
            return False
        match_attributes(m, node[3], instance_dict(live))
        m.pair(node[5], PLAIN[base](live))  # for what is in it
        m.saw_class(type(live))
        return True

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        if m.find_class(node[1], node[2], node[0]) is None:
            raise Refused(f"the class {node[1]}.{node[2]} is not defined here")

    def parts(self, node: Node) -> Iterable[Any]:
        return [*node[3][1::2], node[5]]

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        cls: Any = r.find_class(node[1], node[2], node[0])
        base: Any = layout_base(cls)
        obj = base.__new__(cls, r.value(node[5]))
        if node[3]:
            fill_attributes(r, node[3], instance_dict(obj))
        return obj


KINDS = {"object": Object(), "value": DerivedValue()}
