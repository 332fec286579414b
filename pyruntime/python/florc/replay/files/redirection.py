"""The functions of Python that name paths, as they are while a replay runs: each maps its paths to where they lie in the view.

What the script sees of a path is its own spelling: the names of files, of entries of folders, and those in errors.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, TypeVar

from ... import _native
from ...inputs import standard_input
from ...process.native_writers import ANEW, READ, UPDATED
from ...support.light import OWN as OWN_FOLDER
from .handles import opened, replace_everywhere, watched
from .looks import Looks
from .moves import Moves
from .paths import Paths
from .view import ADDED, GONE, HERE, OWN, PLAIN, Found, View

_T = TypeVar("_T")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_UNNAMED = getattr(os, "O_TMPFILE", 0)


class Functions:
    """What stands in the place of the functions. `is_added()`: whether an added statement runs."""

    def __init__(self, view: View, paths: Paths, is_added: Callable[[], bool]):
        self.view, self.paths, self.is_added = view, paths, is_added
        self.beside: dict[str, None] = {}
        """Files that an added statement wrote and that are the script's own: only in the view."""
        self.added: dict[str, int | None] = {}
        """What an added statement wrote at its real path -> how long it was before; None: it was not there."""
        self._updated: dict[str, tuple[int, int]] = {}
        """Databases that an added statement opened -> size and time when it, or one after it, began."""
        self.is_on = False
        self._inside: set[int] = set()
        """Threads that are in one of these functions."""
        self._watched = watched(io.FileIO, view.doubts.descriptor, self._wrote)
        self._open: weakref.WeakSet[Any] = weakref.WeakSet()
        """What the script opened to write to."""
        self.temporary: dict[str, None] = {}
        """Temporary files and folders that the script made at their own paths, and not yet removed."""
        self.moves, self.looks = Moves(self), Looks(self)

    # -- putting them in place -------------------------------------------------------------------------------------

    def install(self) -> None:
        """From now on, in this process and in those it forks."""
        self.is_on = True
        made: dict[int, tuple[Any, Any]] = {}
        for holder, handlers in ((self, {"open": Functions.open, **_CHANGES}), (self.looks, _LOOKS)):
            for name, handler in handlers.items():
                original = getattr(os, name, None)
                if original is not None:
                    known = made.get(id(original))
                    made[id(original)] = known or (original, self._redirected(original, handler, name, "os", holder))
        for original, handler, name, module in (
            (io.open, Functions.open_file, "open", io.open.__module__.replace("_io", "io")),
            (io.open_code, Functions.open_code, "open_code", "io"),
        ):
            made[id(original)] = (original, self._redirected(original, handler, name, module))
        made[id(io.FileIO)] = (io.FileIO, self._file_class())
        replace_everywhere(made)

    def _redirected(self, original: Any, handler: Callable[..., Any], name: str, module: str, holder: Any = None) -> Any:
        inside, holder = self._inside, holder or self

        def call(*args: Any, **options: Any) -> Any:
            me = threading.get_ident()
            if not self.is_on or me in inside:
                return original(*args, **options)
            inside.add(me)
            try:
                return handler(holder, original, *args, **options)
            except (FileNotFoundError, NotADirectoryError) as error:
                self._missing(error, options)
                raise
            except TypeError as error:
                if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                    raise
            finally:
                inside.discard(me)
            return original(*args, **options)  # it was called wrongly: Python says how

        return _native.Redirect(original, call, name, module, OWN_FOLDER)

    def _missing(self, error: OSError, options: dict[str, Any]) -> None:
        """A function does not find a path."""
        if self.view.doubts.is_empty or self.is_added():
            return
        folders = (options.get("src_dir_fd", options.get("dir_fd")), options.get("dst_dir_fd"))
        for path, folder in zip((error.filename, error.filename2), folders):
            real = self.resolve(path, True, folder)
            if real is not None:
                self.view.missing(real)

    def _file_class(self) -> type:
        original = io.FileIO
        functions = self

        class Kind(type(original)):  # type: ignore[misc]  # the base is a call
            def __instancecheck__(cls, instance: Any) -> bool:
                return isinstance(instance, original)

            def __subclasscheck__(cls, subclass: Any) -> bool:
                return issubclass(subclass, original)

        class FileIO(original, metaclass=Kind):  # type: ignore[misc, valid-type]  # the base is a variable
            def __init__(self, file: Any, mode: str = "r", closefd: bool = True, opener: Any = None):
                is_free = functions.is_on and threading.get_ident() not in functions._inside
                if opener is None and not isinstance(file, int) and is_free:
                    opener = functions.opener
                super().__init__(file, mode, closefd, opener)

        FileIO.__module__, FileIO.__qualname__ = "_io", "FileIO"
        io.RawIOBase.register(FileIO)
        return FileIO

    # -- where a path lies -----------------------------------------------------------------------------------------

    def resolve(self, path: Any, follow: bool = True, folder: int | None = None) -> str | None:
        """The real path of an argument; None for a descriptor, and for what the view leaves alone."""
        if not isinstance(path, (str, bytes)) and not hasattr(type(path), "__fspath__"):
            return None
        text = os.fspath(path)
        return self.paths.resolve(os.fsdecode(text), follow or text[-1:] in ("/", b"/"), folder)

    def call(self, original: Callable[..., _T], where: str, path: Any, *args: Any, **options: Any) -> _T:
        """Call a function with another path; an error names the one that was given."""
        text = os.fspath(path)
        if text[-1:] in ("/", b"/") and where != "/":
            where += "/"
        try:
            return original(os.fsencode(where) if isinstance(text, bytes) else where, *args, **options)
        except OSError as error:
            if error.filename is not None:
                error.filename = text
            raise

    def fail(self, number: int, path: Any, other: Any = None) -> OSError:
        """An error as the system call gives it."""
        if other is None:
            return OSError(number, os.strerror(number), os.fspath(path))
        return OSError(number, os.strerror(number), os.fspath(path), None, os.fspath(other))

    def check_parent(self, real: str, path: Any, other: Any = None) -> None:
        """Raise the error of a path whose folder is not there, or may not be changed."""
        parent = real.rpartition("/")[0] or "/"
        self.check_folder(parent, path, other)
        if not os.access(self.view.find(parent).where, os.W_OK | os.X_OK):
            raise self.fail(errno.EACCES, path, other)

    def check_folder(self, folder: str, path: Any, other: Any = None) -> None:
        """Raise the error of a path in a folder that is not there."""
        if self.view.is_folder(folder):
            return
        while not self.view.exists(folder):
            folder = folder.rpartition("/")[0] or "/"
        is_loop = self.view.link(folder) is not None
        raise self.fail(errno.ELOOP if is_loop else errno.ENOENT if self.view.is_folder(folder) else errno.ENOTDIR, path, other)

    def new(self, real: str, path: Any) -> str:
        """Where something new is made, which may not be there yet."""
        if self.view.exists(real):
            raise self.fail(errno.EEXIST, path)
        self.check_parent(real, path)
        self.view.prepare(real)
        return self.view.at(real)

    def made_temporary(self, real: str) -> None:
        """The script makes a temporary file or folder."""
        if not self.is_added():
            self.temporary[real] = None
        self.view.made(real, OWN)

    def left(self, real: str, path: Any) -> str:
        """Where a temporary file or folder is made that the recorded run left there: in the view, where there is none yet."""
        self.temporary.pop(real, None)
        self.view.removed(real)
        return self.new(real, path)

    # -- opening ---------------------------------------------------------------------------------------------------

    def open_file(
        self,
        original: Any,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        """`open`."""
        if file == 0 or isinstance(file, str) and file in standard_input.NAMES:
            standard_input.note()
        if isinstance(file, int) or opener is not None:
            if opener is not None:
                self._inside.discard(threading.get_ident())  # the script's opener may open files itself
            if opener is not None or self.view.doubts.is_watched(file):
                made = opened(self._watched, file, mode, buffering, encoding, errors, newline, closefd, opener)
                if made is not None:
                    if not self.is_added():
                        self._open.add(made)
                    return made
        else:
            opener = self.opener
            real = self.resolve(file)
            if real is not None and not self.is_added() and (self.view.is_scripts(real) or not set("wax+").isdisjoint(mode)):
                made = opened(self._watched, file, mode, buffering, encoding, errors, newline, closefd, opener)
                if made is not None:
                    self._open.add(made)
                    return made
        return original(file, mode, buffering, encoding, errors, newline, closefd, opener)

    def open_code(self, original: Any, path: Any) -> Any:
        """`io.open_code`."""
        real = self.resolve(path)
        return original(path) if real is None else self.call(original, self.view.find(real).where, path)

    def opener(self, path: Any, flags: int) -> int:
        """What `open` opens a file with."""
        me = threading.get_ident()
        was_inside = me in self._inside
        self._inside.add(me)
        try:
            return self.open(_OPEN, path, flags, 0o666)
        finally:
            if not was_inside:
                self._inside.discard(me)

    def open(self, original: Callable[..., int], path: Any, flags: int, mode: int = 0o777, *, dir_fd: Any = None) -> int:
        """`os.open`."""
        real = self.resolve(path, not flags & os.O_NOFOLLOW, dir_fd)
        if real is None:
            return original(path, flags, mode, dir_fd=dir_fd)
        found = self.view.find(real)
        if _UNNAMED and flags & _UNNAMED == _UNNAMED:
            return self.call(original, found.where, path, flags, mode)
        if not flags & _WRITES:
            if not os.path.isdir(found.where):
                self.view.read(real, found)
            return self.call(original, found.where, path, flags, mode)
        where = self._to_write(real, path, flags, found)
        try:
            return self.call(original, where, path, flags, mode)
        except FileExistsError:
            if where != real or found.kind != GONE:
                raise
        where = self.left(real, path)
        self.view.made(real)
        return self.call(original, where, path, flags, mode)

    def _to_write(self, real: str, path: Any, flags: int, found: Found) -> str:
        """Where a file is opened for writing."""
        is_there = found.kind != GONE and os.path.lexists(found.where)
        if is_there and (os.path.isdir(found.where) or not os.path.isfile(found.where)):
            return found.where  # a folder is an error, a pipe or a device no file
        if not is_there and not flags & os.O_CREAT:
            return self.view.at(real)
        own = self._as_added(real, found)
        if own is not None:
            return own
        if found.kind == OWN:
            self.view.made_own(real, anew=bool(flags & os.O_TRUNC))
            return real
        if not is_there and flags & os.O_EXCL and self.is_temporary(real):
            self.made_temporary(real)
            return real
        if is_there and flags & os.O_EXCL and flags & os.O_CREAT:
            raise self.fail(errno.EEXIST, path)
        if not is_there:
            self.check_parent(real, path)
            self.view.prepare(real)
            self.view.made(real)
        elif found.kind != HERE:
            if not os.access(found.where, os.W_OK):
                raise self.fail(errno.EACCES, path)
            if flags & os.O_TRUNC:
                self._make_anew(real, found)
            else:
                return self.view.copied(real, found)
        else:
            self.view.made(real, anew=bool(flags & os.O_TRUNC))
        return self.view.at(real)

    def _make_anew(self, real: str, found: Found) -> None:
        self.view.prepare(real)
        mode = os.stat(found.where).st_mode & 0o7777
        os.close(_OPEN(self.view.at(real), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        os.chmod(self.view.at(real), mode)
        self.view.made(real)

    def _as_added(self, real: str, found: Found) -> str | None:
        """Where an added statement writes: the user's own file, unless it is one of the script's."""
        if not self.is_added():
            return None
        if found.kind in (ADDED, OWN):
            return found.where
        if found.kind == PLAIN or found.kind == GONE and not self.view.is_scripts(real):
            os.makedirs(os.path.dirname(real), exist_ok=True)
            self.added.setdefault(real, os.path.getsize(real) if os.path.exists(real) else None)
            self.view.made(real, ADDED)
            return real
        self.beside[real] = None
        return None

    def _state(self, path: str) -> tuple[int, int]:
        try:
            found = _stat(self.view.at(path))
        except OSError:
            return 0, 0
        return found.st_size, found.st_mtime_ns

    def flush(self) -> None:
        """Before an added statement, and at its end: what it writes through what the script holds open is known to be its own."""
        for path, known in self._updated.items():
            self._updated[path] = self._state(path)
            if self.is_added() and self._updated[path] != known:
                self.beside[path] = None
        for file in list(self._open):
            with contextlib.suppress(ValueError, OSError):  # closed, or read from; the script will see why not
                file.flush()

    def _wrote(self, descriptor: int) -> None:
        if self.is_added():
            path = self.view.doubts.path_of(descriptor)
            if path is not None:
                self.beside[path] = None

    def is_temporary(self, real: str) -> bool:
        """Whether `tempfile` makes a file or folder for the script, with a name of its own in the system's folder: sockets and
        programs that the script starts have to find it."""
        at: FrameType | None = sys._getframe(1)
        while at is not None and at.f_code.co_filename.startswith(OWN_FOLDER):
            at = at.f_back
        if at is None or at.f_globals.get("__name__") != "tempfile" or tempfile.tempdir is None:
            return False
        return os.path.dirname(real) == os.path.realpath(os.fsdecode(tempfile.tempdir))

    def native(self, path: str, how: str, endings: Sequence[str] = ()) -> str:
        """What a function that opens files itself is called with."""
        if not self.is_on or threading.get_ident() in self._inside:
            return path
        self._inside.add(threading.get_ident())
        try:
            return self._native(path, how, endings)
        finally:
            self._inside.discard(threading.get_ident())

    def _native(self, path: str, how: str, endings: Sequence[str]) -> str:
        real = self.resolve(path)
        if real is None:
            return path
        found = self.view.find(real)
        if how == READ or how == UPDATED and found.kind == PLAIN and self.view.is_scripts(real):  # it was not written then
            self.view.read(real, found)
            if not self.is_added():
                self.view.missing(real)
            return path if found.where == real else found.where
        if how == UPDATED:  # what is changed in place is read, too: a database
            self.view.read(real, found)
        flags = os.O_RDWR | os.O_CREAT | (os.O_TRUNC if how == ANEW else 0)
        is_asked = how == UPDATED and self.is_added() and real not in self.beside
        try:
            where = self._to_write(real, path, flags, found)
            if is_asked and real in self.beside:  # it may only ask
                del self.beside[real]
                for each in (real, *(real + ending for ending in endings)):
                    self._updated[each] = self._state(each)
        except OSError:  # the function says what is wrong, in its own words
            return (
                self.view.at(real) if os.path.isdir(os.path.dirname(real)) and os.access(os.path.dirname(real), os.W_OK) else path
            )
        for ending in endings if where != real else ():
            self._to_write(real + ending, path, flags, self.view.find(real + ending))
            if is_asked:
                self.beside.pop(real + ending, None)
        return path if where == real else where


_OPEN, _stat = os.open, os.stat
_LOOKS: dict[str, Callable[..., Any]] = {
    "stat": Looks.look,
    "access": Looks.look,
    "statvfs": Looks.look,
    "pathconf": Looks.look,
    "getxattr": Looks.look,
    "listxattr": Looks.look,
    "lstat": Looks.look_at_link,
    "readlink": Looks.look_at_link,
    "listdir": Looks.listdir,
    "scandir": Looks.scandir,
    "fstat": Looks.look_at_open,
    "lseek": Looks.look_at_open,
    "read": Looks.read,
    "pread": Looks.look_at_open,
    "getcwd": Looks.getcwd,
    "getcwdb": Looks.getcwdb,
    "chdir": Looks.chdir,
}
_CHANGES: dict[str, Callable[..., Any]] = {
    name: (lambda self, original, *args, _called=name, **options: getattr(self.moves, _called)(original, *args, **options))
    for name in (
        "mkdir",
        "rmdir",
        "remove",
        "unlink",
        "rename",
        "replace",
        "link",
        "symlink",
        "truncate",
        "chmod",
        "chown",
        "lchown",
        "utime",
        "setxattr",
        "removexattr",
        "mkfifo",
        "mknod",
    )
}
LEFT = {
    "execv": "another program sees the user's own files",
    "execve": "another program",
    "posix_spawn": "another program",
    "posix_spawnp": "another program",
    "chroot": "only the superuser has use for it",
    "fchdir": "takes a folder that is open",
    "fspath": "asks an object for its path",
    "memfd_create": "a name that is no path",
    "_path_normpath": "works on text",
}
"""Functions that take a path and are as they were, and why."""
HANDLED = {"open", *_LOOKS, *_CHANGES}
