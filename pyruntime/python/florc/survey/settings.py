"""Settings of the whole process: what a block leaves changed of them is in no checkpoint, so the block has none.

The compiler knows calls that change one (`settings` in `compiler/src/knowledge`). Here it is a fact, whoever changed
them: they are read when a block begins and when it ends. That has to be cheap, some 10 us, since it is done for each block that
may be kept. Not read: what has no cheap way to be asked (the umask, limits of resources, handlers at the exit), and caches.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from _contextvars import copy_context
from _locale import LC_ALL, setlocale
from _signal import SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, getsignal  # type: ignore[import-not-found]  # what `signal` is made of, without what that imports
from posix import getcwd  # that of `os` has a stand-in in a replay

from ..support import files_read
from ..support.light import suppress
from . import foreign, readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

Settings = dict
"""What each setting is, by what people call it. Objects are known by their addresses: nothing is kept alive."""

_SIGNALS = (SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2)
_DECIMAL = "decimal_context"
_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks", "_global_backward_pre_hooks")
_HOOKS = ("breakpointhook", "displayhook", "excepthook", "unraisablehook", "stdin", "stdout", "stderr")


def mention(text: str) -> None:
    """A file of the user's is part of the run: settings that it mentions are read from now on."""
    foreign.mention(text)
    files_read.is_looked_below |= files_read.looks_below(text)
    for name, words in _MENTIONED.items():
        if name not in _open and any(word in text for word in words):
            _open.add(name)


def now(of: Iterable[str] | None = None) -> Settings[str, Any]:
    """All of them that are read, or those of these."""
    found, modules = {}, sys.modules
    for name in (*_OF_PYTHON, *_OF_MODULES) if of is None else of:
        if name not in _open:
            continue
        if name in _OF_PYTHON:
            found[name] = _OF_PYTHON[name](None)
        elif (there := modules.get(_OF_MODULES[name][0])) is not None:
            with suppress(Exception):  # half imported, or replaced by something else
                found[name] = _OF_MODULES[name][1](there)
    return found


def changed(before: Settings[str, Any], after: Settings[str, Any]) -> str | None:
    """The first that is another one, in words."""
    for name, value in after.items():
        if name in before and before[name] != value:
            return name
    return None


def _known(value: Any) -> Any:
    return value if id(type(value)) in readers.ATOM_IDS else id(value)


def _items(values: Any) -> list[Any]:
    return [_known(value) for value in values]


def _where() -> str:
    try:
        return getcwd()
    except OSError:  # a folder that is not there any more
        return ""


def _filters() -> list[Any]:
    """Which warnings are shown. Filters are tuples, and the module has the list of them anyway."""
    return list(getattr(sys.modules.get("warnings"), "filters", ()))


_OF_PYTHON: dict[str, Callable[[None], Any]] = {
    "the current folder": lambda _: _where(),
    "os.environ": lambda _: hash(tuple(vars(os.environ)["_data"].items())),
    "the locale": lambda _: setlocale(LC_ALL),
    "the time zone": lambda _: (time.tzname, time.timezone),
    "the recursion limit": lambda _: sys.getrecursionlimit(),
    "the switch interval": lambda _: sys.getswitchinterval(),
    "sys.path": lambda _: tuple(_items(sys.path)),
    "sys.argv": lambda _: tuple(_items(sys.argv)),
    "a hook or a stream of sys": lambda _: [id(sys.__dict__.get(name)) for name in _HOOKS],
    "the trace function": lambda _: (id(sys.gettrace()), id(sys.getprofile())),
    "the garbage collector": lambda _: (gc.isenabled(), gc.get_threshold(), gc.get_debug()),
    "warnings.filters": lambda _: _filters(),
    "the handler of a signal": lambda _: [id(getsignal(number)) for number in _SIGNALS],
    "a context variable": lambda _: {id(name): _known(value) for name, value in copy_context().items() if name.name != _DECIMAL},
}


def _of_decimal(decimal: Any) -> str:
    """All of the context, its flags too. To ask for it would make one, where there is none yet."""
    found = [value for name, value in copy_context().items() if name.name == _DECIMAL]
    return repr(found[0] if found else decimal.DefaultContext)


def _autocasts(torch: Any) -> tuple[bool, bool]:
    try:
        return torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")
    except TypeError:  # before 2.4 it takes no name
        return torch.is_autocast_cpu_enabled(), torch.is_autocast_enabled()


def _of_torch(torch: Any) -> Any:
    """Those that decide what is computed, and in which order numbers are added."""
    return (
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
        torch.is_anomaly_enabled(),
        _autocasts(torch),
        torch.is_warn_always_enabled(),
        id(getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None)),
    )


_OF_MODULES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "the dialects of csv": ("csv", lambda csv: (csv.field_size_limit(), csv.list_dialects())),
    "the decimal context": ("decimal", _of_decimal),
    "faulthandler": ("faulthandler", lambda faulthandler: faulthandler.is_enabled()),
    "what logging does": (
        "logging",
        lambda logging: (logging.root.manager.disable, id(logging.getLogRecordFactory()), id(logging.getLoggerClass())),
    ),
    "how processes are started": (
        "multiprocessing",
        lambda processes: processes.get_start_method(True) or processes.get_all_start_methods()[0],
    ),
    "numpy.seterr": ("numpy", lambda numpy: (numpy.geterr(), id(numpy.geterrcall()))),
    "numpy.set_printoptions": ("numpy", lambda numpy: repr(numpy.get_printoptions())),
    "the time limit of sockets": ("socket", lambda socket: socket.getdefaulttimeout()),
    "a setting of threading": ("threading", lambda threading: (threading.stack_size(), id(threading.excepthook))),
    "a setting of torch": ("torch", _of_torch),
    "hooks of all modules of torch": (
        "torch.nn.modules.module",
        lambda module: [len(module.__dict__[name]) for name in _GLOBAL_HOOKS if name in module.__dict__],
    ),
    "torch.set_printoptions": ("torch._tensor_str", lambda printing: tuple(vars(printing.PRINT_OPTS).values())),
    "tracemalloc": ("tracemalloc", lambda tracemalloc: tracemalloc.is_tracing()),
}

_MENTIONED: dict[str, tuple[str, ...]] = {
    "os.environ": ("environ", "env("),
    "the recursion limit": ("recursion",),
    "the switch interval": ("switchinterval",),
    "sys.path": ("sys",),
    "sys.argv": ("sys",),
    "a hook or a stream of sys": ("hook", "sys", "redirect_std"),
    "the trace function": ("trace", "profile"),
    "warnings.filters": ("warning",),
    "the handler of a signal": ("signal",),
    "a context variable": ("ContextVar", "contextvars"),
    "the dialects of csv": ("csv",),
    "faulthandler": ("faulthandler",),
    "what logging does": ("logging",),
    "how processes are started": ("start_method",),
    "the time limit of sockets": ("socket",),
    "a setting of threading": ("threading",),
    "tracemalloc": ("tracemalloc",),
}
"""Libraries change these as they like, when something of them is first called: they are read where a file of the user's has one
of these words. All others are always read: they decide what is computed, or where files are."""
EVERYTHING = " ".join(["fileno", *(word for words in _MENTIONED.values() for word in words)])
"""A text that mentions all of them."""
_open = {*_OF_PYTHON, *_OF_MODULES} - _MENTIONED.keys()
