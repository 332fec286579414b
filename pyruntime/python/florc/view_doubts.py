"""What a replay cannot know of the files that it sees: where blocks that were restored would have written, renamed or removed.

What is asked of such a file is answered as well as can be, and told: the replay is then `unverified`.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Optional

from .found_files import Noted
from .skipped import Skipped

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

_READ, _ASKED = "was read", "was asked about"
_DESCRIPTORS = "/proc/self/fd"
_PATH_MODULES = ("genericpath", "posixpath", "pathlib", "pathlib._local", "pathlib._abc", "glob", "os")
_EXISTENCE = {"exists", "lexists", "isfile", "isdir", "islink", "is_file", "is_dir", "is_symlink", "ismount", "isjunction",
              "makedirs", "mkdir", "touch", "glob", "iglob", "walk"}
"""Functions of these modules that ask whether something is there, and of what kind."""
_FOR_ITSELF = {"logging": (), "logging.handlers": (), "shutil": ("rmtree", "_rmtree_safe_fd", "_rmtree_unsafe", "_samefile")}
"""Modules, or functions in them, that ask for no more than their own next step, which is in the view, too."""


class Doubts:
    """What was asked of files that may not be what they were."""

    def __init__(self, upper: str, notes: Dict[str, Noted], skipped: Skipped):
        self.unsure: Dict[str, None] = {}
        """Sentences about files that were read and may not be what they were."""
        self.read_back: Dict[str, None] = {}
        """Files that were read after the script had written to them."""
        self.behind: Dict[str, None] = {}
        """Files that were open for writing when a block that may write to them was skipped."""
        self._upper, self._notes, self._skipped = upper, notes, skipped
        skipped.told = self._passed_by

    def _passed_by(self) -> None:
        """A block that may write to open files is skipped."""
        if fcntl is None:
            return
        for name in os.listdir(_DESCRIPTORS):
            try:
                path = os.readlink(f"{_DESCRIPTORS}/{name}")
                is_written = fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            except OSError:  # that of the list itself
                continue
            if is_written and path.startswith(self._upper + "/"):
                self.behind[path[len(self._upper):]] = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was skipped."""
        return not (self.behind or self._skipped.blocks or self._skipped.jumps)

    def _say(self, path: str, did: str) -> None:
        self.unsure[f"{os.path.basename(path)} {did}, which only some of the iterations that write to it have written"
                    + self._way_out(path)] = None

    def _way_out(self, path: str) -> str:
        noted = self._notes.get(path)
        restored = {key.rsplit("/", 1)[-1].split("#")[0] for key in self._skipped.blocks}
        blocks = sorted(restored & noted.blocks()) if noted is not None else []
        if path in self.behind and not blocks:
            blocks = sorted(restored)
        return f" (--step-into {blocks[0]} runs them again)" if len(blocks) == 1 else ""

    def past(self, path: str, is_read: bool) -> None:
        """What the skipped part wrote is read, or asked for its size and the like."""
        self._say(path, _READ if is_read else _ASKED)

    def lost(self, path: str, is_read: bool) -> None:
        """What the run found there was not kept."""
        did = _READ if is_read else _ASKED
        self.unsure[f"{os.path.basename(path)} {did}, whose content as the recorded run found it was not kept"] = None

    def unhashed(self, path: str) -> None:
        """What the run found there was kept, but cannot be checked."""
        name = os.path.basename(path)
        self.unsure[f"{name} was read, which was too large to keep a hash of what the recorded run found in it"] = None

    def own(self, path: str, is_read: bool) -> None:
        """A file that this replay wrote."""
        noted = self._notes.get(path)
        if is_read:
            name = os.path.basename(path)
            self.read_back[f"{name} was read, which only some of the iterations that write to it have written"] = None
        restored = {key.rsplit("/", 1)[-1].split("#")[0] for key in self._skipped.blocks}
        if path in self.behind or noted is not None and noted.blocks() & restored:
            self._say(path, _READ if is_read else _ASKED)

    def existence(self, path: str, where: str) -> None:
        """Is it there? The skipped part made it, and may have removed it."""
        noted = self._notes[path]
        is_gone, is_brief = (any(map(self._skipped.holds, places)) for places in (noted.removed, noted.brief))
        if is_gone or os.path.lexists(where) == is_brief:
            self._say(path, _ASKED)

    def descriptor(self, number: Any) -> None:
        """An open file is read, or asked for its size."""
        if not self.behind or not isinstance(number, int):
            return
        path = self.path_of(number)
        if path in self.behind:
            self._say(path, _ASKED)

    def path_of(self, descriptor: int) -> Optional[str]:
        """Where the script believes an open file to be, if it is one of the view."""
        try:
            path = os.readlink(f"{_DESCRIPTORS}/{descriptor}")
        except OSError:
            return None
        return path[len(self._upper):] if path.startswith(self._upper + "/") else None


def asks_for() -> Optional[str]:
    """What the caller of a function of this package wants to know of a path: `existence`, `all`, or None, where it is for the
    caller's own next step only."""
    here = os.path.dirname(__file__)
    at = sys._getframe(1)
    while at is not None and at.f_code.co_filename.startswith(here):
        at = at.f_back  # type: ignore[assignment]
    for _ in range(6):
        if at is None:
            break
        module, name = at.f_globals.get("__name__"), at.f_code.co_name
        own = _FOR_ITSELF.get(module) if isinstance(module, str) else None
        if own is not None and (not own or name in own):
            return None
        if module not in _PATH_MODULES:
            break
        if name in _EXISTENCE:
            return "existence"
        at = at.f_back  # type: ignore[assignment]
    return "all"
