"""`threading.local` and classes derived from it: what the thread that trains has in it. Both directions.

Node: `["local", module, qualname, [name, value, …], null]`. What other threads have in it is out of reach, and stays.
"""

from __future__ import annotations

from _thread import _local

from ..support.static import all_slots, static
from .kind import Kind
from .kinds import Refused, dotted, type_name
from .objects import blank, encode_attributes, fill_attributes, match_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer


def is_local(cls: type) -> bool:
    """Whether each thread has attributes of its own in the objects of a class."""
    return issubclass(cls, _local)


def _own(local: Any) -> dict[str, Any]:
    """The attributes of this thread, past any `__getattribute__` of its class."""
    found: dict[str, Any] = _local.__getattribute__(local, "__dict__")
    return found


def _class_of(finder: Matcher | Restorer, node: Node) -> type | None:
    """A class that the script defines, or `threading.local` itself; None where there is none."""
    return _local if (node[1], node[2]) == type_name(_local) else finder.find_class(node[1], node[2], "local")


def encode_local(enc: Encoder, obj: Any) -> Node:
    if any(True for _ in all_slots(type(obj))):
        raise Refused(f"an object of {dotted(type(obj))} with slots, which its threads share, cannot be restored")
    return ["local", *type_name(type(obj)), encode_attributes(enc, _own(obj)), None]


class Local(Kind):
    """The live object, or a new one that no other thread has seen."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if type_name(type(live)) != (node[1], node[2]):
            return False
        match_attributes(m, node[3], _own(live))
        m.saw_class(type(live))
        return True

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        cls = _class_of(m, node)
        if cls is None:
            raise Refused(f"the class {node[1]}.{node[2]} is not defined here")
        if static(cls, "__init__") is not object.__init__:  # runs in every thread, with what the object was made with
            raise Refused(f"no checkpoint holds what other threads would find in an object of {node[1]}.{node[2]}")

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        cls: Any = _class_of(r, node)
        return blank(cls)

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        fill_attributes(r, node[3], _own(obj))


KINDS = {"local": Local()}
