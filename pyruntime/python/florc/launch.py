"""Runs a script as the real `__main__`."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import os
import sys
import types
from types import CodeType, TracebackType
from typing import List, NamedTuple, NoReturn, Optional

_OWN = os.path.dirname(os.path.abspath(__file__))


class Script(NamedTuple):
    """What is to be run: a file, or a module as `python -m` runs it."""

    path: str
    text: str
    argv: List[str]
    module: Optional[str]


class Unusable(Exception):
    """The command cannot be carried out; the message says why and what to do."""


def load(script: List[str], module: Optional[str]) -> Script:
    """Read the script. Raises Unusable for a file that is not there, SyntaxError for one that is not text."""
    from .project import decode

    if module is not None:
        return _load_module(module, script)
    path = os.path.abspath(script[0])
    if os.path.isdir(path):
        folder, path = script[0], os.path.join(path, "__main__.py")
        if not os.path.exists(path):
            raise Unusable(f"{folder} is a folder without a __main__.py: which script in it?")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unusable(f"cannot read {script[0]}: {(error.strerror or str(error)).lower()}") from None
    return Script(path, decode(data), list(script), None)


def _load_module(name: str, arguments: List[str]) -> Script:
    from .project import decode

    sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.origin or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        raise Unusable(f"no module named {name} that can be run")
    with open(spec.origin, "rb") as file:
        return Script(spec.origin, decode(file.read()), [spec.origin, *arguments], spec.name)


def execute(script: Script, code: CodeType) -> None:
    """Run the code with `sys.argv`, `sys.path[0]` and `__main__` as a plain run has them."""
    main = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", script.path)
    main.__dict__.update(__file__=script.path, __builtins__=builtins, __loader__=loader, __cached__=None,
                         __annotations__={})
    if script.module is None:
        sys.path[0] = os.path.dirname(os.path.realpath(script.path))
    else:
        spec = importlib.util.find_spec(script.module)
        main.__dict__.update(__spec__=spec, __package__=script.module.rpartition(".")[0], __cached__=getattr(spec, "cached", None))
    sys.argv = script.argv
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def reraise(error: BaseException) -> NoReturn:
    """End the process as Python does for an uncaught exception: the user's own traceback, exit code and signal."""
    stripped = without_own_frames(error.__traceback__)
    if not isinstance(error, SystemExit):
        sys.excepthook(type(error), error.with_traceback(stripped), stripped)
        sys.excepthook = lambda *_: None
    raise error


def without_own_frames(traceback: Optional[TracebackType]) -> Optional[TracebackType]:
    """The traceback as a plain run has it: neither what started the script, nor florc's work that Ctrl-C hit."""
    frames, at = [], traceback
    while at is not None:
        if os.path.dirname(at.tb_frame.f_code.co_filename) != _OWN:
            frames.append(at)
        at = at.tb_next
    for frame, following in zip(frames, [*frames[1:], None]):
        frame.tb_next = following
    return frames[0] if frames else None
