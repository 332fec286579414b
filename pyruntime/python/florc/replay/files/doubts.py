"""What a replay cannot know about the files that it sees: skipped blocks would have written, renamed or removed some.

florc answers questions about such a file as well as it can, and reports them: the replay is then `unverified`.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from _thread import get_ident
from collections.abc import Callable
from types import FrameType

from ...runs.found_files import Noted
from ...support.light import OWN
from ...trackers.watch import writing
from ..select.skipped import Skipped

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # there is none on Windows

_NAMELESS = " (deleted)"
"""How the system names an open file that has no name, or lost it."""
_READ, _ASKED = "was read", "was asked about"
_fstat = os.fstat
_DESCRIPTORS = "/proc/self/fd"
_PATH_MODULES = ("genericpath", "posixpath", "pathlib", "pathlib._local", "pathlib._abc", "glob", "os")
_EXISTENCE = {
    "exists",
    "lexists",
    "isfile",
    "isdir",
    "islink",
    "is_file",
    "is_dir",
    "is_symlink",
    "ismount",
    "isjunction",
    "makedirs",
    "mkdir",
    "touch",
    "glob",
    "iglob",
    "walk",
}
"""Functions of these modules that ask whether a path exists, and of what kind it is."""
_FOR_ITSELF = {
    "logging": (),
    "logging.handlers": (),
    "shutil": ("rmtree", "_rmtree_safe_fd", "_rmtree_safe_fd_step", "_rmtree_unsafe", "_samefile"),
}
"""Modules, or functions in them, that ask only for their own next step, which is in the view, too."""


class Doubts:
    """Collects questions about files whose content may differ from the recorded one."""

    def __init__(self, upper: str, notes: dict[str, Noted], skipped: Skipped, is_own: Callable[[str], bool] = lambda path: False):
        self.unsure: dict[str, None] = {}
        """Sentences about files that were read and may differ from the recorded run."""
        self.read_back: dict[str, None] = {}
        """Files that were read after the script had written to them."""
        self.behind: dict[str, None] = {}
        """Files and folders that lack what a skipped block wrote: they were open then, or were renamed since."""
        self.causes: dict[str, str] = {}
        """What must run again so that these files are complete (`Skipped.cause`), and why."""
        self.missed: Callable[[dict[str, str]], None] = lambda causes: None
        """Called when the script itself does not find what these blocks (and why) would have written."""
        self._upper, self._notes, self._skipped, self._is_own = upper, notes, skipped, is_own
        skipped.told = self._passed_by

    def _passed_by(self) -> None:
        """A block that may write to open files is skipped."""
        if fcntl is None:
            return
        for name in os.listdir(_DESCRIPTORS):
            try:
                path = self._open_file(int(name))
                is_written = fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            except OSError:  # that of the list itself
                continue
            if is_written and path is not None:
                self.behind[path] = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was skipped."""
        return not (self.behind or self._skipped.blocks or self._skipped.jumps)

    def _say(self, path: str, did: str, known: set[str] | None = None) -> None:
        if get_ident() in writing:
            return
        name = "a file without a name" if path.endswith(_NAMELESS) else os.path.basename(path)
        noted = self._notes.get(path)
        for cause in known or self._skipped.causes(noted.places if noted is not None else ()) or self._skipped.names:
            self.causes.setdefault(cause, _needed(path))
        self.unsure[
            f"{name} {did}, but only some of the iterations that write to it ran in this replay" + self._way_out(path, known)
        ] = None

    def _way_out(self, path: str, known: set[str] | None) -> str:
        noted = self._notes.get(path)
        restored = self._skipped.names
        blocks = sorted(restored & (known or (noted.blocks() if noted is not None else set())))
        if self.is_behind(path) and not blocks:
            blocks = sorted(restored)
        return f" (--step-into {blocks[0]} runs them again)" if len(blocks) == 1 else ""

    def past(self, path: str, is_read: bool) -> None:
        """The script reads what the skipped part wrote, or asks for its size and the like."""
        self._say(path, _READ if is_read else _ASKED)

    def lost(self, path: str, is_read: bool) -> None:
        """The script asks for a file whose content before the run was not kept."""
        did = _READ if is_read else _ASKED
        self.unsure[f"{os.path.basename(path)} {did}, but the record does not hold its content before the run"] = None

    def late(self, path: str, is_read: bool) -> None:
        """An added statement asks for a file that was changed since the run began; the record does not tell by whom."""
        did = _READ if is_read else _ASKED
        self.unsure[f"{os.path.basename(path)} {did}, and was changed since the run began by what florc did not hear"] = None

    def unhashed(self, path: str) -> None:
        """The script reads a file whose content before the run was kept, but cannot be checked."""
        name = os.path.basename(path)
        self.unsure[f"{name} was read, but it was too large for the record to keep a hash of its content before the run"] = None

    def own(self, path: str, is_read: bool) -> None:
        """The script asks for a file that this replay wrote."""
        if get_ident() in writing:
            return
        noted = self._notes.get(path)
        if is_read:
            name = os.path.basename(path)
            self.read_back[f"{name} was read, but only some of the iterations that write to it ran in this replay"] = None
        if self.is_behind(path) or noted is not None and noted.blocks() & self._skipped.names:
            self._say(path, _READ if is_read else _ASKED)

    def is_behind(self, path: str) -> bool:
        """Whether a file, or a folder that it is in, lacks what a skipped block wrote."""
        while path and self.behind:
            if path in self.behind:
                return True
            path = path.rpartition("/")[0]
        return False

    def elsewhere(self, path: str, blocks: set[str], is_read: bool = False, is_there: bool = False) -> None:
        """The script asks for a path that `blocks` wrote under another name in the recorded run."""
        if blocks or self.is_behind(path) and not is_there:
            self._say(path, _READ if is_read else _ASKED, blocks)

    def existence(self, path: str, where: str) -> None:
        """The script asks whether a path exists that the skipped part made, and may have removed."""
        noted = self._notes[path]
        is_gone, is_brief = (any(map(self._skipped.holds, places)) for places in (noted.removed, noted.brief))
        if is_gone or os.path.lexists(where) == is_brief:
            self._say(path, _ASKED)
        if not is_gone and not is_brief and not os.path.lexists(where):
            self.miss(path, self._skipped.causes(noted.places))
        if is_gone and where.startswith(self._upper + "/") and os.path.lexists(where):
            why = f"the script looks for {os.path.basename(path)}, which was removed there"
            self.missed(dict.fromkeys(self._skipped.causes(noted.removed), why))

    def miss(self, path: str, causes: set[str]) -> None:
        """A path does not exist that existed in the recorded run."""
        if causes and get_ident() not in writing:
            self.missed(dict.fromkeys(causes, _needed(path)))

    def missing(self, path: str) -> None:
        """The script needs a noted path, not only its existence, and the path does not exist."""
        noted = self._notes[path]
        if not any(map(self._skipped.holds, noted.brief)) or any(map(self._skipped.holds, noted.removed)):
            self.miss(path, self._skipped.causes(noted.places))

    def descriptor(self, number: object) -> None:
        """The script reads an open file, or asks for its size."""
        if not self.behind or not isinstance(number, int):
            return
        with contextlib.suppress(OSError):
            path = self._open_file(number)
            if path is not None and path in self.behind:
                self._say(path, _ASKED)

    def is_watched(self, number: int) -> bool:
        """Whether an open file is the script's own: in the view, temporary, or without a name."""
        with contextlib.suppress(OSError, OverflowError):
            return self._open_file(number) is not None
        return False

    def _open_file(self, number: int) -> str | None:
        """The path of an open file that is the script's own: in the view, temporary, or without a name. Raises OSError."""
        path = os.readlink(f"{_DESCRIPTORS}/{number}")
        if path.startswith(self._upper + "/"):
            return path[len(self._upper) :]
        is_nameless = path.endswith(_NAMELESS)
        if not is_nameless and (not path.startswith("/") or not self._is_own(path)):
            return None
        return path if stat.S_ISREG(_fstat(number).st_mode) else None

    def path_of(self, descriptor: int) -> str | None:
        """The path that the script knows an open file by, if the file is in the view."""
        try:
            path = os.readlink(f"{_DESCRIPTORS}/{descriptor}")
        except OSError:
            return None
        return path[len(self._upper) :] if path.startswith(self._upper + "/") else None


def _needed(path: str) -> str:
    return f"the script needs {os.path.basename(path)}, which was written there"


def asks_for() -> str | None:
    """What the caller of this package wants to know about a path: `existence`, `all`, or None if it asks only for its own next
    step."""
    at: FrameType | None = sys._getframe(1)
    while at is not None and at.f_code.co_filename.startswith(OWN):
        at = at.f_back
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
        at = at.f_back
    return "all"
