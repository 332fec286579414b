"""What added statements wrote in the world of a replay (`entry.py`), and how it gets to the user's folder at the end.

What Python writes for them is noted as it is opened (`note`). What native code and other programs write is found by comparing the
upper layers before and after a statement, unless its text shows that it calls nothing that writes.
"""

from __future__ import annotations

import _ast
import contextlib
import functools
import json
import os
import shutil
import stat
from collections.abc import Iterator

from ...support.console import say
from ...support.copying import copy
from ..files.kinds import SUFFIX, free

_scandir, _lstat, _open = os.scandir, os.lstat, os.open  # a replay replaces them
_LOOK = frozenset(
    {
        "print",
        "len",
        "float",
        "int",
        "str",
        "repr",
        "bool",
        "round",
        "abs",
        "sum",
        "min",
        "max",
        "sorted",
        "list",
        "tuple",
        "dict",
        "set",
        "zip",
        "enumerate",
        "range",
        "type",
        "isinstance",
        "getattr",
        "hasattr",
        "format",
        "join",
        "item",
        "mean",
        "std",
        "var",
        "norm",
        "tolist",
        "numpy",
        "cpu",
        "detach",
        "clone",
        "argmax",
        "argmin",
        "all",
        "any",
        "size",
        "dim",
        "items",
        "keys",
        "values",
        "get",
        "allclose",
        "equal",
        "isnan",
        "isfinite",
        "info",
        "debug",
        "warning",
        "error",
        "state_dict",
        "parameters",
        "named_parameters",
    }
)
"""Functions and methods that write no files, by their names."""
_NOT_THEIRS = "__pycache__"


class Handed:
    """What is handed out of one world. `uppers`: folder that is covered -> its upper layer; `notes`: a file that all processes of
    the world share."""

    def __init__(self, uppers: dict[str, str], notes: str):
        self.uppers, self._notes = uppers, notes
        self._empty: dict[str, int] = {}
        """Upper layers that hold nothing -> when that was last changed."""

    def note(self, path: str, is_own: bool = True) -> None:
        """An added statement wrote to a path. `is_own`: there itself, else beside what is there."""
        with contextlib.suppress(OSError):
            line = json.dumps([path, is_own]) + "\n"
            file = _open(self._notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)

    # -- what others than Python write -----------------------------------------------------------------------------

    def present(self) -> dict[str, int]:
        """The files in the upper layers, and when each was last changed."""
        found: dict[str, int] = {}
        for folder, upper in self.uppers.items():
            with contextlib.suppress(OSError):
                changed = _lstat(upper).st_ctime_ns
                if self._empty.get(upper) == changed:
                    continue
                is_empty = True
                for path, when in _files(upper, "" if folder == "/" else folder):
                    is_empty = False
                    if when is not None:
                        found[path] = when
                if is_empty:  # not even a folder, in which something may be made that does not show here
                    self._empty[upper] = changed
        return found

    def over(self, before: dict[str, int]) -> None:
        """A statement is over, before which the upper layers were so."""
        for path, changed in self.present().items():
            if before.get(path) != changed:
                self.note(path, is_own=False)

    # -- handing out -----------------------------------------------------------------------------------------------

    def hand_out(self) -> None:
        """Bring it to the user's folder: this process is out of its world."""
        wanted: dict[str, bool] = {}
        with contextlib.suppress(OSError), open(self._notes, encoding="utf-8") as file:
            for line in file:
                path, is_own = json.loads(line)
                wanted[path] = wanted.get(path, False) or is_own
        for path, is_own in sorted(wanted.items()):
            source = self._upper(path)
            try:
                found = _lstat(source)
            except OSError:  # it is gone, or lies where nothing is covered
                continue
            try:
                _carry(source, found.st_mode, path, is_own)
            except OSError as error:
                why = (error.strerror or str(error)).lower()
                say(f"what an added statement wrote to {os.path.relpath(path)} is lost: {why}", always=True, code="F508")

    def _upper(self, path: str) -> str:
        at = path
        while at != "/":
            at = os.path.dirname(at)
            if at in self.uppers:
                return self.uppers[at] + path[len(at.rstrip("/")) :]
        return ""


def _files(folder: str, shown: str) -> Iterator[tuple[str, int | None]]:
    """What lies in an upper layer: files and links, and when they changed; None for all else."""
    with _scandir(folder) as inside:
        for entry in inside:
            path = f"{shown}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield path, None
                if entry.name != _NOT_THEIRS:
                    yield from _files(entry.path, path)
                continue
            found = entry.stat(follow_symlinks=False)
            yield path, found.st_ctime_ns if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode) else None


def _carry(source: str, mode: int, path: str, is_own: bool) -> None:
    if stat.S_ISDIR(mode):
        os.makedirs(path, exist_ok=True)
        os.chmod(path, stat.S_IMODE(mode))
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    is_there = os.path.lexists(path)
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(source), path if not is_there else free(path + SUFFIX))
    elif not stat.S_ISREG(mode):
        return
    elif is_there and is_own:  # it stays the same file, under each of its names
        with open(source, "rb") as written, open(path, "wb") as own:
            shutil.copyfileobj(written, own)
        shutil.copystat(source, path)
    elif is_there:
        beside = free(path + SUFFIX)
        copy(source, beside)
        said, there = os.path.relpath(path), os.path.relpath(beside)
        say(f"an added statement wrote to {said}, where a file is: what it wrote is in {there}", always=True, code="F508")
    else:
        copy(source, path)


def may_write(text: str, line: int) -> bool:
    """Whether the statement in this line of a file calls what could write files."""
    try:
        tree = _parsed(text)
    except (SyntaxError, ValueError):
        return True
    found = [
        node
        for node in _below(tree)
        if isinstance(node, _ast.stmt) and node.lineno <= line <= (node.end_lineno or 0) and not getattr(node, "body", None)
    ]
    calls = (call for node in found for call in _below(node) if isinstance(call, _ast.Call))
    return not found or any(_name(call.func) not in _LOOK for call in calls)


@functools.lru_cache(4)
def _parsed(text: str) -> _ast.AST:
    return compile(text, "", "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)


def _below(node: _ast.AST) -> Iterator[_ast.AST]:
    """What `ast.walk` yields; `ast` takes long to import."""
    yield node
    for name in node._fields:
        value = getattr(node, name, None)
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, _ast.AST):
                yield from _below(part)


def _name(called: _ast.AST) -> str:
    return called.attr if isinstance(called, _ast.Attribute) else called.id if isinstance(called, _ast.Name) else ""
