"""The user's files: which are theirs, how each is compiled, and what becomes of imported ones."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import site
import sys
import sysconfig
from types import CodeType
from typing import Any, Callable, List, Optional, Sequence

Compile = Callable[[str, str, str], CodeType]
"""(text, file name, qualifier of loop ids) -> code object."""


def decode(data: bytes) -> str:
    """A Python file as text, whatever its encoding; newlines become LF. Raises SyntaxError or UnicodeDecodeError."""
    return importlib.util.decode_source(data)


class ProjectFinder(importlib.machinery.PathFinder):
    """Compiles modules that lie below the project's folder with `compile_text`; leaves all others to Python."""

    def __init__(self, root: str, compile_text: Compile):
        self._root = os.path.join(os.path.realpath(root), "")
        self._compile = compile_text
        self._foreign = [os.path.join(os.path.realpath(path), "") for path in _library_folders()]

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None, target: Any = None) -> Any:  # type: ignore[override]
        spec = super().find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader or not spec.origin:
            return None
        if not self.owns(spec.origin):
            return None
        spec.loader = _Loader(fullname, spec.origin, self._compile)
        return spec

    def owns(self, file: str) -> bool:
        """Whether a file belongs to the project."""
        real = os.path.realpath(file)
        return real.startswith(self._root) and not any(real.startswith(folder) for folder in self._foreign)


class _Loader(importlib.machinery.SourceFileLoader):
    """Never reads or writes a `.pyc`: instrumented code must not be found by a plain run."""

    def __init__(self, fullname: str, path: str, compile_text: Compile):
        super().__init__(fullname, path)
        self._compile = compile_text

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        return self._compile(decode(self.get_data(path)), path, f"{fullname}.")


def _library_folders() -> List[str]:
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths.update(site.getsitepackages() if hasattr(site, "getsitepackages") else [])
    paths.add(os.path.dirname(os.path.abspath(__file__)))
    return [path for path in paths if path and path != sys.prefix]
