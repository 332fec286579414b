"""From a path as the script spells it to the real one, within the view of a replay; and which paths the view leaves alone."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable

from ...support.light import OWN
from .view import View

_SYSTEM = ("/proc/", "/sys/")
MEETING = "/dev/shm/"
"""Where processes meet in files of memory."""
_MOST_LINKS = 40


class Paths:
    """Finds real paths. `getcwd` and `readlink` are the system's own."""

    def __init__(self, view: View, store: str, project: str):
        self._view = view
        self._store = os.path.join(os.path.realpath(store), "")
        ray = os.path.join(os.environ.get("RAY_TMPDIR") or "/tmp", "ray", "")  # where the programs of a Ray cluster meet
        self._foreign = (*_SYSTEM, self._store, os.path.dirname(OWN) + "/", ray)
        self._project = os.path.join(os.path.realpath(project), "")
        self._folders: dict[str, str] = {"": ""}
        """Folders as they are spelled -> real ones."""
        self._getcwd, self._readlink = os.getcwd, os.readlink
        view.changed = self.forget

    def forget(self) -> None:
        """Forget what is known of folders: a link may lead elsewhere now."""
        self._folders = {"": ""}

    def is_foreign(self, real: str) -> bool:
        """Whether a path belongs to the kernel, to florc, or to Ray. What Python itself writes, the bytecode of what it imports,
        does not come this way."""
        return (real + "/").startswith(self._foreign)

    def is_meeting(self, real: str) -> bool:
        """Whether other processes look for what is made at a path: in shared memory, outside the project."""
        return real.startswith(MEETING) and not real.startswith(self._project)

    def cwd(self) -> str:
        """The working folder as the script must see it."""
        return self.shown(self._getcwd())

    def shown(self, real: str) -> str:
        """The name under which the script knows a path that may be below the replay's folder."""
        upper = self._view.upper
        return (real[len(upper) :] or "/") if real == upper or real.startswith(upper + "/") else real

    def of_descriptor(self, number: int) -> str:
        """The path of an open folder."""
        return self.shown(self._readlink(f"/proc/self/fd/{number}"))

    def resolve(self, path: str, follow: bool = True, folder: int | None = None) -> str | None:
        """The real path; None for a path that the view leaves alone. `follow`: also follow a link at the end."""
        if not path or "\0" in path or path.startswith(_SYSTEM):
            return None
        if not path.startswith("/"):
            path = f"{self.cwd() if folder is None else self.of_descriptor(folder)}/{path}"
        if path.startswith(self._store):
            return None
        real = self._walked(path, follow, 0)
        return None if self.is_foreign(real) else real

    def _walked(self, path: str, follow: bool, links: int) -> str:
        parts = [part for part in path.split("/") if part and part != "."]
        if ".." in parts:
            at = ""
            for n, part in enumerate(parts):
                if part == "..":
                    at = at.rpartition("/")[0]
                else:
                    at = self._behind(f"{at}/{part}", links) if follow or n < len(parts) - 1 else f"{at}/{part}"
            return at or "/"
        if not parts:
            return "/"
        whole = f"{self._folder('/'.join(['', *parts[:-1]]), links)}/{parts[-1]}"
        return self._behind(whole, links) if follow else whole

    def _folder(self, spelled: str, links: int) -> str:
        known = self._folders.get(spelled)
        if known is None:
            above, _, name = spelled.rpartition("/")
            known = self._behind(f"{self._folder(above, links)}/{name}", links)
            known = "" if known == "/" else known
            self._folders[spelled] = known
        return known

    def _behind(self, path: str, links: int) -> str:
        target = self._view.link(path) if links < _MOST_LINKS else None
        if target is None:
            return path
        return self._walked(target if target.startswith("/") else f"{path.rpartition('/')[0]}/{target}", True, links + 1)


def remembered(project: str) -> Callable[[str], bool]:
    """Whether a path is in a folder of Python and of libraries, or of what programs remember below the home folder (`~/.cache`),
    that the project does not lie in. What the recorded run made there (a downloaded model, a compiled function) stays in
    sight."""
    names = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
    home = os.path.expanduser("~")
    folders: set[str | None] = {*map(sysconfig.get_path, names), sys.prefix, sys.base_prefix, os.path.join(home, ".cache")}
    try:
        folders |= {os.path.join(home, name) for name in os.listdir(home) if name.startswith(".")}
    except OSError:
        pass
    found = {os.path.join(os.path.realpath(folder), "") for folder in folders if folder}
    inside = os.path.join(os.path.realpath(project), "")
    outside = tuple(folder for folder in found if not inside.startswith(folder))
    return lambda path: path.startswith(outside) or "/__pycache__/" in path
