"""Values that a script takes from outside by functions of Python: how each is kept in the journal, and given back by a replay.
Those of C are in `sources.py`.

Two things are not here, because a replay must do them itself: the number of the process (a script that sends a signal
to its own process would send it to another one), and which files exist (the replay's view of the files answers that).
"""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OF_FILES = {"getmtime": 1, "getatime": 1, "getctime": 1}
_TEMPORARY = ("mkdtemp", "mkstemp", "mktemp", "NamedTemporaryFile", "TemporaryDirectory")


def known(callee: Any) -> tuple[str, str, int] | None:
    """Name, form (`float`, `other`; `method`: a float; `again`, `lines`: `inputs/again.py`; `hash`) and number of arguments of a
    function whose values are kept; else None."""
    if type(callee) is MethodType and callee.__name__ == "elapsed_time":
        return _of_device(callee)
    for name, most in _OF_FILES.items():
        if _is(callee, "genericpath", name):
            return f"genericpath.{name}", "float", most
    if _is(callee, "platform", "node"):
        return "platform.node", "other", 0
    for name in _TEMPORARY:
        if _is(callee, "tempfile", name):
            return f"tempfile.{name}", "again", sys.maxsize
    if _is(callee, "builtins", "input"):
        return "builtins.input", "again", 1
    return ("builtins.hash", "hash", 1) if _is(callee, "builtins", "hash") else _of_standard_input(callee)


def _of_device(callee: Any) -> tuple[str, str, int] | None:
    """Milliseconds between two events of a device."""
    for module in ("torch.cuda", "torch.xpu", "torch"):
        event = vars(sys.modules.get(module, sys)).get("Event")
        its = vars(event).get(callee.__name__) if type(event) is type else None
        if its is callee.__func__ and type(its) is FunctionType and its.__globals__.get("__name__") == event.__module__:
            return f"{module}.Event.{callee.__name__}", "method", 1
    return None


def _of_standard_input(callee: Any) -> tuple[str, str, int] | None:
    there = sys.stdin
    if type(there).__name__ != "TextIOWrapper" or there.closed:
        return None
    for name, stream in (("sys.stdin", there), ("sys.stdin.buffer", there.buffer)):
        if callee is stream:
            return f"{name}.__next__", "lines", 0
        if (
            type(callee) is BuiltinFunctionType
            and callee.__self__ is stream
            and callee.__name__ in ("read", "readline", "readlines")
        ):
            return f"{name}.{callee.__name__}", "again", sys.maxsize
    return None


def _is(callee: Any, module: str, name: str) -> bool:
    """Whether it is the function that the module came with: not a stand-in of a test."""
    there = sys.modules.get(module)
    names: dict[str, Any] = vars(there) if type(there) is ModuleType else {}
    if callee is not names.get(name):
        return False
    if type(callee) is type:
        return callee.__module__ == module and callee.__name__ == name
    if type(callee) is FunctionType:
        return callee.__globals__ is names
    return type(callee) is BuiltinFunctionType and callee.__name__ == name


def name_of(value: Any) -> str:
    """Of what a function of `tempfile` returned: the path, in ASCII."""
    path = value[1] if type(value) is tuple else getattr(value, "name", value)
    return ascii(path.decode(sys.getfilesystemencoding(), "surrogateescape") if isinstance(path, bytes) else path)


def _encode_typed(name: str, value: Any) -> str:
    # a prompt on a terminal does not pass through `sys.stdout`
    terminal = ON_A_TERMINAL * (
        name == "builtins.input" and all(file is not None and file.isatty() for file in (sys.stdin, sys.stdout))
    )
    if isinstance(value, BaseException):
        return terminal + FAILED + type(value).__name__
    size = sum(map(len, value)) if isinstance(value, list) else len(value)
    kept = terminal + "=" + ascii(value) if size <= _left[0] else TOO_LONG
    _left[0] -= len(kept)
    return kept


FAILED, ON_A_TERMINAL, TOO_LONG = "!", "~", "?"
"""How a value of form `again` begins that is an error, that was typed at a terminal, that is not kept; all others begin with
`=`."""
_left = [1 << 22]
"""Characters that may still be kept of what is read from standard input: data that is piped in must not crowd out the clocks."""


def encode(name: str, value: Any) -> str:
    """A value as text; of form `again` also an error that was raised."""
    if name.startswith(("builtins.", "sys.")):
        return _encode_typed(name, value)
    if name.startswith("tempfile."):
        return FAILED + type(value).__name__ if isinstance(value, BaseException) else "=" + name_of(value)
    return str(value)


def decode(name: str, function: Any, kept: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The value again; of form `again`: how the function is to be called (`again.Again`)."""
    if name.startswith(("builtins.", "sys.", "tempfile.")):
        from . import again as inputs_again

        if name.startswith("tempfile."):
            return inputs_again.temporary(name, function, kept, args, kwargs or {})
        return inputs_again.typed(name, function, kept)
    return kept
