"""Which files are what an installer wrote: `*.dist-info/RECORD` lists each with its hash (PyPA: recording installed projects)."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress

_FOLDERS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def others(paths: Iterable[str]) -> list[str]:
    """Of these files, those that hold something else, or that no distribution lists."""
    listed: dict[str, dict[str, str]] = {}
    found = []
    for path in paths:
        root = next((path.partition(folder)[0] + folder for folder in _FOLDERS if folder in path), "")
        if root and root not in listed:
            listed[root] = _hashes(root)
        if not root or not _holds(path, listed[root].get(path[len(root) :].replace(os.sep, "/"), "")):
            found.append(path)
    return found


def _hashes(root: str) -> dict[str, str]:
    """Path below `root` -> `algorithm=digest`, of all distributions that are installed there."""
    found: dict[str, str] = {}
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name.endswith(".dist-info"):
                with suppress(OSError), open(os.path.join(entry.path, "RECORD"), encoding="utf-8", newline="") as file:
                    found.update((row[0], row[1]) for row in csv.reader(file) if len(row) > 1)
    return found


def _holds(path: str, listed: str) -> bool:
    algorithm, _, digest = listed.partition("=")
    with suppress(OSError, ValueError), open(path, "rb") as file:
        known = hashlib.new(algorithm, file.read())
        return base64.urlsafe_b64encode(known.digest()).rstrip(b"=").decode() == digest
    return False
