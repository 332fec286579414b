"""While recording: what the run reads, so that a replay finds the same, or says that it does not."""

from __future__ import annotations

import os
import stat
import sys

from ..runs.found_files import hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MOST, _MOST_BACK = 1000, 1000
"""Files that are noted when they are read; of those that the run itself changed, and places where it reads them."""
_HASHED, _MOST_HASHED = 1 << 18, 1 << 22
"""Bytes of one, and of all, that are hashed."""
_NO_DATA = (".py", ".pyc", ".so", ".pth")
"""Modules are known by the versions of their packages."""


class ReadsNoted:
    """Notes each file once, and each of the run's own files once for each place where it is read back. `note(**payload)` writes a
    record; `store` is left out."""

    def __init__(self, store: str, note: Callable[..., None]):
        self._note = note
        self._system = ("/dev/", "/proc/", "/sys/", "/etc/", "/usr/", store, sys.prefix, sys.base_prefix)
        self._read: set[str] = set()
        self._back: dict[tuple[str, str], int] = {}
        """Path, and place in the loop nest -> how often it was read there."""
        self._noted = 0
        self._left = [_MOST_HASHED, _MOST_HASHED]
        """Bytes that may still be hashed, of either kind."""

    def read(self, path: str) -> None:
        """A file is opened to be read that the run did not change."""
        is_data = not path.startswith(self._system) and not path.endswith(_NO_DATA)
        if is_data and len(self._read) < _MOST and path not in self._read:
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
