"""While recording: what the run reads, so that a replay finds the same, or says that it does not."""

from __future__ import annotations

import os
import stat
import sys

from ..runs.found_files import hash_of
from ..support.light import OWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

_MOST, _MOST_BACK = 1000, 1000
"""Files that are noted when they are read; of those that the run itself changed, and places where it reads them."""
_HASHED, _MOST_HASHED = 1 << 18, 1 << 22
"""Bytes of one, and of all, that are hashed."""
_KERNEL = ("/proc/", "/sys/")
_MODULES = (".py", ".pyc", ".so", ".pth")
"""Those of libraries are known by the versions of their packages."""
_PACKAGES = ("/site-packages/", "/dist-packages/")
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")


class ReadsNoted:
    """Notes each file once, and each of the run's own files once for each place where it is read back. `note(**payload)` writes a
    record; `store` is left out."""

    def __init__(self, store: str, note: Callable[..., None]):
        self._note = note
        self._no_data = (*_KERNEL, store)
        self._read: set[str] = set()
        self._back: dict[tuple[str, str], int] = {}
        """Path, and place in the loop nest -> how often it was read there."""
        self._noted = 0
        self._left = [_MOST_HASHED, _MOST_HASHED]
        """Bytes that may still be hashed, of either kind."""

    def read(self, path: str) -> None:
        """A file is opened to be read that the run did not change."""
        if len(self._read) >= _MOST or path in self._read or path.startswith(self._no_data):
            return
        if not _is_imported() and not (path.endswith(_MODULES) and _is_of_library(path)):
            self._read.add(path)
            self._tell(path, 0)

    def read_back(self, path: str, at: str) -> None:
        """A file is opened to be read that the run has changed; `at`: the place in the loop nest, where it may be changed and
        read several times."""
        if self._noted < _MOST_BACK:
            self._noted += 1
            number = self._back[path, at] = self._back.get((path, at), -1) + 1
            self._tell(path, 1, at=at, time=number)

    def _tell(self, path: str, kind: int, **more: Any) -> None:
        try:
            found = os.stat(path)
        except OSError:
            return
        if stat.S_ISREG(found.st_mode):
            is_small = found.st_size <= min(_HASHED, self._left[kind])
            self._left[kind] -= found.st_size if is_small else 0
            known = hash_of(path) if is_small else None
            self._note(path=path, size=found.st_size, mtime_ns=found.st_mtime_ns, hash=known, **more)


def _is_of_library(path: str) -> bool:
    return path.startswith((_STANDARD, "<")) or any(folder in path for folder in _PACKAGES)


def _is_imported() -> bool:
    """Whether an import opens a file: who opens it decides, and never where it lies. What the user's code opens, and what it
    calls, is data, in a module that is being imported, too."""
    at: FrameType | None = sys._getframe(2)
    while at is not None:
        name = at.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return True
        if not _is_of_library(name) and not name.startswith(OWN):
            return False
        at = at.f_back
    return False
