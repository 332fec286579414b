"""In a process that a replayed script starts anew, not forked (`multiprocessing` with `spawn` or `forkserver`, loky): the
script's files run there with the marks of added statements, and what these print is kept for the replay."""

from __future__ import annotations

import marshal
import os
import runpy
import sys
from importlib.machinery import PathFinder
from types import CodeType
from typing import Any

from .. import _native
from . import output


def begin(folder: str, label: str, path: str, codes: str) -> None:
    """Called before anything else. `folder`: where the answers go; `label`: the number of the process; `path`: where in the loop
    nest it was started; `codes`: a file with the code of the script's files."""
    with open(codes, "rb") as file:
        known: dict[str, CodeType] = marshal.load(file)

    def become(label: str) -> None:
        output.child = output.Child(path, label, os.path.join(folder, "notes"), os.path.join(folder, label), lambda name: None)

    become(label)
    os.register_at_fork(after_in_child=lambda: become(f"{label}.{os.getpid()}"))
    sys.meta_path.insert(0, _Finder(known))
    _listen(folder)
    itself: Any = runpy._get_code_from_file  # type: ignore[attr-defined]  # typeshed lists no private names

    def code_of(*args: Any) -> Any:
        found, plain = known.get(os.path.realpath(args[-1])), itself(*args)
        if found is None:
            return plain
        return (found, *plain[1:]) if isinstance(plain, tuple) else found

    runpy._get_code_from_file = code_of  # type: ignore[attr-defined]  # typeshed lists no private names


def _listen(folder: str) -> None:
    """Note what added statements write."""
    seen: set[str] = set()

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if output.child is None or not output.child.depth:
            return
        path, _, flags = args
        if not isinstance(path, (str, bytes)) or not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR):
            return
        real = os.path.realpath(os.fsdecode(path))
        if real not in seen and not real.startswith((folder, "/dev/", "/proc/")):
            seen.add(real)
            with open(os.path.join(folder, output.WRITTEN_ELSEWHERE), "a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(real + "\n")

    _native.listen(["open"], hear)


class _Finder:
    """Gives the loaders of these files their code."""

    def __init__(self, codes: dict[str, CodeType]):
        self._codes = codes
        self._names = {os.path.basename(part) for path in codes for part in (os.path.splitext(path)[0], os.path.dirname(path))}
        """What the modules may be called: a file's name, or that of its folder."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module's own spec."""
        if name.rpartition(".")[2] not in self._names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        code = None if spec is None or spec.origin is None else self._codes.get(os.path.realpath(spec.origin))
        if spec is None or code is None:
            return None  # the other finders are asked
        loader: Any = spec.loader
        loader.get_code = lambda _: code
        return spec
