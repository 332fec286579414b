"""Values that a script takes from outside: how each is kept in the journal, and given back by a replay.

Two things are not here, because a replay must do them itself: the number of the process (a script that sends a signal
to its own process would send it to another one), and which files exist (the replay's view of the files answers that).
"""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from ..support.light import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

_FLOATS = {"time": 0, "perf_counter": 0, "monotonic": 0, "process_time": 0, "thread_time": 0, "clock_gettime": 1}
_WHOLE = {name + "_ns": most for name, most in _FLOATS.items()}
_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_OF_FILES = {"getmtime": 1, "getatime": 1, "getctime": 1}
_OTHERS = {
    ("time", "strftime"): 1,
    ("time", "ctime"): 0,
    ("time", "localtime"): 0,
    ("time", "gmtime"): 0,
    ("time", "asctime"): 0,
    ("datetime", "datetime.now"): 1,
    ("datetime", "datetime.utcnow"): 0,
    ("datetime", "datetime.today"): 0,
    ("datetime", "date.today"): 0,
    ("os", "urandom"): 1,
    ("secrets", "token_bytes"): 1,
    ("secrets", "token_hex"): 1,
    ("secrets", "token_urlsafe"): 1,
    ("secrets", "randbits"): 1,
    ("secrets", "randbelow"): 1,
    ("uuid", "uuid1"): 0,
    ("uuid", "uuid4"): 0,
    ("numpy.random", "default_rng"): 0,
    ("numpy.random", "SeedSequence"): 0,
    **{("numpy.random", name): 0 for name in _BIT_GENERATORS},
    ("os", "getrandom"): 2,
    ("socket", "gethostname"): 0,
    ("platform", "node"): 0,
}
_SEEDED = ("random.seed", "random.Random", "numpy.random.seed", "numpy.random.RandomState", "torch.random.seed")
_TEMPORARY = ("mkdtemp", "mkstemp", "mktemp", "NamedTemporaryFile", "TemporaryDirectory")
"""Module and function: with how many arguments its value still comes from outside. More of them say what it is computed from."""


def known(callee: Any) -> tuple[str, str, int] | None:
    """Name, form (`float`, `whole`: 64 bits, `other`; `method`: a float; `again`, `lines`: `inputs/again.py`; `drawn`:
    `inputs/drawn.py`; `hash`) and number of arguments of a function whose values are kept; else None."""
    if type(callee) is MethodType and callee.__name__ == "elapsed_time":
        return _of_device(callee)
    for module, names, form in (("time", _FLOATS, "float"), ("time", _WHOLE, "whole"), ("genericpath", _OF_FILES, "float")):
        for name, most in names.items():
            if _is(callee, module, name):
                return f"{module}.{name}", form, most
    for (module, name), most in _OTHERS.items():
        if _is(callee, module, name):
            return f"{module}.{name}", "other", most
    for seeded in _SEEDED:
        module, _, name = seeded.rpartition(".")
        if _is(callee, module, name):
            return seeded, "again", 0
    if type(callee) is MethodType and _draws_from_the_kernel(callee):
        return f"{SYSTEM}.{callee.__name__}", "drawn", sys.maxsize
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


def _draws_from_the_kernel(callee: Any) -> bool:
    """Whether it is a method of `random.SystemRandom`, as it came, bound to an object of that class."""
    names = vars(sys.modules.get("random", sys))
    owner = names.get("SystemRandom")
    return type(callee.__self__) is owner and type(callee.__func__) is FunctionType and callee.__func__.__globals__ is names


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
    """Whether it is the function that the module came with: not a stand-in of a test, nor a class derived from `datetime`."""
    there = sys.modules.get(module)
    owner, _, last = name.rpartition(".")
    names: dict[str, Any] = vars(there) if type(there) is ModuleType else {}
    if owner:  # a method that is bound to its class: another object each time
        return type(callee) is BuiltinFunctionType and callee.__self__ is names.get(owner) and callee.__name__ == last
    known: Any = names.get(last)
    if callee is not known:
        return False
    if type(callee) is type:
        return (callee.__module__ + ".").startswith(module + ".") and callee.__name__ == name  # `numpy.random.bit_generator`
    if type(callee) is FunctionType:
        return callee.__globals__ is names
    if type(callee) is MethodType:  # of the generator that `secrets` draws from
        return callee.__func__.__globals__ is vars(sys.modules["random"])
    return type(callee).__name__ in _NATIVE and callee.__name__ == last


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


SYSTEM = "random.SystemRandom"
FAILED, ON_A_TERMINAL, TOO_LONG = "!", "~", "?"
"""How a value of form `again` begins that is an error, that was typed at a terminal, that is not kept; all others begin with
`=`."""
_left = [1 << 22]
"""Characters that may still be kept of what is read from standard input: data that is piped in must not crowd out the clocks."""
_NATIVE = ("builtin_function_or_method", "cython_function_or_method")


def before() -> None:
    """A method of form `drawn` is about to be called."""
    from . import drawn as inputs_drawn

    inputs_drawn.begin()


def encode(name: str, value: Any) -> str:
    """A value as text; of form `again` also an error that was raised; of form `drawn` what the method drew."""
    if name.startswith(SYSTEM):
        from . import drawn as inputs_drawn

        return inputs_drawn.end()
    if name.startswith(("builtins.", "sys.")):
        return _encode_typed(name, value)
    if name in _SEEDED:
        from . import seeded as inputs_seeded

        return inputs_seeded.encode(name, value)
    if name.startswith("tempfile."):
        return FAILED + type(value).__name__ if isinstance(value, BaseException) else "=" + name_of(value)
    if name.startswith("datetime.datetime"):
        naive: datetime = value if value.tzinfo is None else value.replace(tzinfo=None)
        return naive.isoformat() + "~" * naive.fold
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (str, int)):
        return str(value)
    if name == "numpy.random.SeedSequence":
        return str(value.entropy)
    if name.startswith("numpy.random."):
        seeded = value.bit_generator if name == "numpy.random.default_rng" else value
        return str((getattr(seeded, "seed_seq", None) or seeded._seed_seq).entropy)
    if name.startswith("uuid."):
        return f"{value.int} {value.is_safe.name}"
    if name == "datetime.date.today":
        return str(value.isoformat())
    return dumps([*value, value.tm_zone, value.tm_gmtoff])


def decode(name: str, function: Any, kept: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The value again; of forms `again` and `drawn`: how the function is to be called (`again.Again`)."""
    if name.startswith(SYSTEM):
        from . import drawn as inputs_drawn

        return inputs_drawn.again(function, kept)
    if name in _SEEDED:
        from . import seeded as inputs_seeded

        return inputs_seeded.again(name, function, kept)
    if name.startswith(("builtins.", "sys.", "tempfile.")):
        from . import again as inputs_again

        if name.startswith("tempfile."):
            return inputs_again.temporary(name, function, kept, args, kwargs or {})
        return inputs_again.typed(name, function, kept)
    if name.startswith("datetime.datetime"):
        zone = (args or [*(kwargs or {}).values(), None])[0] if name == "datetime.datetime.now" else None
        return sys.modules["datetime"].datetime.fromisoformat(kept.rstrip("~")).replace(tzinfo=zone, fold=kept.count("~"))
    if name in ("os.urandom", "os.getrandom", "secrets.token_bytes"):
        return bytes.fromhex(kept)
    if name in ("secrets.randbits", "secrets.randbelow"):
        return int(kept)
    if name.startswith("numpy.random."):
        return vars(sys.modules["numpy.random"])[name.rpartition(".")[2]](int(kept))
    if name.startswith("uuid."):
        uuid, (number, safe) = sys.modules["uuid"], kept.split()
        return uuid.UUID(int=int(number), is_safe=uuid.SafeUUID[safe])
    if name == "datetime.date.today":
        return sys.modules["datetime"].date.fromisoformat(kept)
    if name in ("time.localtime", "time.gmtime"):
        import json

        return sys.modules["time"].struct_time(json.loads(kept))
    return kept
