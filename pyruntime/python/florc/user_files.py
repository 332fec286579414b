"""The user's files in a replay: what the recorded run left on disk is its result, so it is put back when the replay ends.

A replay runs the script again, or a part of it, and with it what writes checkpoints and logs. A file that is there is
copied to `.florc/kept` before the script first opens it for writing, renames or removes it (a large one that is made anew is moved
there, one that is changed in place is left to the script, and that is said). Files that are new, and those
that an added statement writes, stay as the replay leaves them. Writers that Python does not announce (`torch.save` and
safetensors are asked apart; programs that the script starts are not) go unseen.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, Set

from . import trust
from .messages import say
from .runs import private_file, private_folder
from .start import AfterImport

try:
    import fcntl
except ImportError:  # replays side by side are not told apart
    fcntl = None  # type: ignore[assignment]

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LARGE = 1 << 30
"""Bytes that take seconds to copy."""
_NATIVE = (("torch.serialization", "_open_zipfile_writer_file.__init__", 1), ("safetensors.torch", "serialize_file", 1),
           ("safetensors.numpy", "serialize_file", 1))
"""Functions that have a file written without a word to Python: module, name, which argument is its path."""


class UserFiles:
    """Keeps what a replay is about to change. Processes of one replay, and replays side by side, share a folder: the last
    one puts everything back, and the next one what a killed replay left."""

    def __init__(self, store: str, is_added: Callable[[], bool] = lambda: False):
        self.written: Set[str] = set()
        """Files that the script has opened for writing."""
        self.read_back: List[str] = []
        """Files that were read after the script had written to them."""
        self._folder, self._store = os.path.join(store, "kept"), os.path.realpath(store)
        self._is_added = is_added
        self._is_on = False
        self._refused: Set[str] = set()
        self._copying: Set[int] = set()
        """Threads that open files for this module itself."""
        self._lock: Any = None

    def begin(self) -> None:
        """Take part; put back first what a replay left that was killed."""
        private_folder(self._folder)
        self._lock = open(os.path.join(self._folder, "lock"), "a+b", opener=private_file)
        if self._is_alone():
            found = self._put_back()
            if found:
                say(f"an earlier replay was cut off: {', '.join(found)} put back as the recorded run left them")
        if fcntl is not None:
            fcntl.lockf(self._lock, fcntl.LOCK_SH)

    def end(self) -> None:
        """The script is over: unless another replay goes on, every file is as it was."""
        self._is_on = False
        if self._lock is not None:
            if self._is_alone():
                self._put_back()
            self._lock.close()
            self._lock = None

    def watch(self) -> None:
        """From now on, in this process and in those it forks. A hook cannot be taken out again; it can be deaf."""
        self._is_on = True
        sys.addaudithook(self._hear)
        for module, name, at in _NATIVE:
            if module in sys.modules:
                self._ask(module, name, at)
            else:
                sys.meta_path.insert(0, AfterImport(module, lambda m=module, n=name, a=at: self._ask(m, n, a)))

    def _is_alone(self) -> bool:
        if fcntl is None:
            return True
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _hear(self, event: str, args: tuple) -> None:
        handle = _EVENTS.get(event)
        if handle is None or not self._is_on or threading.get_ident() in self._copying:
            return
        try:
            handle(self, *args)
        except Exception as error:  # whatever it is, the script's own call must go on
            self._is_on = False
            say(f"files that the script writes from here on are not put back: {error}", always=True)

    def _opened(self, path: Any, mode: Any, flags: Any) -> None:
        if isinstance(flags, int) and flags & _WRITES:
            self._keep(path, _moved if flags & os.O_TRUNC and not flags & os.O_EXCL else _left)
        elif self.written and isinstance(path, (str, bytes)):
            real = os.path.realpath(os.fsdecode(path))
            if real in self.written and real not in self.read_back:
                self.read_back.append(real)

    def _renamed(self, source: Any, target: Any, *_: Any) -> None:
        self._keep(source, _linked)
        self._keep(target, _linked)

    def _removed(self, path: Any, *_: Any) -> None:
        self._keep(path, _linked)

    def _changed(self, path: Any, *_: Any) -> None:
        self._keep(path, _left)

    def _made_anew(self, path: Any) -> None:
        self._keep(path, _moved)

    def _removed_tree(self, path: Any, *_: Any) -> None:
        for folder, _, names in os.walk(path):
            for name in names:
                self._keep(os.path.join(folder, name), _linked)

    def _keep(self, path: Any, without_copying: Callable[[str, str], bool]) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)) or self._is_added():
            return
        real = os.path.realpath(os.fsdecode(path))
        if real in self.written or self._is_foreign(real):
            return
        self.written.add(real)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = os.lstat(real)
            if stat.S_ISREG(found.st_mode):
                self._set_aside(real, without_copying if found.st_size > _LARGE else None)

    def _is_foreign(self, path: str) -> bool:
        """Whether it is Python's, florc's, the system's, or something that programs remember for themselves."""
        home = os.path.expanduser("~")
        beyond_home = os.path.relpath(path, home) if path.startswith(home + os.sep) else ""
        roots = (sys.prefix, sys.base_prefix, self._store, "/dev", "/proc", "/sys")
        return (beyond_home.startswith(".") or "__pycache__" in path
                or any(path.startswith(root + os.sep) for root in roots))

    def _set_aside(self, real: str, without_copying: Optional[Callable[[str, str], bool]]) -> None:
        """Whole or not at all; of two processes, the first has done so before it writes."""
        kept = os.path.join(self._folder, hashlib.sha256(os.fsencode(real)).hexdigest()[:32])
        half = f"{kept}.{os.getpid()}"
        self._copying.add(threading.get_ident())
        try:
            if os.path.lexists(kept) and self._sealed_path(kept) is not None:
                return
            for stranger in (kept, half):  # what lies there is not ours, or a link
                with contextlib.suppress(FileNotFoundError):
                    os.remove(stranger)
            with open(kept + ".path", "wb", opener=private_file) as file:
                file.write(trust.seal(os.fsencode(real)))
            if without_copying is not None and without_copying(real, kept):
                return
            shutil.copy2(real, half)
            with contextlib.suppress(FileExistsError):
                os.link(half, kept)
        finally:
            with contextlib.suppress(OSError):
                os.remove(half)
            self._copying.discard(threading.get_ident())

    def _put_back(self) -> List[str]:
        """The names of the files that were put back."""
        found = []
        for name in sorted(os.listdir(self._folder)):
            kept, kind = os.path.splitext(os.path.join(self._folder, name))
            if kind != ".path":
                continue
            sealed = self._sealed_path(kept)
            if sealed is None:  # whoever made it could have anything written over
                if kept not in self._refused:
                    say(f"{kept} was not set aside by a replay of yours: it is not put back", always=True)
                self._refused.add(kept)
                continue
            path = sealed
            if os.path.exists(kept):
                if not self._move(kept, path):
                    continue
                found.append(os.path.basename(path))
            os.remove(kept + kind)
        return found

    def _sealed_path(self, kept: str) -> Optional[str]:
        """Where a kept file belongs; None where a replay of this user did not set it aside."""
        try:
            descriptor = os.open(kept + ".path", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:
                return trust.path_in(file.read(), os.path.dirname(self._store))
        except OSError:
            return None

    @staticmethod
    def _move(kept: str, path: str) -> bool:
        beside = f"{path}.florc-{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with contextlib.suppress(OSError):  # the store may lie on another disk
                os.replace(kept, path)
                return True
            shutil.copy2(kept, beside)
            os.replace(beside, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.remove(beside)
            say(f"{path} cannot be put back ({error.strerror}); as the recorded run left it, it is {kept}", always=True)
            return False
        os.remove(kept)
        return True

    def _ask(self, module: str, name: str, at: int) -> None:
        """Have a native writer's file kept before it is opened."""
        holder: Any = sys.modules[module]
        *outer, last = name.split(".")
        for part in outer:
            holder = getattr(holder, part, None)
        original = getattr(holder, last, None)
        if original is None:  # another version of the library
            return

        def asked(*args: Any, **options: Any) -> Any:
            if len(args) > at:
                self._hear("florc.write", (args[at],))
            return original(*args, **options)

        setattr(holder, last, asked)


def _linked(path: str, kept: str, may_remove: bool = False) -> bool:
    """Large, and about to lose its name only. False where the store lies on another disk."""
    try:
        os.link(path, kept)
    except FileExistsError:  # another process did so, and may have made the file anew since
        return True
    except OSError:
        return False
    if may_remove:
        os.remove(path)
    return True


def _moved(path: str, kept: str) -> bool:
    """Large, and about to be made anew."""
    return _linked(path, kept, may_remove=True)


def _left(path: str, kept: str) -> bool:
    """Large, and about to be changed, or only opened so (`numpy.memmap`): a copy would take long."""
    say(f"{path} is large, and the script may change it: it is not put back", always=True)
    return True


_EVENTS: Dict[str, Callable[..., None]] = {
    "open": UserFiles._opened, "os.rename": UserFiles._renamed, "os.remove": UserFiles._removed,
    "os.truncate": UserFiles._changed, "shutil.rmtree": UserFiles._removed_tree, "sqlite3.connect": UserFiles._changed,
    "florc.write": UserFiles._made_anew,
}
"""What Python announces (`sys.addaudithook`), and what is done before it happens."""
