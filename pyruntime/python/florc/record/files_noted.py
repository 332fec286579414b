"""While recording: what the run changes on disk, and what was there before.

Python announces what it does with files (`sys.audit`). Before the run first changes a path, a record `file` says
whether something was there; what is about to be overwritten, replaced or removed is kept in the run's folder: as a second
name of the file, as a copy that shares its blocks, or as a copy, where that is cheap enough. A replay then sees the files as
the run found them. A note that fails is lost: it is never an error of the script.
"""

from __future__ import annotations

import os
import stat
import time
from _thread import get_ident
from types import TracebackType

from .. import _native
from ..process import native_writers
from ..runs.found_files import BRIEFLY, FILE, FOLDER, LATER, LINK, NONE, ends_of, hash_of, name_of
from ..support.console import size as sized
from ..support.copying import share_blocks
from ..support.light import OWN, suppress
from .children import Told
from .open_folders import in_open_folders, within
from .reads_noted import ReadsNoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MOST = 20_000
"""Paths that are noted."""
_MOST_NAMES = 2000
"""In a folder that is noted."""
_BYTES_PER_S = 5e8
"""What copying is reckoned with."""
_FREE_S = 0.1
"""Seconds that copies may take however short the run is."""
_SHARE = 0.25
"""Share of the overhead that they may take of a longer one."""
_OF_DISK = 0.1
"""Share of the free space that they may take."""
_COPY, _LINK = "copy", "link"
"""How the old content of a file may be kept: by a copy only, or also by a second name of the file."""
_BEFORE = "(before)"
_APPENDED, _DONE = "only appended to", "noted"


class FilesNoted:
    """Notes what a recorded run changes. `note(kind, **payload)` writes a record, `charge(seconds)` counts the cost."""

    def __init__(self, folder: str, store: str, overhead: float, note: _native._Note, charge: Callable[[float], None]):
        self._folder, self._store = folder, os.path.join(os.path.realpath(store), "")
        self._overhead, self._note, self._charge = overhead, note, charge
        self._seen: dict[str, str] = {}
        self._real: dict[tuple[str, bool], str] = {}
        """Paths as they were given -> real paths; forgotten whenever a link may lead elsewhere."""
        self._folders: set[str] = set()
        """Folders whose names are noted, and those that the run made."""
        self._places: set[tuple[str, str, str]] = set()
        self._made_at: dict[str, str] = {}
        """Paths that are there, of those that are noted -> where in the loop nest the run made them."""
        self._noted_reads = ReadsNoted(self._store, lambda **found: self._tell("read", **found))
        self._busy: set[int] = set()
        self._pid, self._started = os.getpid(), time.perf_counter()
        self._copied_s = 0.0
        self._is_on = False
        self._of_children = Told(f"{folder}-of-children")

    def watch(self) -> None:
        """From now on."""
        self._is_on = True
        _native.listen(list(_EVENTS), self._hear)
        native_writers.adapt(self._native)
        for name in ("mkfifo", "mknod"):
            self._listen_to(name)

    def end(self) -> None:
        """The run is over."""
        with suppress(OSError, ValueError):
            self._hear_children()
        self._is_on = False
        _native.listen_no_more()

    def _listen_to(self, name: str) -> None:
        """Python does not announce these."""
        original = getattr(os, name, None)
        if original is None:
            return

        def call(*args: Any, **options: Any) -> Any:
            folder = options.get("dir_fd")
            self._hear("florc.make", (args[0] if args else options.get("path"), 0, -1 if folder is None else folder))
            return original(*args, **options)

        made = _native.Redirect(original, call, name, "os", OWN)
        setattr(os, name, made)
        if original in os.supports_dir_fd:
            os.supports_dir_fd.add(made)

    def _native(self, path: str, how: str, endings: Sequence[str] = ()) -> str:
        if how != native_writers.READ:
            for ending in ("", *endings):
                self._hear("florc.write", (path + ending,))
        return path

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        handle = _EVENTS.get(event)
        if handle is None or not self._is_on:
            return
        me = get_ident()
        if me in self._busy:
            return
        begun = time.perf_counter()
        self._busy.add(me)
        try:
            self._hear_children()
            handle(self, *args)
        except Exception as error:
            if not _is_own(error.__traceback__):  # a signal came, and the script's handler raises
                raise
        finally:
            self._busy.discard(me)
            self._charge(time.perf_counter() - begun)

    @property
    def _is_child(self) -> bool:
        """Whether this process was forked from the run's."""
        return os.getpid() != self._pid

    def _tell(self, kind: Any, **payload: Any) -> None:
        """Write a record. Of children, only what they change is noted."""
        if not self._is_child:
            self._note(kind, **payload)
        elif kind == "file":
            self._of_children.tell(payload)

    def _hear_children(self) -> None:
        """Note what children changed before this process changes the same."""
        for told in () if self._is_child else self._of_children.notes():
            real, at = told["path"], told["at"]
            if real not in self._seen and "was" in told:
                self._seen[real] = _DONE
                self._places.add((real, _native.Path(at).shape, told.get("gone", "")))
                self._note("file", **told)
            else:  # what was there first is noted
                self._again(real, at, told.get("gone", ""))

    # -- what Python announces -------------------------------------------------------------------------------------

    def _opened(self, path: Any, mode: Any, flags: Any) -> None:
        if not isinstance(flags, int) or isinstance(path, int):
            return
        if not flags & _WRITES:
            self._reads(path)
            return
        for where in (path, *(in_open_folders(path) if mode is None else ())):
            if flags & os.O_TRUNC or not flags & os.O_APPEND:
                self._changes(where, _COPY if not flags & os.O_EXCL else None)
            else:
                self._changes(where, None, appends=True)

    def _attributes(self, path: Any, *given: Any) -> None:
        """Its mode, owner, times: the content stays."""
        path = path if isinstance(path, int) else within(path, given[-1])
        if not isinstance(path, int) and os.path.lexists(path):
            self._changes(path, None, appends=True)

    def _attribute(self, path: Any, *_: Any) -> None:
        self._attributes(path, -1)

    def _written(self, path: Any, *_: Any) -> None:
        self._changes(path, _COPY)

    def _database(self, database: Any) -> None:
        path = native_writers.path_of_database(database)
        if path is not None:
            self._changes(path, _COPY)

    def _renamed(self, source: Any, target: Any, source_folder: int = -1, target_folder: int = -1) -> None:
        source, target = within(source, source_folder), within(target, target_folder)
        if os.path.isdir(source) and not os.path.islink(source):
            self._changes_below(source)
        self._changes(source, _COPY, is_link=True, goes=True)
        self._changes(target, _LINK, is_link=True)
        self._real.clear()

    def _removed(self, path: Any, folder: int = -1) -> None:
        self._changes(within(path, folder), _LINK, is_link=True, goes=True)
        self._real.clear()

    def _removed_tree(self, path: Any, *_: Any) -> None:
        self._changes_below(path)

    def _made(self, path: Any, _: Any = 0, folder: int = -1) -> None:
        self._makes(within(path, folder))

    def _linked(self, source: Any, path: Any, source_folder: int = -1, folder: int = -1) -> None:
        self._makes(within(path, folder))

    def _symlinked(self, source: Any, path: Any, folder: int = -1) -> None:
        self._makes(within(path, folder))
        self._real.clear()

    # -- what is noted ---------------------------------------------------------------------------------------------

    def _changes_below(self, path: Any) -> None:
        for folder, folders, names in os.walk(os.fsdecode(os.fspath(path)), topdown=False):
            for name in [*names, *folders]:
                self._changes(os.path.join(folder, name), _COPY, is_link=True)

    def _makes(self, path: Any) -> None:
        """Something new is made; where there is something, that fails."""
        if not os.path.lexists(path):
            self._changes(path, None, is_link=True)

    def _changes(self, path: Any, keep: Any, appends: bool = False, is_link: bool = False, goes: bool = False) -> None:
        """A path is about to be changed. `keep`: how its content is kept. `is_link`: a link itself is meant. `goes`: it is
        removed, or gets another name."""
        real = self._real_path(os.path.abspath(os.fsdecode(os.fspath(path))), is_link)
        if real.startswith(("/proc/", "/sys/", self._store)) or _is_device(real):
            return
        known, at = self._seen.get(real), _native.loop_path()
        if known == _DONE or known == _APPENDED and appends:
            if not goes:
                self._made_at.setdefault(real, at)
            self._again(real, at, self._gone(real, at) if goes else "")
            return
        if known is None and len(self._seen) >= _MOST:
            return
        self._list(os.path.dirname(real))
        found = self._state(real, appends)
        if found["was"] == NONE:
            self._folders.add(real)
        self._made_at[real] = at if found["was"] == NONE else _BEFORE
        gone = self._gone(real, at) if goes and found["was"] != NONE else ""
        is_file = found["was"] == FILE
        self._seen[real] = _APPENDED if appends and is_file else _DONE
        if known == _APPENDED:  # what was there first is noted; it is in what is there now
            found = {}
        if is_file and not appends and keep is not None:
            found.update(self._keep(real, keep))
        self._places.add((real, _native.Path(at).shape, gone))
        self._tell("file", path=real, at=at, **found, **({"gone": gone} if gone else {}))

    def _reads(self, path: Any) -> None:
        """A file is opened to be read: a replay must find the same."""
        if self._is_child:
            return
        whole = os.path.abspath(os.fsdecode(os.fspath(path)))
        real = self._real_path(whole, False)
        if real in self._seen:
            self._noted_reads.read_back(real, _native.loop_path())
        else:
            self._noted_reads.read(whole)

    def _gone(self, real: str, at: str) -> str:
        """How a path goes; nothing when there is none."""
        made_at = self._made_at.pop(real, None)
        return "" if made_at is None else BRIEFLY if made_at == at else LATER

    def _list(self, folder: str) -> None:
        """Note what is in a folder in which the run changes something: what others put there later is no concern of a replay."""
        if folder in self._folders:
            return
        self._folders.add(folder)
        names = []
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > _MOST_NAMES:
                    return
        self._tell("folder", path=folder, names=names)

    def _real_path(self, whole: str, is_link: bool) -> str:
        known = self._real.get((whole, is_link))
        if known is None:
            folder, name = os.path.split(whole)
            known = os.path.join(os.path.realpath(folder), name) if is_link else os.path.realpath(whole)
            self._real[whole, is_link] = known
        return known

    def _again(self, real: str, at: str, gone: str) -> None:
        """It is changed once more: that is noted where it happens in another loop."""
        kind = _native.Path(at).shape
        if (real, kind, gone) not in self._places and len(self._places) < 2 * _MOST:
            self._places.add((real, kind, gone))
            self._tell("file", path=real, at=at, **({"gone": gone} if gone else {}))

    @staticmethod
    def _state(real: str, appends: bool) -> dict[str, Any]:
        try:
            found = os.lstat(real)
        except OSError:
            return {"was": NONE}
        if stat.S_ISLNK(found.st_mode):
            return {"was": LINK, "target": os.readlink(real)}
        if stat.S_ISDIR(found.st_mode):
            return {"was": FOLDER, "mode": stat.S_IMODE(found.st_mode)}
        if not stat.S_ISREG(found.st_mode):
            return {"was": "other"}
        ends = {"ends": ends_of(real, found.st_size)} if appends else {}
        return {"was": FILE, "size": found.st_size, "mode": stat.S_IMODE(found.st_mode), "mtime_ns": found.st_mtime_ns, **ends}

    def _keep(self, real: str, keep: Any) -> dict[str, Any]:
        """Where the content of a file is kept, whole or not at all."""
        name = name_of(real)
        kept = os.path.join(self._folder, name)
        half = f"{kept}.{get_ident()}.{os.getpid()}"
        if self._is_child and os.path.lexists(kept):  # by another child, which came first
            return {"kept": None, "why": "another process had changed it"}
        try:
            os.makedirs(self._folder, exist_ok=True)
            if not self._copy(real, half, keep):
                return {"kept": None, "why": f"{sized(os.path.getsize(real))} are too many to copy in a run so short"}
            found = os.stat(half)
            told = {"kept_hash": hash_of(half)} if self._may_take(found.st_size) else {}
            os.replace(half, kept)
            return {"kept": name, "kept_size": found.st_size, "kept_mtime_ns": found.st_mtime_ns, **told}
        except OSError as error:
            return {"kept": None, "why": (error.strerror or str(error)).lower()}
        finally:
            if os.path.lexists(half):
                os.remove(half)

    def _copy(self, real: str, half: str, keep: Any) -> bool:
        if keep == _LINK:
            try:
                os.link(real, half)
                return True
            except OSError:  # the store lies on another disk
                pass
        if share_blocks(real, half):
            return True
        count = os.path.getsize(real)
        begun = time.perf_counter()
        if not self._may_take(count) or count > _OF_DISK * _free(self._folder):
            return False
        import shutil  # takes long to import

        shutil.copy2(real, half)
        self._copied_s += time.perf_counter() - begun
        return True

    def _may_take(self, count: int) -> bool:
        """Whether there is time to read or copy so many bytes."""
        allowed = _FREE_S + _SHARE * self._overhead * (time.perf_counter() - self._started)
        return self._copied_s + count / _BYTES_PER_S <= allowed


def _free(folder: str) -> int:
    """Bytes that are free on the disk of a folder."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _is_device(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _is_own(traceback: TracebackType | None) -> bool:
    names: list[str] = []
    while traceback is not None:
        names.append(traceback.tb_frame.f_code.co_filename)
        traceback = traceback.tb_next
    return all(name.startswith((OWN, os.path.dirname(os.__file__), "<frozen")) for name in names)


_EVENTS: dict[str, Callable[..., None]] = {
    "open": FilesNoted._opened,
    "os.rename": FilesNoted._renamed,
    "os.remove": FilesNoted._removed,
    "os.rmdir": FilesNoted._removed,
    "os.mkdir": FilesNoted._made,
    "os.link": FilesNoted._linked,
    "os.symlink": FilesNoted._symlinked,
    "os.truncate": FilesNoted._written,
    "os.chmod": FilesNoted._attributes,
    "os.chown": FilesNoted._attributes,
    "os.utime": FilesNoted._attributes,
    "os.setxattr": FilesNoted._attribute,
    "os.removexattr": FilesNoted._attribute,
    "shutil.rmtree": FilesNoted._removed_tree,
    "sqlite3.connect": FilesNoted._database,
    "florc.write": FilesNoted._written,
    "florc.make": FilesNoted._made,
}
"""What Python announces, and what is done before it happens."""
