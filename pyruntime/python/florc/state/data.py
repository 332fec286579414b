"""Values rebuilt by a constructor from a fixed table (dates, decimals, paths), and what is left: pickled ones.

Nodes: `["data", constructor, [args]]`, `["pickle", leaf, module, qualname]`.
"""

from __future__ import annotations

import _io
import functools
import sys
from collections.abc import Callable
from typing import Any

from ..support.static import RunsCode, is_users_code, module_of, name_of, static
from ..support.weak_table import WeakTable
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

_ARGUMENTS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "datetime.datetime": lambda v: v.__reduce__()[1],
    "datetime.date": lambda v: v.__reduce__()[1],
    "datetime.time": lambda v: v.__reduce__()[1],
    "datetime.timedelta": lambda v: (v.days, v.seconds, v.microseconds),
    "datetime.timezone": lambda v: v.__getinitargs__(),
    "decimal.Decimal": lambda v: (str(v),),
    "fractions.Fraction": lambda v: (v.numerator, v.denominator),
    "uuid.UUID": lambda v: (str(v),),
    "builtins.slice": lambda v: (v.start, v.stop, v.step),
    "builtins.range": lambda v: (v.start, v.stop, v.step),
    "re.Pattern": lambda v: (v.pattern, v.flags),
    **dict.fromkeys(
        ("pathlib.PurePosixPath", "pathlib.PureWindowsPath", "pathlib.PosixPath", "pathlib.WindowsPath"), lambda v: (str(v),)
    ),
}
"""Class -> the arguments that make an equal object. The modules are imported by programs that have such objects."""


def constructor_name(cls: type) -> str:
    """`pathlib.PosixPath`: the public name, whatever private module a Python version keeps the class in."""
    return f"{module_of(cls).split('.', 1)[0].lstrip('_')}.{name_of(cls)}"


def is_data(cls: type) -> bool:
    """Whether objects of exactly this class are rebuilt by its constructor."""
    name = constructor_name(cls)
    return name in _ARGUMENTS and _class(name) is cls


def _class(name: str) -> Any:
    module, _, own = name.partition(".")
    return getattr(sys.modules.get(module), own, None)


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
    return ["data", constructor_name(type(obj)), [enc.value(x) for x in _ARGUMENTS[constructor_name(type(obj))](obj)]]


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
        if node[1] not in _ARGUMENTS:
            raise Refused(f"no constructor for {node[1]}")

    def parts(self, node: Node) -> Iterable[Any]:
        values: list[Any] = node[2]
        return values

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return _constructor(node[1])(*[r.value(v) for v in node[2]])

    def same(self, made: Any, live: Any) -> bool:
        return made == live and repr(made) == repr(live)


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

    def same(self, made: Any, live: Any) -> bool:
        return made is live


KINDS = {"data": Data(), "pickle": Pickled()}
