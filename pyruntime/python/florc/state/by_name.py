"""What is known by its name in every process: loggers of `logging`, the globals of a library's module, the members of
enumerations of C++.

Nodes: `["logger", name]`, `["globals", module]`, `["member", module, qualname of its class, name]`.
What a logger has (level, handlers) is not recorded: a program only writes to
it. Nor are globals of libraries, here as anywhere else; those of the user's modules are dicts as others are.
"""

from __future__ import annotations

import sys

from .equal import is_enumeration, member_of
from .kind import Kind
from .kinds import Refused, type_name
from .references import encode_opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

CLASSES = (("logging", "Logger"), ("logging", "RootLogger"))


def _named(name: str) -> Any:
    """The logger of that name, if there is one: none is made."""
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return None
    return logging.root if name == logging.root.name else logging.root.manager.loggerDict.get(name)


def encode_logger(enc: Encoder, obj: Any) -> Node:
    name = obj.__dict__.get("name")
    return ["logger", name] if type(name) is str and _named(name) is obj else encode_opaque(enc, obj)


_INSTALLED = ("/site-packages/", "/dist-packages/")


def name_of_globals(found: dict[str, Any]) -> str | None:
    """The module of a library whose globals these are; None of other dicts."""
    name, file = found.get("__name__"), found.get("__file__")
    if type(name) is not str or type(file) is not str or not any(part in file for part in _INSTALLED):
        return None
    return name if _globals(name) is found else None


def _globals(module: str) -> Any:
    return getattr(sys.modules.get(module), "__dict__", None)


class ByName(Kind):
    """What `find(name)` gives, None where there is nothing of that name here; `missing` says so."""

    immutable = True

    def __init__(self, find: Callable[[str], Any], missing: str):
        self._find, self._missing = find, missing

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return self._find(node[1]) is live

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        if self._find(node[1]) is None:
            raise Refused(self._missing.format(node[1]))

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return self._find(node[1])


def encode_member(enc: Encoder, obj: Any) -> Node:
    return ["member", *type_name(type(obj)), member_of(obj)]


class Member(Kind):
    """A member of an enumeration of C++: of its class, where that has a name, or where one of its members is here."""

    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if type_name(type(live)) != (node[1], node[2]) or not is_enumeration(type(live)):
            return False
        m.saw_class(type(live))
        return bool(member_of(live) == node[3])

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        if self._found(m.find_class(node[1], node[2], node[0]), node[3]) is None:
            raise Refused(f"the enumeration {node[1]}.{node[2]} with {node[3]} is not defined here")

    @staticmethod
    def _found(cls: Any, name: str) -> Any:
        return None if cls is None else cls.__members__.get(name)

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        live = r.live_of(index)
        return self._found(r.find_class(node[1], node[2], node[0]), node[3]) if live is None else live


KINDS = {
    "member": Member(),
    "logger": ByName(_named, "there is no logger {} here now"),
    "globals": ByName(_globals, "the module {} is not imported here"),
}
