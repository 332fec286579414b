"""Files and folders that only this user may read."""

from __future__ import annotations

import os

from .light import suppress


def private_folder(path: str) -> None:
    """Make a folder, and those above it, that only this user may enter."""
    os.makedirs(path, 0o700, exist_ok=True)
    with suppress(OSError):  # a umask may have taken more
        os.chmod(path, 0o700)


def private_file(path: str, flags: int) -> int:
    """An opener of files that only this user may read, whatever the umask."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW, 0o600)
    with suppress(OSError):
        os.fchmod(descriptor, 0o600)
    return descriptor
