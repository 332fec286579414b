"""Paths that are relative to an open folder (`dir_fd=…`)."""

from __future__ import annotations

import os
import stat

from ..support.light import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DESCRIPTORS = "/proc/self/fd"


def within(path: Any, folder: int) -> str:
    """A path that is relative to an open folder."""
    text = os.fsdecode(os.fspath(path))
    return text if folder < 0 or os.path.isabs(text) else os.path.join(os.readlink(f"/proc/self/fd/{folder}"), text)


def in_open_folders(path: Any) -> list[str]:
    """Where `os.open(path, dir_fd=…)` may open a file: Python does not announce in which folder."""
    text, found = os.fsdecode(os.fspath(path)), []
    if os.path.isabs(text):
        return []
    for name in os.listdir(_DESCRIPTORS):
        with suppress(OSError):
            if stat.S_ISDIR(os.stat(f"{_DESCRIPTORS}/{name}").st_mode):
                found.append(os.path.join(os.readlink(f"{_DESCRIPTORS}/{name}"), text))
    return [where for where in found if os.path.isdir(os.path.dirname(where))]
