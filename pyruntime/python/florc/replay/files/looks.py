"""The functions of Python that look at paths: what they are, what is in a folder, which folder is the present one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...inputs import standard_input
from .entries import Entries

if TYPE_CHECKING:
    from .redirection import Functions


class Looks:
    """Replaces these functions. `functions`: a `redirection.Functions`."""

    def __init__(self, functions: Functions):
        self._functions, self._view = functions, functions.view

    def look(self, original: Any, path: Any, *args: Any, dir_fd: Any = None, follow_symlinks: bool = True, **options: Any) -> Any:
        """`os.stat` and its like."""
        given = {
            **options,
            **({} if dir_fd is None else {"dir_fd": dir_fd}),
            **({} if follow_symlinks else {"follow_symlinks": False}),
        }
        real = self._functions.resolve(path, follow_symlinks, dir_fd)
        if real is None:
            self._view.doubts.descriptor(path)
            return original(path, *args, **given)
        given.pop("dir_fd", None)
        found = self._view.find(real)
        self._view.look(real, found)
        return self._functions.call(original, found.where, path, *args, **given)

    def look_at_open(self, original: Any, number: Any, *args: Any, **options: Any) -> Any:
        """`os.fstat` and its like."""
        self._view.doubts.descriptor(number)
        return original(number, *args, **options)

    def read(self, original: Any, number: Any, *args: Any, **options: Any) -> Any:
        """`os.read`."""
        if number == 0:
            standard_input.note()
        return self.look_at_open(original, number, *args, **options)

    def look_at_link(self, original: Any, path: Any, *args: Any, dir_fd: Any = None) -> Any:
        """`os.lstat`, `os.readlink`."""
        real = self._functions.resolve(path, False, dir_fd)
        if real is None:
            return original(path, *args, dir_fd=dir_fd)
        found = self._view.find(real)
        self._view.look(real, found)
        return self._functions.call(original, found.where, path, *args)

    def _listed(self, path: Any) -> str | None:
        """The real path of a folder whose list is not that of the user's own."""
        if isinstance(path, int):
            try:
                real = self._functions.paths.resolve(self._functions.paths.of_descriptor(path))
            except OSError:
                return None
        else:
            real = self._functions.resolve("." if path is None else path)
        if real is None or self._view.is_plain_below(real):
            if real is not None:
                self._view.list(real)
            return None
        return real

    def listdir(self, original: Callable[..., list[Any]], path: Any = None) -> list[Any]:
        """`os.listdir`."""
        real = self._listed(path)
        if real is None:
            return original(path)
        names = self._names(original, real, path)
        as_bytes = not isinstance(path, int) and path is not None and isinstance(os.fspath(path), bytes)
        return [os.fsencode(name) for name in names] if as_bytes else names

    def scandir(self, original: Any, path: Any = None) -> Any:
        """`os.scandir`."""
        real = self._listed(path)
        if real is None:
            return original(path)
        return Entries(self._functions, real, path, self._names(original, real, path))

    def _names(self, original: Any, real: str, path: Any) -> list[str]:
        where = self._view.find(real).where
        if not os.path.isdir(where):
            self._functions.call(original, where, "." if path is None or isinstance(path, int) else path)
        return self._view.names(real)

    def getcwd(self, original: Callable[[], str]) -> str:
        """`os.getcwd`."""
        return self._functions.paths.shown(original())

    def getcwdb(self, original: Callable[[], bytes]) -> bytes:
        """`os.getcwdb`."""
        return os.fsencode(self._functions.paths.shown(os.fsdecode(original())))

    def chdir(self, original: Callable[..., None], path: Any) -> None:
        """`os.chdir`: to the user's own folder, or to the replay's folder if only that one exists."""
        real = self._functions.resolve(path)
        if real is None:
            return original(path)
        return self._functions.call(original, self._view.find(real).where, path)
