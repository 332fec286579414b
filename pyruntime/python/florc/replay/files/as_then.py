"""Files that the script wrote in what a replay skips, and reads back: what they held then is known.

While recording, each place where the run reads a file of its own is noted, with the file's size and time, and of a small one a
hash. A replay that comes there finds the same file, most often the one that the run left on disk; or it knows that it does not,
and runs what wrote it again.
"""

from __future__ import annotations

import os
from _thread import get_ident
from typing import TYPE_CHECKING

from ... import _native
from ...plan.loops import BOUNDARY
from ...runs.found_files import Noted, hash_of, is_as_it_was
from ...support.copying import copy
from ...trackers.watch import writing
from ..select.skipped import Skipped
from .kinds import GONE, HERE, PAST, Found

if TYPE_CHECKING:
    from ...runs.entries import Read
    from .view import View


class AsThen:
    """Looks for what the recorded run read. `known`: by path, place in the loop nest, and how often it was read there before."""

    def __init__(self, view: View, known: dict[tuple[str, str, int], Read], notes: dict[str, Noted], skipped: Skipped):
        self._view, self._known, self._notes, self._skipped = view, known, notes, skipped
        self._times: dict[tuple[str, str], int] = {}
        self._pid = os.getpid()

    def __call__(self, path: str, found: Found) -> Found | None:
        """The file that holds what the run read here; None where that is not known, or not to be had."""
        noted = self._notes.get(path)
        is_scripts = not self._view.is_added() and get_ident() not in writing and os.getpid() == self._pid
        if noted is None or not self._known or not is_scripts:
            return None
        at = _native.loop_path()
        number = self._times[path, at] = self._times.get((path, at), -1) + 1
        known = self._known.get((path, at, number))
        if known is None:
            return None
        if found.kind != GONE and _is_same(found.where, known):
            return found
        is_of_user = _is_same(path, known)
        if is_of_user and found.kind == HERE and hash_of(path) == hash_of(found.where):
            return found
        causes = self._causes(path, noted)
        if not causes:
            return None  # all that wrote it ran: it is what this replay makes of it
        if is_of_user:
            return self._of_user(path, found)
        why = f"the script reads {os.path.basename(path)}, which was written there and holds something else now"
        self._view.doubts.missed(dict.fromkeys(causes, why))
        return None

    def _causes(self, path: str, noted: Noted) -> set[str]:
        """What was skipped of what wrote a file: all, where that wrote to it as an open one."""
        causes = self._skipped.causes(noted.places) | noted.blocks() & self._skipped.names
        if not causes and self._view.doubts.is_behind(path):
            causes = self._skipped.names | {_native.Path(place).loop + BOUNDARY for place in self._skipped.jumps}
        return causes

    def _of_user(self, path: str, found: Found) -> Found:
        """The file that the run left, instead of what the part of it wrote that this replay ran."""
        if found.kind != HERE:
            return Found(PAST, path)
        with self._view.lock:
            os.remove(found.where)
            copy(path, found.where)
        return found


def _is_same(path: str, known: Read) -> bool:
    """A large file is known by its size and time, any other one by what it holds."""
    size, mtime_ns, digest = known
    try:
        if digest is None:
            return is_as_it_was(path, size, mtime_ns)
        return os.stat(path).st_size == size and hash_of(path) == digest
    except OSError:
        return False
