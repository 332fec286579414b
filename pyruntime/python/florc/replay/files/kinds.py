"""What a path can be in the view of a replay."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from typing import NamedTuple

_lstat = os.lstat

GONE, HERE, KEPT, ADDED, OWN = "gone", "here", "kept", "added", "own"
"""A path is hidden; below the replay's folder; elsewhere, and only read; at the user's own path, where an added statement
wrote it; at its own path, where the script itself made a temporary file."""
PLAIN, PAST, LOST = "plain", "past", "lost"
"""The user's own file: nothing changed it; the recorded run wrote it in what this replay skipped; it is not what the recorded
run found, whose content was not kept."""


class Entry(NamedTuple):
    """A path that is not the user's own file. `clock`: how much was skipped when this replay changed it; -1: it did not."""

    kind: str
    where: str = ""
    clock: int = -1


class Found(NamedTuple):
    """What a path is now (one of the words above), and where its file is."""

    kind: str
    where: str


def is_really_there(path: str) -> bool:
    """Whether a path exists outside the view."""
    with contextlib.suppress(OSError, ValueError):
        _lstat(path)
        return True
    return False


def is_pipe_at(path: str) -> bool:
    """Whether a named pipe lies there, outside the view."""
    with contextlib.suppress(OSError, ValueError):
        return stat.S_ISFIFO(_lstat(path).st_mode)
    return False


SUFFIX = ".florc-replay"
"""Behind the name of a file of the user's: what an added statement wrote there is beside it."""


def free(path: str) -> str:
    """A name that is not taken: this one, or with a number."""
    return next(
        name for name in itertools.chain([path], (f"{path}-{n}" for n in itertools.count(2))) if not os.path.lexists(name)
    )
