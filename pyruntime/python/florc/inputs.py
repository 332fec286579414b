"""Values that a script takes from outside: how each is kept in the journal, and given back by a replay.

What a replay must do itself is not here: the number of the process and the name of the machine (a script that sends its own process
a signal would send it to another), what files there are (the replay's view of the files answers that), what is typed.
"""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from .light import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Tuple

_FLOATS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_WHOLE = ("time_ns", "perf_counter_ns", "monotonic_ns", "process_time_ns", "thread_time_ns")
_OTHERS = {
    ("time", "strftime"): 1, ("time", "ctime"): 0, ("time", "localtime"): 0, ("time", "gmtime"): 0, ("time", "asctime"): 0,
    ("datetime", "datetime.now"): 1, ("datetime", "datetime.utcnow"): 0, ("datetime", "datetime.today"): 0,
    ("datetime", "date.today"): 0,
    ("os", "urandom"): 1, ("secrets", "token_bytes"): 1, ("secrets", "token_hex"): 1, ("secrets", "token_urlsafe"): 1,
    ("secrets", "randbits"): 1, ("secrets", "randbelow"): 1, ("uuid", "uuid1"): 0, ("uuid", "uuid4"): 0,
    ("numpy.random", "default_rng"): 0,
}
_AGAIN = ("mkdtemp", "mkstemp", "mktemp", "NamedTemporaryFile", "TemporaryDirectory")
"""Module and function: with how many arguments its value still comes from outside. More of them say what it is computed from."""


def known(callee: Any) -> Optional[Tuple[str, str, int]]:
    """Name, form (`float`, `whole`: 64 bits, `other`) and number of arguments of a function whose values are kept; else None."""
    for module, names, form in (("time", _FLOATS, "float"), ("time", _WHOLE, "whole")):
        for name in names:
            if _is(callee, module, name):
                return f"{module}.{name}", form, 0
    for (module, name), most in _OTHERS.items():
        if _is(callee, module, name):
            return f"{module}.{name}", "other", most
    for name in _AGAIN:
        if _is(callee, "tempfile", name):
            return f"tempfile.{name}", "again", sys.maxsize
    return None


def _is(callee: Any, module: str, name: str) -> bool:
    """Whether it is the function that the module came with: not a stand-in of a test, nor a class derived from `datetime`."""
    there = sys.modules.get(module)
    owner, _, last = name.rpartition(".")
    names = vars(there) if type(there) is ModuleType else {}
    if owner:  # a method that is bound to its class: another object each time
        return type(callee) is BuiltinFunctionType and callee.__self__ is names.get(owner) and callee.__name__ == last
    if callee is not names.get(last):
        return False
    if type(callee) is type:
        return callee.__module__ == module and callee.__name__ == name
    if type(callee) is FunctionType:
        return callee.__globals__ is names
    if type(callee) is MethodType:  # of the generator that `secrets` draws from
        return callee.__func__.__globals__ is vars(sys.modules["random"])
    return type(callee).__name__ in _NATIVE and callee.__name__ == last


def name_of(value: Any) -> str:
    """Of what a function of `tempfile` returned: the path, in ASCII."""
    path = value[1] if type(value) is tuple else getattr(value, "name", value)
    return ascii(path.decode(sys.getfilesystemencoding(), "surrogateescape") if isinstance(path, bytes) else path)


_NATIVE = ("builtin_function_or_method", "cython_function_or_method")


def encode(name: str, value: Any) -> str:
    """A value as text."""
    if name.startswith("tempfile."):
        return "=" + name_of(value)
    if name.startswith("datetime.datetime"):
        naive = value if value.tzinfo is None else value.replace(tzinfo=None)
        return naive.isoformat() + "~" * naive.fold
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (str, int)):
        return str(value)
    if name == "numpy.random.default_rng":
        seeded = value.bit_generator
        return str((getattr(seeded, "seed_seq", None) or seeded._seed_seq).entropy)
    if name.startswith("uuid."):
        return f"{value.int} {value.is_safe.name}"
    if name == "datetime.date.today":
        return value.isoformat()
    return dumps([*value, value.tm_zone, value.tm_gmtoff])


def decode(name: str, kept: str, args: Tuple[Any, ...], kwargs: Optional[Dict[str, Any]]) -> Any:
    """The value again; of form `again`: what is to be called in the place of the function."""
    if name.startswith("tempfile."):
        from . import inputs_again

        return inputs_again.temporary(name, kept)
    if name.startswith("datetime.datetime"):
        zone = (args or [*(kwargs or {}).values(), None])[0] if name == "datetime.datetime.now" else None
        return sys.modules["datetime"].datetime.fromisoformat(kept.rstrip("~")).replace(tzinfo=zone, fold=kept.count("~"))
    if name in ("os.urandom", "secrets.token_bytes"):
        return bytes.fromhex(kept)
    if name in ("secrets.randbits", "secrets.randbelow"):
        return int(kept)
    if name == "numpy.random.default_rng":
        return sys.modules["numpy.random"].default_rng(int(kept))
    if name.startswith("uuid."):
        uuid, (number, safe) = sys.modules["uuid"], kept.split()
        return uuid.UUID(int=int(number), is_safe=uuid.SafeUUID[safe])
    if name == "datetime.date.today":
        return sys.modules["datetime"].date.fromisoformat(kept)
    if name in ("time.localtime", "time.gmtime"):
        import json

        return sys.modules["time"].struct_time(json.loads(kept))
    return kept
