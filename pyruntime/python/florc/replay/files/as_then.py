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
from ...runs.found_files import Noted, hash_of, is_as_it_was
from ...support.copying import copy
from ...trackers.watch import writing
from ..select.skipped import Skipped
from .kinds import GONE, HERE, PAST, Found

if TYPE_CHECKING:
    from ...runs.entries import Read
    from .view import View


class AsThen:
    """Looks for what the recorded run read. `known`: by path, and place in the loop nest."""

    def __init__(self, view: View, known: dict[tuple[str, str], Read], notes: dict[str, Noted], skipped: Skipped):
        self._view, self._known, self._notes, self._skipped = view, known, notes, skipped

    def __call__(self, path: str, found: Found) -> Found | None:
        """The file that holds what the run read here; None where that is not known, or not to be had."""
        known = self._known.get((path, _native.loop_path())) if self._known else None
        noted = self._notes.get(path)
        if known is None or noted is None or self._view.is_added() or get_ident() in writing:
            return None
        causes = self._skipped.causes(noted.places) or noted.blocks() & self._skipped.names
        if not causes:
            return None  # all that wrote it ran
        if found.kind != GONE and _is_same(found.where, known):
            return found
        if _is_same(path, known):
            return self._of_user(path, found)
        why = f"the script reads {os.path.basename(path)}, which was written there and holds something else now"
        self._view.doubts.missed(dict.fromkeys(causes, why))
        return None

    def _of_user(self, path: str, found: Found) -> Found:
        """The file that the run left, instead of what the part of it wrote that this replay ran."""
        if found.kind != HERE:
            return Found(PAST, path)
        with self._view.lock:
            os.remove(found.where)
            copy(path, found.where)
        return found


def _is_same(path: str, known: Read) -> bool:
    size, mtime_ns, digest = known
    if is_as_it_was(path, size, mtime_ns):
        return True
    try:
        return digest is not None and os.stat(path).st_size == size and hash_of(path) == digest
    except OSError:
        return False
