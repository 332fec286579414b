"""Values rebuilt by a constructor from a fixed table (dates, decimals, paths), and what is left: pickled ones.

Nodes: `["data", constructor, [args]]`, `["pickle", leaf, module, qualname]`.
"""

from __future__ import annotations

import _io
import functools
from typing import Any

from ..support.static import RunsCode, is_users_code, static
from ..support.weak_table import WeakTable
from .equal import ARGUMENTS, arguments_of, constructor_name
from .kind import Kind
from .kinds import Refused, type_name
from .references import encode_unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer


def _constructor(name: str) -> Any:
    """Raises ImportError for a module that is not there."""
    from importlib import import_module

    module, _, own = name.partition(".")
    return import_module("re").compile if name == "re.Pattern" else getattr(import_module(module), own)


_NOT_PICKLED = WeakTable()
_ASKED_FOR_STATE = (
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__getattribute__",
    "__getattr__",
    "__class__",
    "getstate",
)
"""What pickling may call."""


@functools.cache
def _pickler() -> Any:
    import pickle

    class Pickler(pickle.Pickler):
        def reducer_override(self, part: Any) -> Any:
            if any(is_users_code(static(type(part), name)) for name in _ASKED_FOR_STATE):
                raise RunsCode
            return NotImplemented

    return Pickler


def pickled(obj: Any) -> bytes:
    """`pickle.dumps(obj, 4)`. Raises RunsCode where that would run code of the user's."""
    out = _io.BytesIO()
    _pickler()(out, 4).dump(obj)
    return out.getvalue()


def encode_data(enc: Encoder, obj: Any) -> Node:
    return ["data", constructor_name(type(obj)), [enc.value(x) for x in arguments_of(obj) or ()]]


def encode_pickled(enc: Encoder, obj: Any) -> Node:
    """Pickled when its class lets itself be pickled, else by reference, if there is nothing in it that may change."""
    kind = type(obj)
    if kind not in _NOT_PICKLED:
        try:
            return ["pickle", enc.leaf(pickled(obj)), *type_name(kind)]
        except Exception:  # a class may refuse in any way it likes
            _NOT_PICKLED[kind] = True
    return encode_unknown(enc, obj)


class Data(Kind):
    """Dates, decimals, paths and the like: rebuilt by a constructor from a fixed table."""

    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return bool(constructor_name(type(live)) == node[1])

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        if node[1] not in ARGUMENTS:
            raise Refused(f"no constructor for {node[1]}")

    def parts(self, node: Node) -> Iterable[Any]:
        values: list[Any] = node[2]
        return values

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return _constructor(node[1])(*[r.value(v) for v in node[2]])


class Pickled(Kind):
    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return type_name(type(live)) == (node[2], node[3])

    def check(self, m: Matcher, node: Node, index: int) -> None:
        if not m.trust_pickle:
            raise Refused(f"an object of {node[2]}.{node[3]} was pickled, and this store is not trusted")
        m.find_class(node[2], node[3], node[0])

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        import pickle

        data, live = bytes(r.leaf(node[1])), r.live_of(index)
        if live is not None:
            try:
                if pickled(live) == data:
                    return live
            except RunsCode:
                pass
        return pickle.loads(data)


KINDS = {"data": Data(), "pickle": Pickled()}
