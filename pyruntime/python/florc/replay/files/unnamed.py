"""Paths with names that differ in every run (`tempfile`, the number of the process): the record knows them under other names.

A replay that makes such a path has no note of it. If restored blocks wrote below a path that this replay never made, the two
may be the same path. florc then reports what the script asks about it.

florc does not give back the number of the process: `os.kill` would reach another process. If this replay never made a path, but
the path's name holds the replay's own number, then the recorded run knew it under the recorded number. This holds only if the
script's files name such a number: `model_7.pt` may belong to process 7 or to step 7. florc does not see a number that is
written in another form, or computed with.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from ...runs.found_files import NONE, Noted
from ..select.skipped import Skipped

NUMBER = frozenset({"getpid", "pid"})
"""Names by which a script asks for the number of its process."""


class Unnamed:
    """`is_changed(path)`: whether this replay changed a noted path; `pid`: the number of the recorded process."""

    def __init__(self, notes: dict[str, Noted], skipped: Skipped, is_changed: Callable[[str], bool], pid: int | None = None):
        self.made: dict[str, None] = {}
        """Paths that the script made in this replay and that the record does not know."""
        self._notes, self._skipped, self._is_changed = notes, skipped, is_changed
        self._known: tuple[object, list[str]] = (None, [])
        self._pid = str(pid) if pid not in (None, os.getpid()) else ""
        self._own, self._then = (re.compile(rf"(?<!\d){number}(?!\d)") for number in (os.getpid(), pid))

    @property
    def is_doubtful(self) -> bool:
        """Whether such paths exist, and something was skipped."""
        return bool(self.made or self._pid) and bool(self._skipped.blocks or self._skipped.jumps)

    def blocks(self, path: str, is_there: bool = False, is_listed: bool = False) -> set[str]:
        """The restored blocks that may have changed a path under another name. `is_there`: the script only asks whether the
        path exists, and it does. `is_listed`: the script asks for the names in this folder."""
        top = self._top(path)
        if top is None:
            return set() if is_there or path in self._notes else self.numbered(path, is_listed)
        rest, others = path[len(top) :], self._others()
        if is_listed:
            found = [self._below(other + rest) for other in others]
            return set().union(
                *(
                    found
                    if not rest or any(other + rest in self._notes for other in others)
                    else (self._below(other) for other in others)
                )
            )
        known = [self._notes[other + rest] for other in others if other + rest in self._notes]
        if is_there:
            return set().union(*(self._skipped.causes(noted.removed) for noted in known))
        if known:
            return set().union(*(self._skipped.causes(noted.places) for noted in known))
        return set().union(*(self._below(other) for other in others))

    def numbered(self, path: str, is_listed: bool = False) -> set[str]:
        """The restored blocks that changed a path whose name holds the number of the recorded process."""
        found: set[str] = set()
        for part in re.finditer(r"(?<=/)[^/]+", path) if self._pid else ():
            other = path[: part.start()] + self._own.sub(self._pid, path[part.start() :])
            if other != path and other in self._notes:
                found |= self._below(other) if is_listed else self._skipped.causes(self._notes[other].places)
        return found

    def numbered_in(self, folder: str) -> set[str]:
        """The restored blocks that changed paths in a folder whose names hold the number of the recorded process."""
        places: list[str] = []
        for other, noted in self._notes.items() if self._pid else ():
            above, _, name = other.rpartition("/")
            if above == folder and self._then.search(name):
                places += noted.places
        return self._skipped.causes(places)

    def _top(self, path: str) -> str | None:
        """The outermost such path at or above one."""
        found, at = None, path
        while at:
            if at in self.made:
                found = at
            at = at.rpartition("/")[0]
        return found

    def _others(self) -> list[str]:
        """The outermost paths that the recorded run made where this replay ran, too, and that it did not make."""
        state = (len(self._skipped.blocks), tuple(self._skipped.jumps.items()), len(self.made))
        if self._known[0] != state:
            unmade = {
                path
                for path, noted in self._notes.items()
                if noted.was == NONE and not self._skipped.holds(noted.places[0]) and not self._is_changed(path)
            }
            self._known = state, [path for path in unmade if path.rpartition("/")[0] not in unmade]
        return self._known[1]

    def _below(self, path: str) -> set[str]:
        places: list[str] = []
        for other, noted in self._notes.items():
            if other == path or other.startswith(path + "/"):
                places += noted.places
        return self._skipped.causes(places)
