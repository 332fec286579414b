"""A world of its own for a replay: whatever runs in it, children and native code too, changes nothing of the user's.

The process goes into a mount namespace in which overlays lie over the user's folders (`src/process/world.rs`): what is written
goes to an upper layer in the replay's own folder. Of a folder with mounts below it the folders in it are covered; it itself becomes
read-only. The store and the replay's folder are as they are. What a replay starts for itself (workers, ranks) shares its world.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Collection
from typing import Any

from .. import _native
from ..support.console import say
from .files.removing import remove
from .files.user_files import OTHERS, WORLD
from .handed import Handed
from .mounts import PSEUDO, by_number, is_pseudo, layers, mounts, ray, sockets
from .session.started import STARTED

SWITCH = "FLORC_WORLD"
"""0 in the environment: no replay has a world of its own."""
INSIDE = "_FLORC_WORLD"
"""Of processes that share the world of the one that started them (JSON): its folder, and the number of that process."""
UPPERS = "uppers"
"""In that folder: which of the user's folders has which upper layer (JSON)."""
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
        os.mkdir(self._folder, 0o700)
        self._lock = _locked(self._folder)  # before: no mount becomes read-only while a file on it is open to be written
        self._real, self._is_user = _native.world_begin()
        try:
            self._cover_all()
            self._probe()
        except OSError:
            self.again(is_apart=False)
            raise
        STARTED.environment[INSIDE] = json.dumps({"folder": self._folder, "process": os.getpid()})

    # -- covering --------------------------------------------------------------------------------------------------

    def _cover_all(self) -> None:
        cwd = os.getcwd()
        own = [os.path.realpath(self._store), os.path.dirname(self._folder), ray()]
        open_ones = [path for path in dict.fromkeys(own) if os.path.exists(path)]
        open_ones += [path for path in sockets() if not path.startswith(tuple(f"{one}/" for one in open_ones))]
        held = {}
        for path in open_ones:
            with contextlib.suppress(OSError):  # not to be reached by this user either
                held[path] = _native.world_hold(path)
        there = mounts()
        memory = os.path.join(self._folder, "memory")
        os.mkdir(memory)
        _native.world_memory(memory)
        memory, self._own = by_number(memory), by_number(self._folder)  # their paths will lead into what covers them
        self._base = self._own
        for mount, (kind, is_read_only) in there.items():
            if kind not in PSEUDO and not is_read_only and not is_pseudo(mount):
                self._cover(mount, mount, there, memory if kind in _IN_MEMORY else "")
        if "/dev/shm" not in there and os.path.isdir("/dev/shm"):
            self._cover("/dev/shm", "/dev", there, memory)
        _native.world_undo([memory], False)  # its number is enough, and its folder can be removed
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
        if not any(other.startswith(start) and other != folder for other in there):
            if not self._overlay(folder, base):
                self._fixed.add(mount)
            return
        self._fixed.add(mount)
        with contextlib.suppress(OSError), os.scandir(folder) as inside:
            for entry in inside:
                if entry.path in there or is_pseudo(entry.path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    self._cover(entry.path, mount, there, base)

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

    def _lay(self, folder: str, base: str) -> bool:
        try:
            self._laid += 1
            upper = layers(folder, base, self._laid)
            _native.world_cover(folder, os.path.dirname(upper), self._is_user)
        except OSError:
            return False
        self._undo.append(folder)
        own = f"{self._own}/"
        self.uppers[folder] = f"{self._folder}/{upper[len(own) :]}" if upper.startswith(own) else upper
        return True

    def _probe(self) -> None:
        """See that what is written beside the store does not reach the user. Raises OSError where it does."""
        beside = os.path.dirname(os.path.realpath(self._store))
        path = os.path.join(beside, f".florc-probe-{os.getpid()}")
        try:
            before = os.stat(beside)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EROFS):  # a folder of a group that only the user's own namespace knows
                raise
            return  # nobody writes there
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
        if not self.is_owner:
            return
        cwd = _cwd()
        try:
            _native.world_leave(self._real)
        except OSError as error:
            say(
                f"what added statements wrote is not handed out: the script closed what florc held ({error.strerror})",
                always=True,
            )
            return
        with contextlib.suppress(OSError):
            os.chdir(cwd)
        self.handed.hand_out()
        self._end()

    def again(self, is_apart: bool = True) -> None:
        """The replay starts again, without what was written so far. `is_apart`: this process becomes another program."""
        if not self.is_owner:
            return
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
        global here
        here = None
        os.close(self._real)
        STARTED.environment.pop(INSIDE, None)
        for folder in (self._folder, *self._elsewhere):
            with contextlib.suppress(OSError):
                remove(folder)


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return "/"


def _locked(folder: str) -> Any:
    import fcntl

    lock = open(os.path.join(folder, "lock"), "wb")  # noqa: SIM115 - held until the process ends
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


class Shared:
    """The world of the process that started this one."""

    def __init__(self, told: dict[str, Any]):
        with open(os.path.join(told["folder"], UPPERS), encoding="utf-8", errors="surrogateescape") as file:
            uppers = json.load(file)
        self.handed = Handed(uppers, os.path.join(told["folder"], "handed"))

    is_owner, real = False, ""

    def leave(self) -> None:
        """It is that process's to leave."""

    def again(self, is_apart: bool = True) -> None:
        """Nothing of it is this process's own."""


_told = os.environ.pop(INSIDE, None)
here: World | Shared | None = Shared(json.loads(_told)) if _told else None
"""That in which this process is."""
why_not = ""
"""Why it is in none."""


def enter(folder: str, store: str) -> World | Shared | None:
    """Go into a world, unless this process is in one. `folder`: the replay's own; `store`: where it may write, too. None where
    that cannot be had (`why_not`)."""
    global here, why_not
    if here is not None:
        return here
    if os.environ.get(SWITCH) == "0":
        why_not = f"{SWITCH} is 0"
    elif not hasattr(_native, "world_begin"):
        why_not = "only Linux has namespaces"
    elif (threads := len(os.listdir("/proc/self/task"))) > 1:
        why_not = f"florc's process has {threads} threads already"
    else:
        try:
            here = World(folder, store)
        except OSError as error:
            why_not = f"the system allows no namespace with overlays here ({(error.strerror or str(error)).lower()})"
    return here


def join(given: dict[str, str]) -> None:
    """Go into the world of the process that asks for this one. `given`: the environment that it gives, which then says so; where
    that cannot be, this process makes one of its own."""
    global here
    if INSIDE in given:
        told = json.loads(given[INSIDE])
        try:
            _native.world_join(told["process"])
            here = Shared(told)
        except OSError:
            del given[INSIDE]


def leave() -> None:
    """Back to the user's files, where this process has made a world."""
    if here is not None:
        here.leave()


def renew(folder: str, store: str) -> None:
    """Another world in the place of the one that this process has made."""
    if here is not None and here.is_owner:
        here.again(is_apart=False)
        enter(folder, store)


def tell(names: Collection[str]) -> None:
    """Say that nothing keeps programs from the user's files, where a script that mentions these names starts some."""
    if here is None and (why_not.startswith(SWITCH) or not OTHERS.isdisjoint(names)):
        say(f"nothing keeps what the script starts from writing over files: {why_not}")
