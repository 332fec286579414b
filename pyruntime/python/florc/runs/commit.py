"""Which git commit a project is at, read from git's own files: recording starts no process beside the script's.

Layout of a repository: gitrepository-layout(5).
"""

from __future__ import annotations

import os

from ..support import regular

_NAMES = {40, 64}
"""Digits of a commit: SHA-1, SHA-256."""


def commit_of(folder: str) -> str | None:
    """The commit that is checked out where a folder lies; None outside of a repository, before its first commit, and where its
    files cannot be read. Whether files differ from it is not looked at: a run keeps the text of each."""
    try:
        found = _repository(folder)
        return _resolved(found, _read(os.path.join(found, "HEAD"))) if found else None
    except (OSError, UnicodeDecodeError):
        return None


def _repository(folder: str) -> str | None:
    """The folder `.git` of the nearest repository around a folder; of a work tree or submodule, what its file `.git` names."""
    while True:
        path = os.path.join(folder, ".git")
        if os.path.isdir(path):
            return path
        if os.path.isfile(path):
            word, _, named = _read(path).partition(":")
            return os.path.join(folder, named.strip()) if word == "gitdir" else None
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)


def _resolved(repository: str, head: str) -> str | None:
    word, _, reference = head.partition(":")
    if word != "ref":
        return head if _is_commit(head) else None
    reference = reference.strip()
    common = repository
    shared = os.path.join(repository, "commondir")  # of a work tree: where branches are
    if os.path.isfile(shared):
        common = os.path.join(repository, _read(shared))
    for place in (repository, common):
        path = os.path.join(place, reference)
        if os.path.isfile(path):
            found = _read(path)
            return found if _is_commit(found) else None
    packed = os.path.join(common, "packed-refs")
    lines = _read(packed).splitlines() if os.path.isfile(packed) else []
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {reference}") and _is_commit(line.split(" ")[0])), None)


def _is_commit(text: str) -> bool:
    return len(text) in _NAMES and set(text) <= set("0123456789abcdef")


def _read(path: str) -> str:
    return regular.read(path, follow=True).decode().strip()
