"""Copies of files that share the blocks on disk, where the file system can do that."""

from __future__ import annotations

import os

from .light import suppress

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # there is none on Windows

_FICLONE = 0x40049409


def share_blocks(source: str, target: str) -> bool:
    """Make `target` a copy that takes no space and no time (XFS, btrfs). False, and no file, where that is not possible."""
    if fcntl is None:
        return False
    try:
        with open(source, "rb", buffering=0) as old, open(target, "wb", buffering=0) as new:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
        import shutil  # takes long to import

        shutil.copystat(source, target)
        return True
    except OSError:
        with suppress(OSError):
            os.remove(target)
        return False


def copy(source: str, target: str) -> None:
    """A copy of a file with its mode and times, whole or not at all."""
    half = f"{target}.{os.getpid()}.half"
    try:
        if not share_blocks(source, half):
            import shutil

            shutil.copy2(source, half)
        os.replace(half, target)
    finally:
        with suppress(OSError):
            os.remove(half)
