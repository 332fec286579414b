"""What `os.scandir` returns for a folder whose list differs from that of the user's own."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .redirection import Functions

_lstat = os.lstat


class Entry:
    """Behaves like `os.DirEntry`."""

    def __init__(self, functions: Functions, real: str, name: str | bytes, path: str | bytes):
        self._functions, self._real = functions, real
        self.name, self.path = name, path

    def __fspath__(self) -> str | bytes:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """What is there now."""
        return os.stat(self.path, follow_symlinks=follow_symlinks)

    def _mode(self, follow: bool) -> int | None:
        functions = self._functions
        real = functions.paths.resolve(self._real, follow)
        where = self._real if real is None else functions.view.find(real).where
        try:
            mode = _lstat(where).st_mode
        except FileNotFoundError:
            return None
        if follow and stat.S_ISLNK(mode):  # a loop: that is an error
            os.stat(self.path)
        return mode

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self._mode(follow_symlinks) or 0)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self._mode(follow_symlinks) or 0)

    def is_symlink(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self._mode(False) or 0)

    def is_junction(self) -> bool:
        """Never here."""
        return False

    def inode(self) -> int:
        """The number of the file."""
        return self.stat(follow_symlinks=False).st_ino


class Entries:
    """The iterator, which is also a context manager."""

    def __init__(self, functions: Functions, real: str, path: Any, names: list[str]):
        text = "." if path is None else path if isinstance(path, int) else os.fspath(path)
        self._entries: Iterator[Entry] = iter([_entry(functions, real, text, name) for name in names])

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """No more entries."""
        self._entries = iter(())


def _entry(functions: Functions, real: str, text: str | bytes | int, name: str) -> Entry:
    whole = f"{'' if real == '/' else real}/{name}"
    if isinstance(text, bytes):
        return Entry(functions, whole, os.fsencode(name), os.path.join(text, os.fsencode(name)))
    if isinstance(text, int):
        return _EntryOfDescriptor(functions, whole, name, name)
    return Entry(functions, whole, name, os.path.join(text, name))


class _EntryOfDescriptor(Entry):
    """An entry of a folder that was given as a descriptor: its path is its name."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return os.stat(self._real, follow_symlinks=follow_symlinks)
