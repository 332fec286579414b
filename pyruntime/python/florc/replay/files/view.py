"""What a replay sees of the user's files: a view that copies on write.

The replay never touches the user's files. What it changes is below its own folder, at the path of the user's file. It hides
what it removed, and what the recorded run made and this replay has not yet made. All other files are the user's own. Forked
processes share the view: each change is a line in a file that all of them read.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterable, Iterator

from ... import _native
from ...runs.found_files import FILE, FOLDER, LINK, NONE, Noted
from ...support.copying import copy
from ...support.high import raised
from ..select.skipped import Skipped
from .doubts import Doubts, asks_for
from .kinds import ADDED, GONE, HERE, KEPT, LOST, OWN, PAST, PLAIN, Entry, Found, is_really_there
from .removing import remove
from .unnamed import Unnamed

_lstat, _readlink = os.lstat, os.readlink
TREE = "tree"
"""In the folder of a view: what the replay changed, each file at its path."""


class View:
    """The files of one replay. All paths are real: absolute, without links."""

    def __init__(
        self,
        folder: str,
        notes: dict[str, Noted],
        skipped: Skipped,
        listed: dict[str, set[str]] | None = None,
        pid: int | None = None,
        is_shared: bool = False,
        of_ranks: dict[str, Noted] | None = None,
        stays: Callable[[str], bool] = lambda path: False,
    ):
        """`pid`: the number of the recorded process, where the script may name files by it. `is_shared`: with processes that were
        not forked from this one. `of_ranks`: what is known of files that ranks changed which the script starts (`show`). `stays`:
        whether a path is shown as it is now, not as the recorded run found it (`remembered`)."""
        self.upper = os.path.join(folder, TREE)
        """What the replay changed."""
        self._beside = os.path.join(folder, "found")
        self._entries: dict[str, Entry] = {}
        self._inside: dict[str, set[str]] = {}
        """Folder -> names of the paths in it that are not the user's own."""
        self._of_ranks = set(of_ranks or ()) - notes.keys()
        notes = {**(of_ranks or {}), **notes}
        self._notes, self._skipped, self._listed, self._stays = notes, skipped, listed or {}, stays
        """`_listed`: what the recorded run found in folders; names that are new since are left out of lists, but can be
        opened."""
        self.lock = threading.RLock()
        self.changed: Callable[[], None] = lambda: None
        """Called when a link, or what it leads to, may have changed."""
        self.is_added: Callable[[], bool] = lambda: False
        """Whether an added statement runs."""
        self.is_late: Callable[[str, str], bool] = lambda path, where: False
        """Whether a file has been changed since the recorded run began, by what nobody heard."""
        self.outside = ""
        """What paths of the user's begin with, where the replay has a world of its own."""
        self.is_apart = False
        """Whether the replay has one, of its own or shared."""
        self.has_others = False
        """Whether the script starts programs, which are outside the view."""
        self.handed: Callable[[str], None] = lambda path: None
        """Told of what added statements write at its own path."""
        self.as_then: Callable[[str, Found], Found | None] = lambda path, found: None
        """Where what the recorded run read is, as far as that is known (`AsThen`)."""
        self.doubts = Doubts(self.upper, notes, skipped, self.is_own)
        self.unnamed = Unnamed(notes, skipped, lambda path: self._entries[path].clock >= 0, pid)
        os.makedirs(self.upper, exist_ok=True)
        self._log = raised(os.open(os.path.join(folder, "log"), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
        self._read_to = 0
        self._is_shared = False
        self._pid = os.getpid()
        os.register_at_fork(before=self._before_fork, after_in_child=self._after_fork)
        for path, noted in notes.items():
            self._begin_with(path, noted)
        self._is_shared = is_shared

    def _begin_with(self, path: str, noted: Noted) -> None:
        if self._stays(path):
            if is_really_there(path):
                self._enter(path, Entry(ADDED))
        elif noted.was == NONE:
            self._enter(path, Entry(GONE))
        elif noted.was == FILE:
            self._enter(path, Entry(KEPT))
        elif noted.was in (FOLDER, LINK):
            self.prepare(path)
            with contextlib.suppress(OSError):
                os.symlink(noted.target, self.at(path)) if noted.was == LINK else os.makedirs(self.at(path), exist_ok=True)
            # a folder that is there holds what it held
            self._enter(path, Entry(HERE) if noted.was == LINK or not os.path.isdir(path) else Entry(ADDED))

    def _before_fork(self) -> None:
        self._is_shared = True

    def _after_fork(self) -> None:
        self.lock = threading.RLock()  # a thread of the parent may have held it

    # -- looking ---------------------------------------------------------------------------------------------------

    def at(self, path: str) -> str:
        """Where the replay's own version of a path is."""
        return self.upper + path

    def find(self, path: str) -> Found:
        """What a path is."""
        self._sync()
        if not self._entries:
            return Found(PLAIN, path)
        entry = self._entries.get(path)
        if entry is not None:
            if (entry.clock < 0 or entry.kind == OWN) and self._is_in_own(path):
                return Found(OWN, path)  # whatever the recorded run found there
            if entry.kind != HERE and self._is_past(path, entry):
                return Found(PAST, path)
            if entry.kind == GONE and self._is_made_by_others(path):
                return Found(PLAIN, path)
            return self._content(path) if entry.kind == KEPT and not entry.where else self._of(path, entry)
        above = path
        while above and above != "/":
            above = above.rpartition("/")[0]
            entry = self._entries.get(above)
            if entry is None or entry.kind == ADDED:
                continue
            if entry.kind == OWN:
                return Found(OWN, path)
            if not (entry.kind == GONE and self._is_past(above, entry)):
                return Found(GONE, self.at(path))
        return Found(PLAIN, path)

    def _is_made_by_others(self, path: str) -> bool:
        """Whether a program, or native code, has made what lies there in the replay's own world, where nothing was."""
        return bool(self.outside) and is_really_there(path) and not is_really_there(self.outside + path)

    def _is_of_others(self, path: str) -> bool:
        """The same, or whether they have changed it."""
        return bool(self.outside) and _state(path) not in (None, _state(self.outside + path))

    def _of(self, path: str, entry: Entry) -> Found:
        if entry.kind in (HERE, GONE):
            return Found(entry.kind, self.at(path))
        return Found(entry.kind, entry.where or path)

    def _content(self, path: str) -> Found:
        """A file that the recorded run found otherwise than it is: its old content is looked for when it is asked for."""
        where = self._notes[path].content(self._beside)
        if where == path:
            return Found(PLAIN, path)
        if where is None:
            return Found(LOST, path) if os.path.lexists(path) else Found(GONE, self.at(path))
        self._entries[path] = Entry(KEPT, where)
        return Found(KEPT, where)

    def _is_in_own(self, path: str) -> bool:
        """Whether the script made it as a temporary file, in this replay, or it lies in such a folder."""
        while path:
            entry = self._entries.get(path)
            if entry is not None and (entry.kind == OWN or entry.clock >= 0):
                return entry.kind == OWN
            path = path.rpartition("/")[0]
        return False

    def _lags(self, path: str, found: Found) -> bool:
        """Whether the recorded run changed, in what was skipped, what this replay shows: the user's file, or its own temporary
        one."""
        return found.kind == PAST or found.kind == OWN and path in self._entries and self._is_past(path, self._entries[path])

    def _is_past(self, path: str, entry: Entry) -> bool:
        """Whether the recorded run changed it in what this replay has skipped since."""
        noted = self._notes.get(path)
        if noted is None or entry.clock >= self._clock:
            return False
        return any(self._skipped.holds(place) for place in noted.places)

    @property
    def _clock(self) -> int:
        return len(self._skipped.blocks) + sum(self._skipped.jumps.values())

    def exists(self, path: str) -> bool:
        """Whether a path exists, even as a link that leads nowhere."""
        found = self.find(path)
        return found.kind != GONE and os.path.lexists(found.where)

    def is_own(self, path: str) -> bool:
        """Whether the script made the path as a temporary file, or in a temporary folder."""
        return self.find(path).kind == OWN

    def is_scripts(self, path: str) -> bool:
        """Whether the script changes the path, now or in the recorded run."""
        entry = self._entries.get(path)
        return path in self._notes or entry is not None and entry.kind in (GONE, HERE, KEPT)

    def may(self, where: str, mode: int) -> bool:
        """Whether the user may do that there; what is read-only in the replay alone may be written to: that goes elsewhere."""
        return os.access(where, mode) or bool(self.outside) and os.access(self.outside + where, mode)

    def is_made_now(self, path: str) -> bool:
        """Whether this replay made what the path is."""
        entry = self._entries.get(path)
        return entry is not None and entry.clock >= 0

    def written(self) -> builtins.list[str]:
        """The files that this replay wrote, and no block that it skipped."""
        self._sync()
        made = [path for path, entry in self._entries.items() if entry.kind == HERE and entry.clock >= 0]
        return [path for path in made if os.path.isfile(self.at(path)) and not self.is_short(path, self.find(path))]

    def is_folder(self, path: str) -> bool:
        """Whether a folder exists at the path."""
        found = self.find(path)
        with contextlib.suppress(OSError):
            return found.kind != GONE and stat.S_ISDIR(_lstat(found.where).st_mode)
        return False

    def link(self, path: str) -> str | None:
        """Where a symbolic link leads; None for all else."""
        found = self.find(path)
        with contextlib.suppress(OSError):
            if stat.S_ISLNK(_lstat(found.where).st_mode):
                if self._lags(path, found):
                    self.doubts.past(path, False)
                return _readlink(found.where)
        return None

    def is_plain_below(self, path: str) -> bool:
        """Whether the list of a folder equals that of the user's own."""
        return path not in self._inside and path not in self._listed and self.find(path).kind in (PLAIN, OWN, PAST)

    def names(self, path: str) -> builtins.list[str]:
        """The names in a folder, in the order in which the user's own folder lists them. Raises OSError."""
        found = self.find(path)
        known = self._inside.get(path, ())
        own = os.listdir(path) if found.kind != HERE or os.path.isdir(path) else []
        listed = own if found.kind != HERE else os.listdir(found.where)
        if path in self._listed and found.kind in (PLAIN, ADDED):
            listed = [name for name in listed if name in self._listed[path]]
        self.list(path)
        names = {name for name in listed if name not in known or self.exists(f"{path}/{name}")}
        names |= {name for name in known if self.exists(f"{path}/{name}")}
        for name in known if asks_for() is not None else ():
            self.look_for(f"{path}/{name}", self.find(f"{path}/{name}"))
        order = {name: n for n, name in enumerate(own)}
        rest = sorted(name for name in names if name not in order)
        return [
            *(name for name in own if name in names),
            *(name for name in listed if name in rest),
            *(name for name in rest if name not in listed),
        ]

    def list(self, path: str) -> None:
        """The script is about to ask for the names in a folder."""
        if (self.unnamed.is_doubtful or self.doubts.is_behind(path)) and asks_for() is not None:
            blocks = self.unnamed.blocks(path, is_listed=True)
            self.doubts.elsewhere(path, blocks)
            self.doubts.miss(path, blocks)
            self.doubts.elsewhere(path, self.unnamed.numbered_in(path))

    def read(self, path: str, found: Found) -> Found:
        """The script is about to read a file, which may differ from the recorded one. Returns what it reads."""
        known = self.as_then(path, found)
        if known is None and found.kind == PLAIN and not self.is_added() and self._is_of_others(path):
            _native.took_elsewhere()  # it is what they say now
        if known is None and found.kind == KEPT and path in self._notes and self._notes[path].is_unhashed:
            self.doubts.unhashed(path)
        elif known is None and self._is_unheard(path, found):
            self.doubts.late(path, True)
        elif known is None:
            self._doubt(path, found, True)
        return known or found

    def look(self, path: str, found: Found) -> None:
        """The script is about to ask about a path: whether it exists, how large it is, where it leads."""
        if self._is_unheard(path, found):
            self.doubts.late(path, False)
        if self.doubts.is_empty:
            return
        wanted = asks_for()
        if wanted == "existence":
            self.look_for(path, found)
        elif wanted is not None and not (self._lags(path, found) and os.path.isdir(found.where)):
            self._doubt(path, found, False)

    def _is_unheard(self, path: str, found: Found) -> bool:
        """Whether an added statement asks for a file that a program or native code has changed since, as far as anybody knows."""
        is_asked = found.kind == PLAIN and path not in self._entries and path not in self._notes and self.is_added()
        return is_asked and self.is_late(path, self.outside + path)

    def look_for(self, path: str, found: Found) -> None:
        """The script asks whether a path exists."""
        entry = self._entries.get(path)
        if entry is not None and self._is_past(path, entry):
            self.doubts.existence(path, found.where)
        if self.unnamed.is_doubtful or self.doubts.is_behind(path):
            is_there = found.kind != GONE and os.path.lexists(found.where)
            self.doubts.elsewhere(path, self.unnamed.blocks(path, is_there=is_there), is_there=is_there)
            if not is_there:
                self.doubts.miss(path, self.unnamed.numbered(path))

    def missing(self, path: str) -> None:
        """The script needed a path and did not find it."""
        if self.doubts.is_empty or asks_for() != "all" or self.exists(path):
            return
        if path in self._notes and self._lags(path, self.find(path)):
            self.doubts.missing(path)
        self.doubts.miss(path, self.unnamed.blocks(path))

    def _doubt(self, path: str, found: Found, is_read: bool) -> None:
        if self._lags(path, found):
            self.doubts.past(path, is_read)
        elif found.kind == LOST:
            self.doubts.lost(path, is_read)
        elif found.kind == OWN or found.kind == HERE and self._entries[path].clock >= 0 or self.doubts.is_behind(path):
            self.doubts.own(path, is_read)
        if self.unnamed.is_doubtful and not os.path.isdir(found.where):
            self.doubts.elsewhere(path, self.unnamed.blocks(path), is_read)

    def is_short(self, path: str, found: Found) -> bool:
        """Whether a file or a folder may lack what a skipped block wrote to it."""
        return (
            found.kind == PAST
            or self.doubts.is_behind(path)
            or path in self._notes
            and self._is_past(path, self._entries[path]._replace(clock=-1))
            or self.unnamed.is_doubtful
            and bool(self.unnamed.blocks(path, is_listed=os.path.isdir(found.where)))
        )

    # -- changing --------------------------------------------------------------------------------------------------

    def prepare(self, path: str) -> None:
        """Make the folders above the replay's own version of a path."""
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)

    def made(self, path: str, kind: str = HERE, where: str = "", anew: bool = False) -> None:
        """A path is now below the replay's folder, or what `kind` says. `anew`: its earlier content is gone."""
        if anew:
            self.doubts.behind.pop(path, None)
        if kind in (ADDED, OWN) and self.is_added():
            self.handed(path)
        self._change(path, Entry(kind, where, -1 if kind == OWN and self.is_added() else self._clock))

    def made_own(self, path: str, anew: bool = False) -> None:
        """The script makes something in one of its temporary folders. The view notes it if it knows the path."""
        if path in self._entries:
            self.made(path, OWN, anew=anew)

    def remove_own(self, path: str, is_certain: bool) -> None:
        """The replay is over: remove what the script made under a recorded temporary name, or where nothing was (`is_certain`).
        It is no file of the user."""
        entry = self._entries.get(path)
        if (is_certain or path in self._notes) and entry is not None and entry.kind == OWN and os.path.lexists(path):
            with contextlib.suppress(OSError):
                remove(path)

    def removed(self, path: str) -> None:
        """A path and all below it are removed."""
        self.doubts.behind.pop(path, None)
        if self._is_made_by_others(path):
            with contextlib.suppress(OSError):
                remove(path)
        own = self.at(path)
        if os.path.isdir(own) and not os.path.islink(own):
            shutil.rmtree(own, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.remove(own)
        self._change(path, Entry(GONE, "", self._clock))

    def copied(self, path: str, found: Found) -> str:
        """The path of a file that may be changed in place: a copy, unless the file is the replay's own."""
        if found.kind in (HERE, OWN):
            return found.where
        with self.lock:
            self.prepare(path)
            copy(found.where, self.at(path))
            self.made(path)
        return self.at(path)

    def _change(self, path: str, entry: Entry) -> None:
        with self.lock:
            os.write(self._log, (json.dumps([path, *entry]) + "\n").encode())
            if not self._is_shared:
                self._read_to = os.lseek(self._log, 0, os.SEEK_END)
            self._enter(path, entry)

    def _enter(self, path: str, entry: Entry) -> None:
        if entry.kind == GONE:
            for below in list(self._below(path)):
                if below in self._notes:
                    self._entries[below] = Entry(GONE, "", entry.clock)
                else:
                    del self._entries[below]
                    self._inside[os.path.dirname(below)].discard(os.path.basename(below))
        self._entries[path] = entry
        if path not in self._notes:
            if entry.kind in (HERE, OWN) and entry.clock >= 0:
                self.unnamed.made[path] = None
            else:
                self.unnamed.made.pop(path, None)
        folder, _, name = path.rpartition("/")
        self._inside.setdefault(folder or "/", set()).add(name)
        self.changed()

    def show(self, paths: Iterable[str], tree: str) -> set[str]:
        """From now on the script finds at these paths what other processes of the run wrote: below `tree` what they wrote in this
        replay, else what the user has there. Returns the paths of the former."""
        written: set[str] = set()
        with self.lock:
            for path in sorted(paths):
                where = tree + path if is_really_there(tree + path) else path
                if path in self._notes and path not in self._of_ranks or not is_really_there(where):
                    continue
                if where != path:
                    written.add(path)
                if not stat.S_ISDIR(_lstat(where).st_mode):
                    self._enter(path, Entry(KEPT, where, self._clock))
                elif is_really_there(path):
                    self._enter(path, Entry(ADDED, "", self._clock))
                else:
                    self.prepare(path)
                    os.makedirs(self.at(path), exist_ok=True)
                    self._enter(path, Entry(HERE, "", self._clock))
        return written

    def _below(self, path: str) -> Iterator[str]:
        for name in self._inside.get(path, ()):
            yield from list(self._below(f"{path}/{name}"))
            if f"{path}/{name}" in self._entries:
                yield f"{path}/{name}"

    def _sync(self) -> None:
        """Learn what other processes of this replay changed."""
        if not self._is_shared or os.fstat(self._log).st_size <= self._read_to:
            return
        with self.lock:
            data = os.pread(self._log, 1 << 30, self._read_to)
            whole = data[: data.rfind(b"\n") + 1]
            self._read_to += len(whole)
            for line in whole.splitlines():
                path, *entry = json.loads(line)
                self._enter(path, Entry(*entry))


def _state(path: str) -> tuple[int, int] | None:
    """Size and time of what really lies there; None where nothing does."""
    with contextlib.suppress(OSError, ValueError):
        found = _lstat(path)
        return found.st_size, found.st_mtime_ns
    return None
