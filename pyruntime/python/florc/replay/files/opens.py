"""The functions of Python that open files, in the view of a replay, and what added statements write through them."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...inputs import standard_input
from ...process import output
from ...process.native_writers import ANEW, READ, UPDATED
from .handles import opened, watched
from .kinds import ADDED, GONE, HERE, OWN, PLAIN, Found

if TYPE_CHECKING:
    from .redirection import Functions

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_UNNAMED = getattr(os, "O_TMPFILE", 0)
_OPEN, _stat = os.open, os.stat


class Opens:
    """Replaces these functions. `functions`: a `redirection.Functions`."""

    def __init__(self, functions: Functions) -> None:
        self._functions, self._view = functions, functions.view
        self.beside: dict[str, None] = {}
        """Files of the script that an added statement wrote: only in the view."""
        self.added: dict[str, int | None] = {}
        """What an added statement wrote at its real path -> its length before; None: it did not exist."""
        self._updated: dict[str, list[tuple[int, int]]] = {}
        """Databases that are open -> sizes and times of their files when the last added statement began."""
        self.endings: dict[str, tuple[str, ...]] = {}
        """Databases -> what the names of the files beside them end with."""
        self._watched = watched(io.FileIO, self._view.doubts.descriptor, self._wrote)
        self._open: weakref.WeakSet[Any] = weakref.WeakSet()
        """What the script opened to write to."""

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
                self._functions.inside.discard(threading.get_ident())  # the script's opener may open files itself
            if opener is not None or self._view.doubts.is_watched(file):
                made = opened(self._watched, file, mode, buffering, encoding, errors, newline, closefd, opener)
                if made is not None:
                    if not self._functions.is_added():
                        self._open.add(made)
                    return made
        else:
            opener = self.opener
            real = self._functions.resolve(file)
            is_scripts = real is not None and (self._view.is_scripts(real) or not set("wax+").isdisjoint(mode))
            if is_scripts and not self._functions.is_added():
                made = opened(self._watched, file, mode, buffering, encoding, errors, newline, closefd, opener)
                if made is not None:
                    self._open.add(made)
                    return made
        return original(file, mode, buffering, encoding, errors, newline, closefd, opener)

    def open_code(self, original: Any, path: Any) -> Any:
        """`io.open_code`."""
        real = self._functions.resolve(path)
        return original(path) if real is None else self._functions.call(original, self._view.find(real).where, path)

    def opener(self, path: Any, flags: int) -> int:
        """The opener that `open` gets."""
        me = threading.get_ident()
        was_inside = me in self._functions.inside
        self._functions.inside.add(me)
        try:
            return self.open(_OPEN, path, flags, 0o666)
        finally:
            if not was_inside:
                self._functions.inside.discard(me)

    def open(self, original: Callable[..., int], path: Any, flags: int, mode: int = 0o777, *, dir_fd: Any = None) -> int:
        """`os.open`."""
        real = self._functions.resolve(path, not flags & os.O_NOFOLLOW, dir_fd)
        if real is None:
            return original(path, flags, mode, dir_fd=dir_fd)
        found = self._view.find(real)
        if _UNNAMED and flags & _UNNAMED == _UNNAMED:
            return self._functions.call(original, found.where, path, flags, mode)
        if not flags & _WRITES:
            if not os.path.isdir(found.where):
                found = self._view.read(real, found)
            return self._functions.call(original, found.where, path, flags, mode)
        where = self._to_write(real, path, flags, found)
        try:
            return self._functions.call(original, where, path, flags, mode)
        except FileExistsError:
            if where != real or found.kind != GONE:
                raise
        where = self._functions.left(real, path)
        self._view.made(real)
        return self._functions.call(original, where, path, flags, mode)

    def _to_write(self, real: str, path: Any, flags: int, found: Found) -> str:
        """Where a file is opened for writing."""
        is_there = found.kind != GONE and os.path.lexists(found.where)
        if is_there and (os.path.isdir(found.where) or not os.path.isfile(found.where)):
            return found.where  # a folder is an error, a pipe or a device no file
        if not is_there and not flags & os.O_CREAT:
            return self._view.at(real)
        is_temporary = not is_there and self._functions.is_temporary(real, bool(flags & os.O_EXCL))
        if not (is_temporary and tempfile.tempdir is None):  # a file that is tried: nothing of it stays, whoever asks
            own = self._as_added(real, found)
            if own is not None:
                return own
        if found.kind == OWN:
            self._view.made_own(real, anew=bool(flags & os.O_TRUNC))
            return real
        if is_temporary:
            self._functions.made_temporary(real)
            return real
        if is_there and flags & os.O_EXCL and flags & os.O_CREAT:
            raise self._functions.fail(errno.EEXIST, path)
        if not is_there:
            self._functions.check_parent(real, path)
            self._view.prepare(real)
            self._view.made(real)
        elif found.kind != HERE:
            if not self._view.may(found.where, os.W_OK):
                raise self._functions.fail(errno.EACCES, path)
            if flags & os.O_TRUNC:
                self._make_anew(real, found)
            else:
                return self._view.copied(real, found)
        else:
            self._view.made(real, anew=bool(flags & os.O_TRUNC))
        return self._view.at(real)

    def _make_anew(self, real: str, found: Found) -> None:
        self._view.prepare(real)
        mode = os.stat(found.where).st_mode & 0o7777
        os.close(_OPEN(self._view.at(real), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        os.chmod(self._view.at(real), mode)
        self._view.made(real)

    def _as_added(self, real: str, found: Found) -> str | None:
        """Where an added statement writes: the user's own file, unless it is one of the script's."""
        if output.child is not None:
            output.child.wrote(real)
        if not self._functions.is_added():
            return None
        if found.kind in (ADDED, OWN):
            self._view.handed(real)
            return found.where
        if found.kind == PLAIN or found.kind == GONE and not self._view.is_scripts(real):
            os.makedirs(os.path.dirname(real), exist_ok=True)
            self.note_added(real)
            self._view.made(real, ADDED)
            return real
        self.beside[real] = None
        return None

    def note_added(self, real: str) -> None:
        """An added statement is about to write to its real path."""
        self.added.setdefault(real, os.path.getsize(real) if os.path.exists(real) else None)

    def _states(self, path: str) -> list[tuple[int, int]]:
        states = []
        for ending in ("", *self.endings[path]):
            try:
                found = _stat(self._view.at(path + ending))
                states.append((found.st_size, found.st_mtime_ns))
            except OSError:
                states.append((0, 0))
        return states

    def flush(self) -> None:
        """Before an added statement, and at its end: write what is buffered, so that what the statement writes is known to be
        its own."""
        for path, known in self._updated.items():
            self._updated[path] = self._states(path)
            if self._functions.is_added() and self._updated[path] != known:
                self.beside[path] = None
        for file in list(self._open) if len(self._open) else ():  # to iterate over an empty one takes 3 us
            with contextlib.suppress(ValueError, OSError):  # closed, or read from; the script will see why not
                file.flush()

    def _wrote(self, descriptor: int) -> None:
        if self._functions.is_added() or output.child is not None and output.child.depth:
            path = self._view.doubts.path_of(descriptor)
            if path is not None:
                self.beside[path] = None
                if output.child is not None:
                    output.child.wrote(path)

    def native(self, path: str, how: str, endings: Sequence[str] = ()) -> str:
        """The path that a function gets which opens files natively."""
        if not self._functions.is_on or threading.get_ident() in self._functions.inside:
            return path
        self._functions.inside.add(threading.get_ident())
        try:
            return self._native(path, how, endings)
        finally:
            self._functions.inside.discard(threading.get_ident())

    def _native(self, path: str, how: str, endings: Sequence[str]) -> str:
        real = self._functions.resolve(path)
        if real is None:
            return path
        found = self._view.find(real)
        if how == READ or how == UPDATED and found.kind == PLAIN and self._view.is_scripts(real):  # it was not written then
            found = self._view.read(real, found)
            if not self._functions.is_added():
                self._view.missing(real)
            return path if found.where == real else found.where
        if how == UPDATED:  # what is changed in place is read, too: a database
            found = self._view.read(real, found)
        flags = os.O_RDWR | os.O_CREAT | (os.O_TRUNC if how == ANEW else 0)
        is_asked = how == UPDATED and self._functions.is_added() and real not in self.beside
        try:
            where = self._to_write(real, path, flags, found)
            if is_asked:  # it may only ask
                self.beside.pop(real, None)
            if how == UPDATED:
                self.endings[real] = tuple(endings)
                self._updated[real] = self._states(real)
        except OSError:  # the function says what is wrong, in its own words
            parent = os.path.dirname(real)
            return self._view.at(real) if os.path.isdir(parent) and self._view.may(parent, os.W_OK) else path
        for ending in endings if where != real else ():
            self._to_write(real + ending, path, flags, self._view.find(real + ending))
            if is_asked:
                self.beside.pop(real + ending, None)
        return path if where == real else where
