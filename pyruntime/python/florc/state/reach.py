"""Which classes and functions a checkpoint may name, where no live object has that name.

Nothing is imported. Of the modules that are already loaded, only those count that the script's own imports can reach:

- A module outside the standard library is loaded because the script, or what it imports, asked for it.
- A module of the standard library may be loaded because of florc. It counts only if an import in the script's files names it, or
  if a module outside the standard library uses it.

A checkpoint can create an object of a class only in the way in which recording would have encoded one. Files, processes,
temporary files and locks are therefore never created, whatever a checkpoint says. Functions and methods that reach outside the
process are never handed to the script.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from typing import Any

from . import boosters, by_name, classify, data, ddp, fsdp, loading, modules, objects, partials, sequences, thread_local, tracked
from .kinds import CONTENT_BASES, Refused, dotted, type_name

_OBJECTS: frozenset[Callable[..., Any]] = frozenset(
    {
        objects.encode_object,
        objects.encode_without_handles,
        objects.encode_derived,
        classify.encode_light_object,
        classify.encode_light_derived,
        modules.encode_optimizer,
        modules.encode_scaler,
        modules.encode_loader,
    }
)
ENCODERS: dict[str, frozenset[Callable[..., Any]]] = {
    "object": _OBJECTS,
    "combined": frozenset({modules.encode_combined}),
    "torch.Module": frozenset({modules.encode_module}),
    "value": frozenset({objects.encode_derived_value}),
    "namedtuple": frozenset({sequences.encode_namedtuple}),
    "partial": frozenset({partials.encode_partial}),
    "member": frozenset({by_name.encode_member}),
    "pickle": frozenset({data.encode_pickled}),
    "handle": frozenset({boosters.encode_booster}),
    "loading": frozenset({loading.encode_loading}),
    "spent": frozenset({loading.encode_loading}),
    "torch.Metric": frozenset({modules.encode_metric}),
    "torch.DDP": frozenset({ddp.encode_ddp}),
    "torch.FSDP": frozenset({fsdp.encode_fsdp}),
    "local": frozenset({thread_local.encode_local}),
    "tracked": frozenset({tracked.encode_tracked}),
    "tracked.Module": frozenset({tracked.encode_tracked_module}),
}
"""Kind of node -> the encoders that write it."""
OUTWARD = frozenset(
    [
        "os",
        "posix",
        "nt",
        "subprocess",
        "_posixsubprocess",
        "sys",
        "importlib",
        "_frozen_importlib",
        "_frozen_importlib_external",
        "imp",
        "runpy",
        "pkgutil",
        "zipimport",
        "ctypes",
        "_ctypes",
        "socket",
        "_socket",
        "ssl",
        "pty",
        "tty",
        "shutil",
        "pickle",
        "_pickle",
        "marshal",
        "shelve",
        "dbm",
        "code",
        "codeop",
        "codecs",
        "webbrowser",
        "signal",
        "_signal",
        "multiprocessing",
        "_multiprocessing",
        "threading",
        "_thread",
        "asyncio",
        "concurrent",
        "http",
        "urllib",
        "ftplib",
        "smtplib",
        "telnetlib",
        "xmlrpc",
        "socketserver",
        "tempfile",
        "pathlib",
        "io",
        "_io",
        "mmap",
        "resource",
        "fcntl",
        "pdb",
        "bdb",
        "cProfile",
        "profile",
        "trace",
        "timeit",
        "atexit",
        "gc",
        "inspect",
        "ast",
        "builtins",
        "florc",
        "faulthandler",
        "sqlite3",
        "zipfile",
        "tarfile",
        "logging",
    ]
)
"""Modules whose functions reach files, processes, other modules or the interpreter."""
HARMLESS = frozenset(
    [
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "bool",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "hash",
        "hex",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "object",
        "oct",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "staticmethod",
        "classmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "zip",
        "BaseException",
    ]
)
"""Builtins that do not."""
BASIC = frozenset(
    [
        "builtins",
        "__main__",
        "collections",
        "_collections",
        "math",
        "cmath",
        "operator",
        "_operator",
        "functools",
        "_functools",
        "itertools",
        "random",
        "_random",
        "types",
        "enum",
        "numbers",
        "decimal",
        "fractions",
        "datetime",
        "array",
        "copy",
        "typing",
        "abc",
        "dataclasses",
    ]
)
"""Modules of Python's that hold data and arithmetic: every program reaches them."""


def check_class(cls: type, kind: str) -> None:
    """Refused when recording would not have written an object of this class as a node of this kind."""
    check_reached(type_name(cls)[0])
    if kind == "object" and cls in CONTENT_BASES:  # one that was given attributes
        return
    handler = classify.HANDLERS.get(cls) or classify.learn(cls, None)
    if handler not in ENCODERS[kind]:
        raise Refused(f"no checkpoint holds an object of {dotted(cls)} in this way")


def check_named(module: str, found: Any) -> None:
    """Refused for a function, class or module that a checkpoint alone must not bring into the script."""
    own = getattr(found, "__name__", "") if _is_module(found) else getattr(found, "__module__", None)
    for name in {module, own or module}:
        if not isinstance(name, str) or name.partition(".")[0] not in OUTWARD:
            continue
        if name == "builtins" and (getattr(found, "__name__", "") in HARMLESS or _is_exception(found)):
            continue
        what = f"{name}.{getattr(found, '__qualname__', '')}"
        raise Refused(f"{what} reaches outside the script: it is not taken from a checkpoint")
    if module:
        check_reached(module)


def check_reached(module: str) -> None:
    """Refused for a module that the script's own imports do not lead to."""
    top = module.partition(".")[0]
    if top == "florc" or top in sys.stdlib_module_names and top not in BASIC and top.lstrip("_") not in _imported():
        raise Refused(f"{top} is not something that the script imports")


_IMPORTS = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w., \t]+))", re.MULTILINE)
_FOUND: dict[int, set[str]] = {}
"""What is imported, by how many modules there are."""


def _imported() -> set[str]:
    """The modules of Python's that the script's files name in imports, or that packages use, without underscores before."""
    count = len(sys.modules)
    if count not in _FOUND:
        found: set[str] = set()
        for name, module in list(sys.modules.items()):
            top = name.partition(".")[0]
            is_users = top not in sys.stdlib_module_names and top != "florc" or name == "__main__"
            if not is_users or not isinstance(module, types.ModuleType):
                continue
            found |= _used_by(module) | _named_in(getattr(module, "__file__", None))
        _FOUND.clear()
        _FOUND[count] = found
    return _FOUND[count]


def _used_by(module: types.ModuleType) -> set[str]:
    """What its names lead to."""
    names = [
        value.__name__ if isinstance(value, types.ModuleType) else value.__module__
        for value in list(vars(module).values())
        if isinstance(value, (types.ModuleType, types.FunctionType, type))
    ]
    return {name.partition(".")[0].lstrip("_") for name in names if isinstance(name, str)}


def _named_in(file: str | None) -> set[str]:
    """What a file of the user's imports, also inside of functions."""
    if not isinstance(file, str) or not file.endswith(".py") or "-packages" in file:
        return set()
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            found = _IMPORTS.findall(text.read())
    except OSError:
        return set()
    words = [word for one, several in found for word in [one, *several.split(",")]]
    return {word.strip().partition(".")[0].partition(" ")[0].lstrip("_") for word in words}


def _is_module(found: Any) -> bool:
    return isinstance(found, types.ModuleType)


def _is_exception(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)
