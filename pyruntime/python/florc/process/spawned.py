"""Ranks that the script starts itself: `torch.multiprocessing.spawn(train, args=(2,), nprocs=2)`.

Each of its processes is recorded as a rank is that a launcher started, in a store of its own in the folder of the script's run.
What Python sends to such a process through a pipe, to begin with, is kept in its journal, so that a replay can start it again. A
process that shares queues, locks or memory with the script cannot be started again alone: it runs as it did without florc.
"""

from __future__ import annotations

import os
import sys

from .. import _native
from ..project.script import SPAWNED, Script
from . import start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Call = Callable[..., Any]
    """(the function itself, fn, args, nprocs, join, daemon, start_method) -> what it returns."""

FOLDER = "spawned"
"""In the folder of a run: a store for each call (`Places`)."""
_OF_TORCH = "torch.multiprocessing.spawn"
_TEXT = "import florc.process.spawned as spawned\nspawned.run()\n"
_MOST_BYTES = 1 << 20
"""What is sent to a process is functions by name, and arguments: more are data, which do not belong into a journal."""
_SHARED = tuple(
    f"multiprocessing.{name}".encode()
    for name in ("synchronize", "queues", "managers", "connection", "heap", "shared_memory", "sharedctypes", "reductions")
)
"""Modules whose objects, in what is sent to a process, belong to others, too. Open files are counted."""

given: bytes | None = None
"""In a replay: what was sent to this process when it was recorded."""
on_payload: Callable[[bytes | None], None] = lambda _: None
"""While recording: told what was sent; None where it cannot be sent again."""


def script(path: str) -> Script:
    """What such a process runs. `path`: the script that started it."""
    return Script(path, _TEXT, [path], SPAWNED)


class Places:
    """Where a script calls `start_processes`: the place in the loop nest, and how often it was called there before."""

    def __init__(self) -> None:
        self._calls: dict[str, int] = {}

    def store(self, folder: str) -> str:
        """The store of the call at hand, in the folder of the stores."""
        path = _native.loop_path()
        number = self._calls[path] = self._calls.get(path, -1) + 1
        return os.path.join(folder, f"{path.replace('/', ',') or 'top'}-{number}")


class _Heard:
    """A stream that remembers what was read of it."""

    def __init__(self, stream: Any):
        self._stream, self.data = stream, b""

    def read(self, size: int = -1) -> bytes:
        found: bytes = self._stream.read(size)
        self.data += found
        return found

    def readline(self) -> bytes:
        found: bytes = self._stream.readline()
        self.data += found
        return found


def run() -> None:
    """What `multiprocessing.spawn.spawn_main` does. Does not return."""
    import io
    from multiprocessing import process, reduction, resource_tracker
    from multiprocessing import spawn as plain

    if given is not None:
        stream: Any = io.BytesIO(given)
        sentinel, _ = os.pipe()  # what would tell that the script is gone
    else:
        assert start.spawned is not None
        resource_tracker._resource_tracker._fd = start.spawned["tracker"]  # type: ignore[attr-defined]  # as `spawn_main` does itself
        sentinel = os.dup(start.spawned["pipe"])
        stream = _Heard(os.fdopen(start.spawned["pipe"], "rb"))
    own: Any = process.current_process()
    own._inheriting = True
    try:
        plain.prepare(reduction.pickle.load(stream))  # type: ignore[attr-defined]  # it imports pickle for others
        started = reduction.pickle.load(stream)  # type: ignore[attr-defined]  # it imports pickle for others
    finally:
        del own._inheriting
    if given is None:
        _tell(stream.data)
    sys.exit(started._bootstrap(sentinel))


def _tell(data: bytes) -> None:
    assert start.spawned is not None
    is_alone = not start.spawned["handles"] and len(data) <= _MOST_BYTES and not any(name in data for name in _SHARED)
    on_payload(data if is_alone else None)


def plain_words(told: dict[str, Any]) -> list[str]:
    """The arguments of Python for such a process without florc."""
    code = f"from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd={told['tracker']}, pipe_handle={told['pipe']})"
    return ["-c", code, "--multiprocessing-fork"]


def watch(call: Call) -> None:
    """From now on, `call` stands in the place of `torch.multiprocessing.start_processes`."""

    def install() -> None:
        module: Any = sys.modules[_OF_TORCH]
        itself = module.start_processes

        def start_processes(
            fn: Any, args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
        ) -> Any:
            return call(itself, fn, args, nprocs, join, daemon, start_method)

        start_processes.__doc__, start_processes.__module__ = itself.__doc__, itself.__module__
        for place in (module, sys.modules.get("torch.multiprocessing")):
            if getattr(place, "start_processes", None) is itself:
                place.start_processes = start_processes  # type: ignore[union-attr]  # it has that function

    start.after_import(_OF_TORCH, install)


class Recorded:
    """Starts them as `florc record`. `options`: those that the script is recorded with; `path`: the script; `folder`: for their
    stores."""

    def __init__(self, folder: str, path: str, options: list[str]):
        self._folder, self._path, self._options, self._places = folder, path, options, Places()

    def call(
        self, itself: Callable[..., Any], fn: Any, args: Any, nprocs: int, join: bool, daemon: bool, start_method: str
    ) -> Any:
        """Stands in the place of `start_processes`."""
        import json
        from multiprocessing import popen_spawn_posix as starter
        from multiprocessing import spawn as plain

        store = self._places.store(self._folder)
        if start_method != "spawn":
            return itself(fn, args, nprocs, join, daemon, start_method)
        wrap: Any = vars(sys.modules[_OF_TORCH])["_wrap"]
        launch: Any = starter.Popen._launch  # type: ignore[attr-defined]  # typeshed lists no private names

        def launch_recorded(popen: Any, started: Any) -> None:
            if started._target is not wrap:
                return launch(popen, started)  # type: ignore[no-any-return]  # what it calls returns nothing
            line: Any = plain.get_command_line

            def command(**sent: int) -> list[str]:
                told = {"store": store, "script": self._path, "rank": started._args[1], "of": nprocs}
                handles = {"pipe": sent["pipe_handle"], "tracker": sent["tracker_fd"], "handles": len(popen._fds) > 1}
                os.environ[start.SPAWNED] = json.dumps({**told, **handles})
                return start.command("record", *self._options, self._path)

            plain.get_command_line = command
            try:
                launch(popen, started)
            finally:
                plain.get_command_line = line
                os.environ.pop(start.SPAWNED, None)

        starter.Popen._launch = launch_recorded  # type: ignore[attr-defined]  # typeshed lists no private names
        try:
            return itself(fn, args, nprocs, join, daemon, start_method)
        finally:
            starter.Popen._launch = launch  # type: ignore[attr-defined]  # typeshed lists no private names


class _Over:
    """A process that is over."""

    pid, exitcode = None, 0

    def is_alive(self) -> bool:
        """It is not."""
        return False

    def join(self, timeout: float | None = None) -> None:
        """There is nothing to wait for."""


class Ended:
    """What `start_processes` returns of processes that a replay has run: they are over."""

    def __init__(self, nprocs: int):
        self.processes = [_Over() for _ in range(nprocs)]

    def pids(self) -> list[None]:
        """Of none."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """There is nothing to wait for."""
        return True
