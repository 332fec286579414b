"""The user's files as a recorded run found them: what its journal tells of each path that it changed.

A record `file` is written before the run first changes a path (`record/files_noted.py`). A path that was not there is hidden from
a replay, one that was is shown with its old content, where that was kept.
"""

from __future__ import annotations

import os
from _blake2 import blake2b  # without OpenSSL, which `hashlib` loads

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NONE, FILE, FOLDER, LINK = "none", "file", "folder", "link"
"""What was at a path: nothing, a regular file, a folder, a symbolic link."""
BRIEFLY, LATER = "briefly", "later"
"""A path is removed: where it was made, or elsewhere in the loop nest."""
FOLDER_NAME = "files"
"""Below the folder of a run: old contents that were kept; below that of a replay: its own files."""
_PIECE = 4096
"""Bytes at both ends of a file by which it is known again."""


class Noted:
    """What is known of one path."""

    def __init__(self, noted: _native.File, path: str, folder: str):
        self.path, self.was = path, noted.was
        self.size, self.mode, self.mtime_ns = noted.size, noted.mode, noted.mtime_ns
        self.ends, self.target = noted.ends, noted.target
        self.kept: str | None = None
        self.kept_hash: str | None = None
        """Of what was kept; None of a file that was too large to be read."""
        self.kept_size, self.kept_mtime_ns = 0, 0
        self.places: list[str] = []
        """Where in the loop nest the run changed it: the first place of each kind."""
        self.removed: list[str] = []
        """Where it removed it, or gave it another name."""
        self.brief: list[str] = []
        """Where it did so with what it had made at the same place."""
        self._folder = folder
        self.add(noted)

    def add(self, noted: _native.File) -> None:
        """A further record of the same path."""
        kept = noted.kept
        if kept and os.path.basename(kept) == kept and self.kept is None:
            self.kept = os.path.join(self._folder, kept)
            self.kept_hash, self.kept_size, self.kept_mtime_ns = noted.kept_hash, noted.kept_size, noted.kept_mtime_ns
        self.places.append(noted.at)
        if noted.gone is not None:
            (self.brief if noted.gone == BRIEFLY else self.removed).append(noted.at)

    def beside(self, other: Noted) -> Noted:
        """What two ranks note of the same path. What one of them made, the other one may have found there."""
        first, second = (other, self) if other.was == NONE != self.was else (self, other)
        first.places += second.places
        first.removed += second.removed
        first.brief += second.brief
        return first

    def followed_by(self, other: Noted) -> Noted:
        """What is noted of the same path by processes that ran one after the other."""
        self.places += other.places
        return self

    def blocks(self) -> set[str]:
        """The blocks in which the run changed it."""
        return {block for place in self.places for block in _native.Path(place).blocks}

    @property
    def is_unhashed(self) -> bool:
        """Whether old content was kept without a hash of it."""
        return self.kept is not None and self.kept_hash is None

    def content(self, beside: str) -> str | None:
        """Where the old content of a file lies; `beside`: a folder for what has to be cut to size. None: it was not kept,
        or is not what it was."""
        if is_as_it_was(self.path, self.size, self.mtime_ns):  # it was opened for writing, and not written
            return self.path
        if self.kept is None:  # something may only have been appended
            whole = self.path if self.ends is not None and ends_of(self.path, self.size) == self.ends else None
        else:
            whole = self.kept if self._is_kept(self.kept) else None
        if whole is None or os.path.getsize(whole) == self.size and whole == self.kept:
            return whole
        return self._cut(whole, beside)

    def _is_kept(self, kept: str) -> bool:
        if self.kept_hash is not None:
            return hash_of(kept) == self.kept_hash
        return is_as_it_was(kept, self.kept_size, self.kept_mtime_ns)

    def _cut(self, whole: str, beside: str) -> str | None:
        os.makedirs(beside, exist_ok=True)
        cut = os.path.join(beside, name_of(self.path))
        half = f"{cut}.{os.getpid()}"
        with open(whole, "rb") as source, open(half, "wb") as out:
            left = self.size
            while left:
                data = source.read(min(left, 1 << 20))
                if not data:
                    return None
                out.write(data)
                left -= len(data)
        os.chmod(half, os.stat(whole).st_mode & 0o7777)
        os.utime(half, ns=(self.mtime_ns, self.mtime_ns))
        os.replace(half, cut)
        return cut


def read(files: Iterable[_native.File], folder: str, located: Callable[[str], str]) -> dict[str, Noted]:
    """The notes of a run by path. `located(path)`: where a recorded path lies now; `folder`: where old contents are kept."""
    found: dict[str, Noted] = {}
    for noted in files:
        path = located(noted.path)
        if path in found:
            found[path].add(noted)
        elif noted.was is not None:
            found[path] = Noted(noted, path, folder)
    return found


def name_of(path: str) -> str:
    """The name under which the old content of a path is kept."""
    return blake2b(os.fsencode(path), digest_size=16).hexdigest()


def hash_of(path: str) -> str | None:
    """The hash of what a file holds; None for one that cannot be read."""
    digest = blake2b(digest_size=16)
    try:
        with open(path, "rb", buffering=0) as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()


def ends_of(path: str, size: int) -> str | None:
    """By what the first `size` bytes of a file are known again; None when it has fewer."""
    digest = blake2b(digest_size=16)
    try:
        with open(path, "rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size < size:
                return None
            digest.update(file.read(min(size, _PIECE)))
            file.seek(max(0, size - _PIECE))
            digest.update(file.read(min(size, _PIECE)))
    except OSError:
        return None
    return digest.hexdigest()


def is_as_it_was(kept: str, size: int, mtime_ns: int) -> bool:
    """Whether a file has this size and this time."""
    try:
        found = os.stat(kept)
    except OSError:
        return False
    return (found.st_size, found.st_mtime_ns) == (size, mtime_ns)
