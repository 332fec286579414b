"""Small files of which nobody knows what they are: a pipe, a device or gigabytes of zeros would hold the script up."""

from __future__ import annotations

import os
import stat

LARGEST = 1 << 26
"""Bytes of a file of florc's own, of git's, or of the project's source."""


def read(path: str, follow: bool = False) -> bytes:
    """What a regular file holds. `follow`: at the end of a link, too. Raises OSError, for a large file and for what is none,
    too."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a regular file")
        if found.st_size > LARGEST:
            raise OSError(f"{path} has more than {LARGEST >> 20} MiB")
        return file.read()
