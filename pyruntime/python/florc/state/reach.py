"""Which classes and functions a checkpoint may name, where there is no live object of that name.

Nothing is imported: only what the script's own imports have brought here is found. Of a class, a new object is made only in
the way in which recording would have encoded one; so files, processes, temporary files, locks and the like are never made,
whatever a checkpoint says. Functions and methods that reach outside the process are never handed to the script.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, FrozenSet

from . import classify, data, modules, objects, sequences
from .kinds import CONTENT_BASES, Refused, dotted

_OBJECTS: FrozenSet[Callable] = frozenset({
    objects.encode_object, objects.encode_derived, classify.encode_light_object, classify.encode_light_derived,
    modules.encode_optimizer, modules.encode_scaler, modules.encode_loader})
ENCODERS: Dict[str, FrozenSet[Callable]] = {
    "object": _OBJECTS, "torch.Module": frozenset({modules.encode_module}), "value": frozenset({objects.encode_derived_value}),
    "namedtuple": frozenset({sequences.encode_namedtuple}), "pickle": frozenset({data.encode_pickled})}
"""Kind of node -> the encoders that write it."""
OUTWARD = frozenset(
    "os posix nt subprocess _posixsubprocess sys importlib _frozen_importlib _frozen_importlib_external imp runpy pkgutil zipimport"
    " ctypes _ctypes socket _socket ssl pty tty shutil pickle _pickle marshal shelve dbm code codeop codecs webbrowser signal _signal"
    " multiprocessing _multiprocessing threading _thread asyncio concurrent http urllib ftplib smtplib telnetlib xmlrpc socketserver"
    " tempfile pathlib io _io mmap resource fcntl pdb bdb cProfile profile trace timeit atexit gc inspect ast builtins"
    " florc faulthandler sqlite3 zipfile tarfile logging".split())
"""Modules whose functions reach files, processes, other modules or the interpreter."""
HARMLESS = frozenset(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset hash hex id"
    " int isinstance issubclass iter len list map max min next object oct ord pow print property range repr reversed round set slice"
    " sorted staticmethod classmethod str sum super tuple type zip BaseException".split())
"""Builtins that do not."""


def check_class(cls: type, kind: str) -> None:
    """Refused when recording would not have written an object of this class as a node of this kind."""
    if kind == "object" and cls in CONTENT_BASES:  # one that was given attributes
        return
    handler = classify.HANDLERS.get(cls) or classify.learn(cls, None)
    if handler not in ENCODERS[kind]:
        raise Refused(f"no checkpoint holds an object of {dotted(cls)} in this way")


def check_named(module: str, found: Any) -> None:
    """Refused for a function, class or module that a checkpoint alone must not bring into the script."""
    for name in {module, getattr(found, "__module__", None) or module, getattr(found, "__name__", "") if _is_module(found) else module}:
        if not isinstance(name, str) or name.partition(".")[0] not in OUTWARD:
            continue
        if name == "builtins" and (getattr(found, "__name__", "") in HARMLESS or _is_exception(found)):
            continue
        raise Refused(f"{name}.{getattr(found, '__qualname__', '')} reaches outside the script: it is not taken from a checkpoint")


def _is_module(found: Any) -> bool:
    return isinstance(found, type(sys))


def _is_exception(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)
