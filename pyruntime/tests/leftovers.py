"""What a program leaves on disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

IGNORED = (".florc", "__pycache__")


def tree(folder: Path, ignored: Iterable[str] = IGNORED) -> dict[str, str]:
    """Every file and folder below `folder`, by its path: kind, permissions, and every byte of a file."""
    found: dict[str, str] = {}
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ignored)
        for name in sorted([*folders, *files]):
            path = os.path.join(here, name)
            about = os.lstat(path)
            said = f"{stat.filemode(about.st_mode)}"
            if stat.S_ISLNK(about.st_mode):
                said += f" -> {os.readlink(path)}"
            elif stat.S_ISREG(about.st_mode):
                said += f" {Path(path).read_bytes()!r}"
            found[os.path.relpath(path, folder)] = said
    return found


def differences(plain: dict[str, str], other: dict[str, str]) -> dict[str, tuple]:
    """The paths that differ, with what is there in either."""
    return {path: (plain.get(path), other.get(path)) for path in sorted({*plain, *other}) if plain.get(path) != other.get(path)}
