"""Descriptors of florc's own have numbers that no script counts on: its first file gets the number that it has in a plain run."""

from __future__ import annotations

import os

from .light import suppress

LOWEST = 200


def copied(descriptor: int) -> int:
    """Another descriptor of the same file, out of the script's way; closed where another program begins. Raises OSError."""
    import fcntl

    with suppress(OSError):  # so many are not allowed here
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, LOWEST)
    return os.dup(descriptor)


def raised(descriptor: int) -> int:
    """The descriptor, moved out of the script's way. Raises OSError."""
    try:
        return copied(descriptor)
    finally:
        os.close(descriptor)
