"""The functions of Python that name paths, as they are during a replay: each maps its paths into the view.

The script sees its own spelling of a path: in names of files, in entries of folders, and in errors.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from ... import _native
from ...support.light import OWN as OWN_FOLDER
from .kinds import OWN, is_really_there
from .looks import Looks
from .moves import Moves
from .opens import Opens
from .paths import Paths
from .stand_ins import replace_everywhere
from .view import View

_T = TypeVar("_T")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_UNNAMED = getattr(os, "O_TMPFILE", 0)


class Functions:
    """Replaces the functions. `is_added()`: whether an added statement runs."""

    def __init__(self, view: View, paths: Paths, is_added: Callable[[], bool]) -> None:
        self.view, self.paths, self.is_added = view, paths, is_added
        self.is_on = False
        self.inside: set[int] = set()
        """Threads that are in one of these functions."""
        self.temporary: dict[str, None] = {}
        """Temporary files and folders that the script made at their own paths and has not yet removed."""
        self.folders: list[str] = []
        """Folders of the user's that were made for a pipe, those around others first: the script's own are in the view."""
        self.opens, self.moves, self.looks = Opens(self), Moves(self), Looks(self)

    # -- putting them in place -------------------------------------------------------------------------------------

    def install(self) -> None:
        """Replace the functions, in this process and in those that it forks."""
        self.is_on = True
        made: dict[int, tuple[Any, Any]] = {}
        for holder, handlers in ((self.opens, {"open": Opens.open}), (self.moves, _CHANGES), (self.looks, _LOOKS)):
            for name, handler in handlers.items():
                original = getattr(os, name, None)
                if original is not None:
                    known = made.get(id(original))
                    made[id(original)] = known or (original, self._redirected(original, handler, name, "os", holder))
        for original, handler, name, module in (
            (io.open, Opens.open_file, "open", io.open.__module__.replace("_io", "io")),
            (io.open_code, Opens.open_code, "open_code", "io"),
        ):
            made[id(original)] = (original, self._redirected(original, handler, name, module, self.opens))
        made[id(io.FileIO)] = (io.FileIO, self._file_class())
        replace_everywhere(made)

    def _redirected(self, original: Any, handler: Callable[..., Any], name: str, module: str, holder: Any) -> Any:
        inside = self.inside

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
                is_free = functions.is_on and threading.get_ident() not in functions.inside
                if opener is None and not isinstance(file, int) and is_free:
                    opener = functions.opens.opener
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
        """Call a function with another path. An error names the path that was given."""
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
        """The error that the system call would raise."""
        if other is None:
            return OSError(number, os.strerror(number), os.fspath(path))
        return OSError(number, os.strerror(number), os.fspath(path), None, os.fspath(other))

    def check_parent(self, real: str, path: Any, other: Any = None) -> None:
        """Raise the error for a path whose folder does not exist or cannot be changed."""
        parent = real.rpartition("/")[0] or "/"
        self.check_folder(parent, path, other)
        if not self.view.may(self.view.find(parent).where, os.W_OK | os.X_OK):
            raise self.fail(errno.EACCES, path, other)

    def check_folder(self, folder: str, path: Any, other: Any = None) -> None:
        """Raise the error for a path in a folder that does not exist."""
        if self.view.is_folder(folder):
            return
        while not self.view.exists(folder):
            folder = folder.rpartition("/")[0] or "/"
        is_loop = self.view.link(folder) is not None
        raise self.fail(errno.ELOOP if is_loop else errno.ENOENT if self.view.is_folder(folder) else errno.ENOTDIR, path, other)

    def new(self, real: str, path: Any) -> str:
        """Where to make something new. Raises the error if the path exists."""
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

    def make_folder(self, folder: str) -> None:
        """Make a folder at its own path, where there is none. Raises OSError."""
        if not is_really_there(folder):
            self.make_folder(os.path.dirname(folder))
            os.mkdir(folder)
            self.folders.append(folder)

    def left(self, real: str, path: Any) -> str:
        """Where to make a temporary file or folder that the recorded run left at its path: in the view. Raises the error if the
        view has it already."""
        self.temporary.pop(real, None)
        self.view.removed(real)
        return self.new(real, path)

    def is_temporary(self, real: str, is_exclusive: bool = True) -> bool:
        """Whether what is made has to be at its own path, since sockets and other processes look for it there: `tempfile` makes
        it, as a new one, under a name in the system's folder; or it is made in shared memory, where nothing is."""
        if self.paths.is_meeting(real):
            return not is_really_there(real)
        if not is_exclusive:
            return False
        at: FrameType | None = sys._getframe(1)
        while at is not None and at.f_code.co_filename.startswith(OWN_FOLDER):
            at = at.f_back
        if at is None or at.f_globals.get("__name__") != "tempfile":
            return False
        if tempfile.tempdir is None:  # it looks for the folder: it writes to a file there, which it removes at once
            return at.f_code.co_name == "_get_default_tempdir"
        return os.path.dirname(real) == os.path.realpath(os.fsdecode(tempfile.tempdir))


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
    "mkdir": Moves.mkdir,
    "rmdir": Moves.rmdir,
    "remove": Moves.remove,
    "unlink": Moves.unlink,
    "rename": Moves.rename,
    "replace": Moves.replace,
    "link": Moves.link,
    "symlink": Moves.symlink,
    "truncate": Moves.truncate,
    "chmod": Moves.chmod,
    "chown": Moves.chown,
    "lchown": Moves.lchown,
    "utime": Moves.utime,
    "setxattr": Moves.setxattr,
    "removexattr": Moves.removexattr,
    "mkfifo": Moves.mkfifo,
    "mknod": Moves.mknod,
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
"""Functions that take a path and are not replaced, and why."""
HANDLED = {"open", *_LOOKS, *_CHANGES}
