"""The world of a replay (`entry.py`) as its process makes it: which of the user's folders are covered, how it is left."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile

from ... import _native
from ...support.console import say
from ..files.user_files import WORLD, locked
from .handed import Handed
from .mounts import PSEUDO, begun, by_number, is_pseudo, layers, mounts, ray, sockets, tops_of

_MOST = 300
"""So many folders are covered at most: each takes 0.2 ms."""
UPPERS = "uppers"
"""In that folder: which of the user's folders has which upper layer (JSON)."""
_OF_PROGRAMS = frozenset({"/boot", "/etc", "/lost+found", "/media", "/opt", "/run", "/srv", "/usr", "/var"})
_IN_MEMORY = ("tmpfs", "ramfs")


class World:
    """That of this process, or of the one that started it. `folder`: the replay's own."""

    def __init__(self, folder: str, store: str):
        self._folder, self._store, self._owner = os.path.join(folder, WORLD), store, os.getpid()
        self._undo: list[str] = []
        """What was mounted, in that order."""
        self._fixed: set[str] = set()
        """Mounts that are read-only now."""
        self.uppers: dict[str, str] = {}
        """Folder that is covered -> its upper layer."""
        self._base, self._is_chosen, self._laid = "", False, 0
        self._elsewhere: list[str] = []
        """Folders outside that of the replay."""
        self.handed = Handed(self.uppers, os.path.join(self._folder, "handed"))
        there = mounts()
        beside = os.path.dirname(os.path.realpath(store))
        tops = [] if os.geteuid() == 0 else tops_of((beside, os.getcwd(), tempfile.gettempdir()), there)
        os.mkdir(self._folder, 0o700)
        self._lock = locked(self._folder)  # before: no mount becomes read-only while a file on it is open to be written
        try:
            self._real, self._is_user = begun()
        except OSError:
            _remove(self._folder)
            raise
        try:
            self._cover_all(there, tops)
            self._probe()
        except OSError:
            self.again(is_apart=False)
            _native.world_settle()
            raise

    @property
    def told(self) -> str:
        """What processes are told that share it (JSON)."""
        return json.dumps({"folder": self._folder, "process": self._owner})

    # -- covering --------------------------------------------------------------------------------------------------

    def _cover_all(self, there: dict[str, tuple[str, bool]], tops: list[str]) -> None:
        cwd, store, own = os.getcwd(), os.path.realpath(self._store), os.path.dirname(os.path.realpath(self._folder))
        open_ones = [path for path in (store, ray()) if os.path.exists(path)] + [own] * (not own.startswith(f"{store}/"))
        open_ones += [path for path in sockets() if not path.startswith(tuple(f"{one}/" for one in open_ones))]
        held = {}
        for path in open_ones:
            with contextlib.suppress(OSError):  # not to be reached by this user either
                held[path] = _native.world_hold(path, True)
        lowers = [(top, by_number(top)) for top in tops]
        memory = os.path.join(self._folder, "memory")
        os.mkdir(memory)
        _native.world_memory(memory)
        self._memory, self._own = by_number(memory), by_number(self._folder)  # their paths will lead into what covers them
        self._base = self._own
        for mount, (kind, is_read_only) in sorted(there.items()):
            if kind not in PSEUDO and not is_read_only and not is_pseudo(mount):
                self._cover(mount, mount, there, self._memory if kind in _IN_MEMORY else "")
        if "/dev/shm" not in there and os.path.isdir("/dev/shm"):
            self._cover("/dev/shm", "/dev", there, self._memory)
        for top, lower in lowers:
            if top not in self.uppers:
                self._lay(top, self._base, lower)
        _native.world_undo([self._memory], False)  # its number is enough, and its folder can be removed
        for mount in self._fixed:
            _native.world_read_only(mount, True)
        for path, descriptor in held.items():
            with contextlib.suppress(OSError):
                _native.world_show(descriptor, path)
                self._undo.append(path)
        os.chdir(cwd)
        _native.world_settle()
        with open(os.path.join(self._folder, UPPERS), "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump({one: upper for one, upper in self.uppers.items() if upper.startswith(self._folder)}, file)

    def _cover(self, folder: str, mount: str, there: dict[str, tuple[str, bool]], base: str) -> None:
        """Cover a folder of this mount, or what is in it."""
        start = os.path.join(folder, "")
        below = sorted(other for other in there if other.startswith(start) and other != folder)
        if not below or not self._is_user and folder != "/":  # in a user namespace, what is mounted below is locked in its place
            held = [(other, _native.world_hold(other, False)) for other in below if os.path.lexists(other)]
            if not self._overlay(folder, base):
                self._fixed.add(mount)
            for other, descriptor in held:
                _native.world_show(descriptor, other)
                self._undo.append(other)
            return
        self._fixed.add(mount)
        with contextlib.suppress(OSError), os.scandir(folder) as inside:
            for entry in inside:
                if entry.path in there or is_pseudo(entry.path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    self._cover(entry.path, mount, there, base or self._quick(entry.path))

    def _quick(self, folder: str) -> str:
        """Where the upper layer of a folder lies in which programs install themselves: in memory, which takes no time."""
        known = (self._folder, self._store, os.getcwd(), os.path.expanduser("~"), tempfile.gettempdir())
        return "" if folder not in _OF_PROGRAMS or any(path.startswith(f"{folder}/") for path in known) else self._memory

    def _overlay(self, folder: str, base: str) -> bool:
        """Whether this folder could be covered."""
        if not os.path.isdir(folder):
            return False
        if base or self._is_chosen:
            return self._lay(folder, base or self._base)
        if not self._lay(folder, self._base):  # its disk may be one that cannot hold an upper layer
            elsewhere = tempfile.mkdtemp(prefix="florc-world-")
            self._elsewhere.append(elsewhere)
            self._base = by_number(elsewhere)
            if not self._lay(folder, self._base):
                return False
        self._is_chosen = True
        return True

    def _lay(self, folder: str, base: str, lower: str = "") -> bool:
        self._laid += 1
        if self._laid > _MOST:
            raise OSError(f"more than {_MOST} folders lie beside others in which something is mounted")
        try:
            upper = layers(folder, base, self._laid)
            _native.world_cover(folder, lower or folder, os.path.dirname(upper), self._is_user)
        except OSError:
            return False
        self._undo.append(folder)
        own = f"{self._own}/"
        self.uppers[folder] = f"{self._folder}/{upper[len(own) :]}" if upper.startswith(own) else upper
        return True

    def _probe(self) -> None:
        """See that what is written beside the store does not reach the user. Raises OSError where it does, and where the script
        could not write where it works."""
        beside = os.path.dirname(os.path.realpath(self._store))
        for folder in (beside, os.getcwd(), tempfile.gettempdir()):
            if not os.access(folder, os.W_OK) and os.access(self.real + folder, os.W_OK):
                raise OSError(f"{folder} could not be covered")
        if not os.access(beside, os.W_OK):
            return
        path, before = os.path.join(beside, f".florc-probe-{os.getpid()}"), os.stat(beside)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        is_real = os.path.lexists(self.real + path)
        os.remove(path)
        os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
        if is_real:
            raise OSError(f"{beside} could not be covered")

    @property
    def real(self) -> str:
        """What paths of the user's tree begin with."""
        return f"/proc/self/fd/{self._real}"

    # -- leaving ---------------------------------------------------------------------------------------------------

    @property
    def is_owner(self) -> bool:
        """Whether this process made the world, and not one that shares it."""
        return os.getpid() == self._owner

    def leave(self) -> None:
        """Back to the user's files: hand out what added statements wrote. What the script started stays in its world."""
        cwd = _cwd()
        try:
            _native.world_leave(self._real)
        except OSError as error:
            say(
                f"what added statements wrote is not handed out: the script closed what florc held ({error.strerror})",
                always=True,
                code="F508",
            )
            return
        with contextlib.suppress(OSError):
            os.chdir(cwd)
        self.handed.hand_out()
        self._end()

    def again(self, is_apart: bool) -> None:
        """The replay starts again, without what was written so far. `is_apart`: this process becomes another program."""
        cwd = _cwd()
        self._uncover(is_apart)
        with contextlib.suppress(OSError):
            os.chdir(cwd)
        self._end()

    def _uncover(self, is_apart: bool) -> None:
        _native.world_undo(self._undo, is_apart)
        for mount in self._fixed:
            _native.world_read_only(mount, False)

    def _end(self) -> None:
        os.close(self._real)
        for folder in (self._folder, *self._elsewhere):
            with contextlib.suppress(OSError):
                _remove(folder)


def _remove(folder: str) -> None:
    """Remove a folder, whatever modes there are in it: the kernel makes some that nobody may look into."""
    os.chmod(folder, 0o700)
    with os.scandir(folder) as inside:
        for entry in inside:
            _remove(entry.path) if entry.is_dir(follow_symlinks=False) else os.remove(entry.path)
    os.rmdir(folder)


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return "/"
