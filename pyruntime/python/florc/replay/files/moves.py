"""The functions of Python that make, rename, remove and change paths, in the view of a replay."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...support.copying import copy
from .kinds import ADDED, HERE, KEPT, OWN, PLAIN, Found, is_pipe_at, is_really_there

if TYPE_CHECKING:
    from .redirection import Functions


class Moves:
    """Replaces these functions. `functions`: a `redirection.Functions`."""

    def __init__(self, functions: Functions):
        self._functions, self._view = functions, functions.view

    # -- making ----------------------------------------------------------------------------------------------------

    def mkdir(self, original: Callable[..., None], path: Any, mode: int = 0o777, *, dir_fd: Any = None) -> None:
        """`os.mkdir`."""
        functions, view = self._functions, self._view
        real = functions.resolve(path, True, dir_fd)
        if real is None:
            return original(path, mode, dir_fd=dir_fd)
        if view.exists(real):
            raise functions.fail(errno.EEXIST, path)
        parent = view.find(real.rpartition("/")[0] or "/")
        is_temporary = functions.is_temporary(real)
        if is_temporary or parent.kind == OWN:
            try:
                functions.call(original, real, path, mode)
            except FileExistsError:
                if not is_temporary:
                    raise
                functions.call(original, functions.left(real, path), path, mode)
                view.made(real)
                return None
            functions.made_temporary(real) if is_temporary else view.made_own(real)
            return None
        if functions.is_added() and not view.is_scripts(real):
            functions.check_parent(real, path)
            os.makedirs(real, mode, exist_ok=True)
            view.made(real, ADDED)
            return None
        functions.call(original, functions.new(real, path), path, mode)
        view.made(real)
        return None

    def mkfifo(self, original: Callable[..., None], path: Any, mode: int = 0o666, *, dir_fd: Any = None) -> None:
        """`os.mkfifo`."""
        self._make(original, path, dir_fd, (mode,), is_pipe=True)

    def mknod(self, original: Callable[..., None], path: Any, mode: int = 0o600, device: int = 0, *, dir_fd: Any = None) -> None:
        """`os.mknod`."""
        self._make(original, path, dir_fd, (mode, device), is_pipe=stat.S_ISFIFO(mode))

    def _make(self, original: Callable[..., None], path: Any, dir_fd: Any, args: tuple[Any, ...], is_pipe: bool) -> None:
        functions, view = self._functions, self._view
        real = functions.resolve(path, False, dir_fd)
        if real is None:
            return original(path, *args, dir_fd=dir_fd)
        if view.find(os.path.dirname(real)).kind == OWN:
            functions.call(original, real, path, *args)
            return view.made_own(real)
        where = functions.new(real, path)
        if not is_pipe or not self._meets(real):
            functions.call(original, where, path, *args)
            view.made(real)
        elif is_pipe_at(real):  # the recorded run left it: it holds nothing, and stays
            view.made(real, KEPT, real)
        else:
            functions.call(original, real, path, *args)
            functions.made_temporary(real)
            with contextlib.suppress(FileExistsError):  # for programs that are started in a folder of the view
                os.symlink(real, where)
        return None

    def _meets(self, real: str) -> bool:
        """Whether a pipe can be at its own path: programs look for it there that the script starts."""
        try:
            if self._view.is_apart:  # whatever lies there is the replay's own
                with contextlib.suppress(FileNotFoundError):
                    os.remove(real)
            elif not self._view.has_others:
                return False
            elif is_really_there(real):
                return is_pipe_at(real)
            self._functions.make_folder(os.path.dirname(real))
        except OSError:
            return False
        return True

    def _is_handed_out(self, real: str) -> bool:
        """Whether an added statement makes something where the script has nothing: it is for the user."""
        return self._functions.is_added() and self._view.find(real).kind == PLAIN

    def symlink(
        self, original: Callable[..., None], src: Any, dst: Any, target_is_directory: bool = False, *, dir_fd: Any = None
    ) -> None:
        """`os.symlink`: the text of the link stays as the script wrote it."""
        real = self._functions.resolve(dst, False, dir_fd)
        if real is None:
            return original(src, dst, target_is_directory, dir_fd=dir_fd)
        if self._view.exists(real):
            raise self._functions.fail(errno.EEXIST, src, dst)
        if self._is_handed_out(real):
            original(src, real, target_is_directory)
            return self._view.made(real, OWN)
        original(src, self._functions.new(real, dst), target_is_directory)
        self._view.made(real)
        return None

    def link(
        self,
        original: Callable[..., None],
        src: Any,
        dst: Any,
        *,
        src_dir_fd: Any = None,
        dst_dir_fd: Any = None,
        follow_symlinks: bool = True,
    ) -> None:
        """`os.link`: from then on both names are the replay's own."""
        functions, view = self._functions, self._view
        source, target = functions.resolve(src, False, src_dir_fd), functions.resolve(dst, False, dst_dir_fd)
        if source is None or target is None:
            return original(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, follow_symlinks=follow_symlinks)
        if not view.exists(source):
            raise functions.fail(errno.ENOENT, src, dst)
        if view.exists(target):
            raise functions.fail(errno.EEXIST, src, dst)
        if view.is_folder(source):
            raise functions.fail(errno.EPERM, src, dst)
        where = view.copied(source, view.find(source))
        if self._is_handed_out(target):
            copy(where, target)
            return view.made(target, OWN)
        original(where, functions.new(target, dst), follow_symlinks=False)
        view.made(target)
        if view.is_short(source, view.find(source)):
            view.doubts.behind[target] = None
        return None

    # -- removing --------------------------------------------------------------------------------------------------

    def unlink(self, original: Callable[..., None], path: Any, *, dir_fd: Any = None) -> None:
        """`os.unlink`, `os.remove`."""
        functions, view = self._functions, self._view
        real = functions.resolve(path, False, dir_fd)
        if real is None:
            return original(path, dir_fd=dir_fd)
        found = view.find(real)
        if not view.exists(real) or view.is_folder(real) or found.kind == OWN or self._is_added_own(found):
            return self._remove_really(original, found, path)
        functions.check_parent(real, path)
        view.removed(real)
        return None

    remove = unlink

    def rmdir(self, original: Callable[..., None], path: Any, *, dir_fd: Any = None) -> None:
        """`os.rmdir`."""
        functions, view = self._functions, self._view
        real = functions.resolve(path, False, dir_fd)
        if real is None:
            return original(path, dir_fd=dir_fd)
        found = view.find(real)
        if found.kind == OWN or self._is_added_own(found):
            return self._remove_really(original, found, path)
        if not view.exists(real):
            raise functions.fail(errno.ENOENT, path)
        if not view.is_folder(real):
            raise functions.fail(errno.ENOTDIR, path)
        if view.names(real):
            raise functions.fail(errno.ENOTEMPTY, path)
        functions.check_parent(real, path)
        view.removed(real)
        return None

    def _remove_really(self, original: Callable[..., None], found: Found, path: Any) -> None:
        is_pipe = is_pipe_at(found.where)
        self._functions.call(original, found.where, path)
        self._functions.temporary.pop(found.where, None)
        if is_pipe and self._view.find(os.path.dirname(found.where)).kind != OWN:  # a file of this name is none of these
            self._view.removed(found.where)

    def _is_added_own(self, found: Found) -> bool:
        """Whether an added statement removes what an added statement made."""
        return found.kind == ADDED and self._functions.is_added() and self._view.is_made_now(found.where)

    # -- renaming --------------------------------------------------------------------------------------------------

    def rename(
        self, original: Callable[..., None], src: Any, dst: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None
    ) -> None:
        """`os.rename`, `os.replace`."""
        functions, view = self._functions, self._view
        source, target = functions.resolve(src, False, src_dir_fd), functions.resolve(dst, False, dst_dir_fd)
        if source is None and target is None:
            return original(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        if source is None or target is None:
            return self._across(original, src, dst, source, target)
        found = view.find(source)
        self._check_rename(source, target, src, dst)
        if source == target:
            return None
        there = view.find(target)
        both_own = {found.kind, there.kind if view.exists(target) else view.find(os.path.dirname(target)).kind} == {OWN}
        is_short = view.is_short(source, found)
        if both_own:
            functions.call(original, source, src, target)
            functions.temporary.pop(source, None)
            view.made(target, found.kind)
            view.removed(source)
            if is_short:
                view.doubts.behind[target] = None
            return None
        if functions.is_added() and view.is_scripts(target):
            functions.opens.beside[target] = None
        elif functions.is_added() and (found.kind == ADDED or found.kind == HERE and source in functions.opens.beside):
            return self._hand_out(original, found, source, target, src)
        with view.lock:
            self._move(source, target)
        return None

    replace = rename

    def _hand_out(self, original: Callable[..., None], found: Found, source: str, target: str, src: Any) -> None:
        """An added statement gives what it wrote a name that is none of the script's."""
        functions, view = self._functions, self._view
        os.makedirs(os.path.dirname(target), exist_ok=True)
        functions.opens.note_added(target)
        try:
            functions.call(original, found.where, src, target)
        except OSError as error:
            if error.errno != errno.EXDEV or not os.path.isfile(found.where):
                raise
            shutil.move(found.where, target)  # each folder of the replay's world is a file system, as the user's are not
        if found.kind == HERE:
            functions.opens.beside.pop(source)
            view.removed(source)
        view.made(target, ADDED)  # and so is the other name, where nothing is: the statement may come again

    def _check_rename(self, source: str, target: str, src: Any, dst: Any) -> None:
        functions, view = self._functions, self._view
        functions.check_folder(os.path.dirname(source), src, dst)
        functions.check_folder(os.path.dirname(target), src, dst)
        if not view.exists(source):
            raise functions.fail(errno.ENOENT, src, dst)
        if target.startswith(source + "/"):
            raise functions.fail(errno.EINVAL, src, dst)
        if source.startswith(target + "/"):
            raise functions.fail(errno.ENOTEMPTY, src, dst)
        if not view.exists(target):
            return
        if view.is_folder(target):
            if not view.is_folder(source):
                raise functions.fail(errno.EISDIR, src, dst)
            if source != target and view.names(target):
                raise functions.fail(errno.ENOTEMPTY, src, dst)
        elif view.is_folder(source):
            raise functions.fail(errno.ENOTDIR, src, dst)

    def _move(self, source: str, target: str) -> None:
        view = self._view
        found = view.find(source)
        is_short = view.is_short(source, found)
        view.removed(target)
        view.prepare(target)
        if view.is_folder(source):
            os.mkdir(view.at(target))
            view.made(target)
            for name in view.names(source):
                self._move(f"{source}/{name}", f"{target}/{name}")
        elif found.kind == HERE:
            os.rename(found.where, view.at(target))
            view.made(target)
        elif os.path.islink(found.where):
            os.symlink(os.readlink(found.where), view.at(target))
            view.made(target)
        elif found.kind == OWN:
            shutil.move(found.where, view.at(target))
            view.made(target)
        else:  # the user's own file, under another name: it is only read
            view.made(target, KEPT, found.where)
        if found.kind == OWN and os.path.isdir(found.where):
            shutil.rmtree(found.where, ignore_errors=True)
        view.removed(source)
        if is_short:
            view.doubts.behind[target] = None

    def _across(self, original: Callable[..., None], src: Any, dst: Any, source: str | None, target: str | None) -> None:
        """One of both is not in the view."""
        if source is None:
            assert target is not None
            self._view.prepare(target)
            self._functions.call(original, os.fsdecode(os.fspath(src)), src, self._view.at(target))
            self._view.made(target)
            return
        where = self._view.copied(source, self._view.find(source))
        original(where, dst)
        self._view.removed(source)

    # -- changing --------------------------------------------------------------------------------------------------

    def _changed(
        self, original: Callable[..., Any], path: Any, follow: bool, dir_fd: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        functions, view = self._functions, self._view
        real = functions.resolve(path, follow, dir_fd)
        if real is None:
            return original(path, *args, **({} if dir_fd is None else {"dir_fd": dir_fd}), **options)
        found = view.find(real)
        if not view.exists(real) or functions.is_added() and found.kind in (PLAIN, ADDED):
            if functions.is_added():
                view.handed(real)
            return functions.call(original, found.where, path, *args, **options)
        if view.is_folder(real) and found.kind not in (HERE, OWN):
            os.makedirs(view.at(real), exist_ok=True)  # the user's own stays as it is
            return functions.call(original, view.at(real), path, *args, **options)
        if not stat.S_ISREG(os.lstat(found.where).st_mode):
            return None if found.kind not in (HERE, OWN) else functions.call(original, found.where, path, *args, **options)
        return functions.call(original, view.copied(real, found), path, *args, **options)

    def truncate(self, original: Callable[..., None], path: Any, length: int) -> None:
        """`os.truncate`."""
        self._changed(original, path, True, None, (length,), {})

    def chmod(self, original: Callable[..., None], path: Any, mode: int, *, dir_fd: Any = None, **options: Any) -> None:
        """`os.chmod`."""
        self._changed(original, path, options.get("follow_symlinks", True), dir_fd, (mode,), options)

    def chown(self, original: Callable[..., None], path: Any, uid: int, gid: int, *, dir_fd: Any = None, **options: Any) -> None:
        """`os.chown`."""
        self._changed(original, path, options.get("follow_symlinks", True), dir_fd, (uid, gid), options)

    def lchown(self, original: Callable[..., None], path: Any, uid: int, gid: int) -> None:
        """`os.lchown`."""
        self._changed(original, path, False, None, (uid, gid), {})

    def utime(self, original: Callable[..., None], path: Any, times: Any = None, *, dir_fd: Any = None, **options: Any) -> None:
        """`os.utime`."""
        self._changed(
            original, path, options.get("follow_symlinks", True), dir_fd, (times,) if "ns" not in options else (), options
        )

    def setxattr(
        self, original: Callable[..., None], path: Any, attribute: Any, value: Any, flags: int = 0, **options: Any
    ) -> None:
        """`os.setxattr`."""
        self._changed(original, path, options.get("follow_symlinks", True), None, (attribute, value, flags), options)

    def removexattr(self, original: Callable[..., None], path: Any, attribute: Any, **options: Any) -> None:
        """`os.removexattr`."""
        self._changed(original, path, options.get("follow_symlinks", True), None, (attribute,), options)
