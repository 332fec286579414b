"""The user's files in a replay: it sees them as the recorded run found them, and changes none.

A replay runs the script again, or a part of it, and the script writes checkpoints and logs. All that goes to a view
(`replay/files/view.py`) below the replay's own folder. florc removes this folder when the replay ends; a killed replay leaves
it, and the next replay of the run removes it. What an added statement writes goes to the user's own folder. If it is a file of
the script, florc puts a copy beside it.
"""

from __future__ import annotations

import contextlib
import glob
import os
import stat
from collections.abc import Callable, Collection, Container, Iterable
from typing import IO

from ...inputs import again as inputs_again
from ...process import native_writers
from ...project.script import Unusable
from ...runs.found_files import FOLDER_NAME, Noted
from ...runs.journal import History
from ...runs.run import Run
from ...support.console import say
from ...support.copying import copy
from ...support.high import raised
from ...trackers.known import EVENT_FILE
from ..select.skipped import Skipped
from .as_then import AsThen
from .enlarged import enlarged
from .kinds import SUFFIX, free, is_pipe_at, is_really_there
from .paths import Paths, remembered
from .redirection import Functions
from .removing import remove
from .unnamed import NUMBER
from .view import TREE, View

try:
    import fcntl
except ImportError:  # replays side by side are not told apart
    fcntl = None  # type: ignore[assignment]  # there is none on Windows

_lstat = os.lstat  # a replay replaces it
WORLD = "world"
"""In the folder of a replay: the upper layers of its world (`replay/world/`)."""
OTHERS = frozenset(
    {
        "subprocess",
        "Popen",
        "system",
        "popen",
        "posix_spawn",
        "spawnv",
        "spawnl",
        "pexpect",
        "spawn",
        "forkserver",
        "AF_UNIX",
        "init_process_group",
        "FileStore",
    }
)
"""Names by which a script starts programs, or has native code use files: these are outside the view."""


class UserFiles:
    """The view of one process. `folder`: the replay's own folder; `is_added()`: whether an added statement runs."""

    def __init__(
        self,
        run: Run,
        history: History,
        folder: str,
        skipped: Skipped,
        is_added: Callable[[], bool] = lambda: False,
        names: frozenset[str] = frozenset(),
        shared: Shared | None = None,
        of_ranks: dict[str, Noted] | None = None,
    ):
        """`names`: what the files of the project mention; `shared`: the view is that of all ranks; `of_ranks`: what is known of
        files that ranks changed which the script starts."""
        self._run, self._shared = run, shared
        self._folder = os.path.join(folder, FOLDER_NAME) if shared is None else shared.folder
        self._pid, self._is_added = os.getpid(), is_added
        _remove_left(os.path.dirname(folder))
        pid = history.pid if not names.isdisjoint(NUMBER) else None
        try:
            os.makedirs(self._folder, exist_ok=True)
            self._lock: IO[bytes] | bool | None = locked(self._folder) if shared is None else True
            notes = self._notes = history.noted_files()
            is_shared, stays = shared is not None, remembered(os.getcwd())
            self._view = View(self._folder, notes, skipped, history.folders, pid, is_shared, of_ranks, stays)
        except OSError as error:
            raise Unusable(
                "F206",
                f"cannot make {self._folder}, where the script's files go in a replay: "
                f"{(error.strerror or str(error)).lower()}; make room, or set FLORC_DIR to a copy of the store",
            ) from None
        self._view.is_added = is_added
        self._view.as_then = AsThen(self._view, history.read_back, notes, skipped)
        self._has_others = self._view.has_others = not names.isdisjoint(OTHERS)
        self._functions = Functions(self._view, Paths(self._view, run.store, os.getcwd()), is_added)

    def begun(self, sources: Container[str]) -> None:
        """The program is about to run. `sources`: its own files, which the user edits."""
        began = self._run.info["started"]

        def is_late(path: str, where: str) -> bool:
            if path in sources or path.startswith(("/proc/", "/sys/")):
                return False
            with contextlib.suppress(OSError):
                found = _lstat(where)
                return stat.S_ISREG(found.st_mode) and found.st_ctime >= began
            return False

        self._view.is_late = is_late

    @property
    def read_back(self) -> list[str]:
        """Sentences about files that were read after the script had written to them."""
        return list(self._view.doubts.read_back)

    @property
    def unsure(self) -> list[str]:
        """Sentences about files that were read and may differ from the recorded run."""
        return list(self._view.doubts.unsure)

    @property
    def flush(self) -> Callable[[], None]:
        """Called before an added statement, and at its end."""
        return self._functions.opens.flush

    def in_world(self, handed: Callable[[str], None], outside: str) -> None:
        """The replay has a world of its own (`replay/world/`). `handed` is told of what added statements write at its own path:
        it is brought there at the end; `outside`: what paths of the user's begin with."""
        self._view.handed, self._view.outside, self._view.is_apart = handed, outside, True

    def watch(self) -> None:
        """Start the view, in this process and in those that it forks."""
        self._functions.install()
        inputs_again.is_taken = self.is_taken
        native_writers.adapt(self._functions.opens.native, readers=True)

    def is_taken(self, path: str) -> bool:
        """Whether the recorded run left a temporary file or folder that programs of the script would change."""
        return self._has_others and is_really_there(path)

    def show(self, view: str, paths: Iterable[str]) -> set[str]:
        """The script finds from now on what ranks wrote, whose replay is over. `view`: the folder of their view (`Shared`);
        `paths`: what they wrote in the recorded run. Returns what they wrote in this replay."""
        kept = free(os.path.join(self._folder, "ranks"))
        with contextlib.suppress(OSError):  # they wrote nothing
            os.rename(os.path.join(view, TREE), kept)
        return self._view.show(paths, kept)

    def start_again(self, cannot_restore: Callable[[dict[str, str]], object]) -> None:
        """Let the replay start again (`Leave.cannot_restore`) if the script does not find what a skipped block wrote."""

        def missed(causes: dict[str, str]) -> None:
            if os.getpid() == self._pid and not self._is_added():
                cannot_restore(causes)

        self._view.doubts.missed = missed

    @property
    def causes(self) -> dict[str, str]:
        """What must run again so that the files that the script asked for are complete, and why."""
        return dict(self._view.doubts.causes)

    def end(self, again: bool = False, by_children: Iterable[str] = (), sources: Collection[str] | None = None) -> set[str]:
        """End the view: the script is over. `again`: the replay starts again, and its added statements with it. `by_children`:
        what added statements wrote in children; `sources`: the texts of the program, where all of it ran, with added statements.
        Returns the files of the script of which a copy is kept."""
        self._functions.is_on = False
        kept: set[str] = set()
        if os.getpid() != self._pid or self._lock is None:
            return kept
        if again:
            self._take_back()
        else:
            kept = self._put_beside(by_children, sources)
        for path in self._functions.temporary:  # the next replay needs the names
            self._view.remove_own(path, self._functions.paths.is_meeting(path) or is_pipe_at(path))
        for path in reversed(self._functions.folders):
            with contextlib.suppress(OSError):  # a program wrote to it, or removed it
                os.rmdir(path)
        if not os.path.isdir(os.getcwd()) or os.getcwd().startswith(self._folder):
            os.chdir("/")
        if self._shared is None:
            with contextlib.suppress(OSError):
                remove(self._folder)
        if not isinstance(self._lock, bool):
            self._lock.close()
        self._lock = None
        return kept

    def _take_back(self) -> None:
        """What added statements wrote will be written once more."""
        for path, size in self._functions.opens.added.items():
            with contextlib.suppress(OSError):
                if size is None:
                    os.remove(path)
                elif os.path.getsize(path) > size:
                    os.truncate(path, size)

    def _put_beside(self, by_children: Iterable[str], sources: Collection[str] | None) -> set[str]:
        own, kept = {**self._functions.opens.beside, **dict.fromkeys(by_children)}, set()
        more = [] if sources is None else [path for path in enlarged(self._view, self._notes, sources) if path not in own]
        for path in [*own, *more]:
            where, is_new = self._view.at(path), path not in self._notes and not os.path.lexists(self._view.outside + path)
            beside = free(f"{path}{SUFFIX}")
            if not os.path.isfile(where) or EVENT_FILE in os.path.basename(path):
                continue  # what added statements send to TensorBoard goes elsewhere (`trackers`), and it would read the copy
            try:
                copy(where, beside)
                for ending in self._functions.opens.endings.get(path, ()):  # of a database that was not closed
                    if os.path.isfile(where + ending):
                        copy(where + ending, beside + ending)
                        self._view.handed(beside + ending)
                self._view.handed(beside)
                said, there = os.path.relpath(path), os.path.relpath(beside)
                wrote = (
                    f"with what was added, the script made {said}, which the recorded run did not: it is in {there}"
                    if is_new
                    else f"an added statement wrote to {said}, which is a file of the script: what it wrote is in {there}"
                    if path in own
                    else f"with what was added, the script wrote more to {said} than in the recorded run: it is in {there}"
                )
                say(wrote, always=True, code="F508")
                kept.add(path)
            except OSError as error:
                say(
                    f"what an added statement wrote to {os.path.relpath(path)} is lost: {(error.strerror or str(error)).lower()}",
                    always=True,
                    code="F508",
                )
        return kept


class Shared:
    """The view that the ranks of a replay share: what one of them writes, the others read. Whoever starts them holds it."""

    def __init__(self, folder: str):
        self.folder = folder

    def begin(self) -> None:
        """Make its folder, empty. Raises OSError."""
        os.makedirs(self.folder)
        self._lock = locked(self.folder)

    def end(self) -> None:
        """Remove it: the ranks are over."""
        with contextlib.suppress(OSError):
            remove(self.folder)
        if not isinstance(self._lock, bool):
            self._lock.close()


def locked(folder: str) -> IO[bytes] | bool:
    """A lock on a replay's folder, held until this process ends, or it is closed; True where there are none. Raises OSError."""
    if fcntl is None:
        return True
    low = os.open(os.path.join(folder, "lock"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    lock = os.fdopen(raised(low), "wb")  # held until the process ends
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def _remove_left(replays: str) -> None:
    """What killed replays of this run left."""
    for folder in glob.glob(os.path.join(glob.escape(replays), "*", FOLDER_NAME)) + glob.glob(
        os.path.join(glob.escape(replays), "*", WORLD)
    ):
        with contextlib.suppress(OSError):
            if fcntl is None:
                continue
            with open(os.path.join(folder, "lock"), "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(folder)
