"""Functions of C that ask something outside the script: which they are, and how each value is kept and given back.

They are looked at where they are (`src/inputs/sources.rs`): whoever calls them, and however the call is written.
"""

from __future__ import annotations

import sys

from ..support.light import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ANY = sys.maxsize
HEAR = "hear"
"""The form of what reads a connection."""
_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_OF_TIME: tuple[tuple[str, str, str, str, int], ...] = (
    *(("time", name, f"time.{name}", "float", 0) for name in _CLOCKS),
    *(("time", f"{name}_ns", f"time.{name}_ns", "whole", 0) for name in _CLOCKS),
    ("time", "clock_gettime", "time.clock_gettime", "float", 1),
    ("time", "clock_gettime_ns", "time.clock_gettime_ns", "whole", 1),
    ("time", "strftime", "time.strftime", "other", 1),
    *(("time", name, f"time.{name}", "other", 0) for name in ("ctime", "localtime", "gmtime", "asctime")),
    ("_datetime", "datetime.now", "datetime.datetime.now", "other", 1),
    ("_datetime", "datetime.utcnow", "datetime.datetime.utcnow", "other", 0),
    ("_datetime", "date.today", "datetime.date.today", "other", 0),
)
"""Module, name, what it is called, form (`float`, `whole`: 64 bits, `other`, `seed`, `read`, `hear`, `starts`, `waits`,
`given out`), and with how many arguments its value still comes from outside. More of them say what it is computed from."""

_OF_SCRIPT: tuple[tuple[str, str, str, str, int], ...] = (
    ("posix", "times", "os.times", "other", _ANY),
    ("posix", "getloadavg", "os.getloadavg", "other", _ANY),
    ("resource", "getrusage", "resource.getrusage", "other", _ANY),
    ("gc", "get_count", "gc.get_count", "other", _ANY),
    ("gc", "get_stats", "gc.get_stats", "other", _ANY),
    ("_tracemalloc", "get_traced_memory", "tracemalloc.get_traced_memory", "other", _ANY),
    ("_tracemalloc", "get_tracemalloc_memory", "tracemalloc.get_tracemalloc_memory", "other", _ANY),
    ("sys", "getsizeof", "sys.getsizeof", "whole", _ANY),
    ("sys", "getrefcount", "sys.getrefcount", "whole", _ANY),
    ("sys", "getallocatedblocks", "sys.getallocatedblocks", "whole", _ANY),
    ("_socket", "gethostname", "socket.gethostname", "other", _ANY),
    ("posix", "statvfs", "os.statvfs", "other", _ANY),
    ("_socket", "socket.getsockname", "socket.getsockname", "given out", _ANY),
    ("_thread", "get_native_id", "threading.get_native_id", "given out", _ANY),
    ("posix", "getppid", "os.getppid", "given out", _ANY),
    ("gc", "get_objects", "gc.get_objects", "given out", _ANY),
)
"""What the script's own files ask for."""

_OF_ANYBODY: tuple[tuple[str, str, str, str, int], ...] = (
    ("posix", "urandom", "os.urandom", "other", _ANY),
    ("posix", "getrandom", "os.getrandom", "other", _ANY),
    ("_uuid", "generate_time_safe", "uuid.uuid1", "other", _ANY),
    ("_ssl", "RAND_bytes", "ssl.RAND_bytes", "other", _ANY),
    ("_random", "Random.seed", "random.seed", "seed", 0),
    ("torch._C", "Generator.seed", "torch.Generator.seed", "other", _ANY),
    ("posix", "read", "os.read", "read", _ANY),
    ("_socket", "socket.recv", "socket.recv", HEAR, _ANY),
    ("_socket", "socket.recv_into", "socket.recv_into", HEAR, _ANY),
    ("_ssl", "_SSLSocket.read", "ssl.read", HEAR, _ANY),
    ("_posixsubprocess", "fork_exec", "fork_exec", "starts", _ANY),
    ("posix", "posix_spawn", "posix_spawn", "starts", _ANY),
    ("posix", "waitpid", "os.waitpid", "waits", _ANY),
    *(("_io", f"FileIO.{name}", f"io.FileIO.{name}", "read", _ANY) for name in ("read", "readinto", "readall")),
)
"""The same for libraries, too: with what they draw they compute."""

TABLE = [*((*each, False) for each in _OF_SCRIPT), *((*each, True) for each in (*_OF_TIME, *_OF_ANYBODY))]

HAND_ON = {
    "random",
    "secrets",
    "uuid",
    "timeit",
    "datetime",
    "_pydatetime",
    "numpy",
    "pathlib",
    "shutil",
    "tracemalloc",
    "codecs",
    "contextlib",
    "florc.replay.files.looks",
    "florc.replay.files.opens",
    "florc.replay.files.redirection",
    "florc.replay.files.handles",
    "florc.replay.session.loggers",
    "florc.process.methods",
    "florc.process.start",
}
"""Modules that ask because somebody asked them: that one's is the value."""

IN_NO_RESULT = {
    "tempfile",
    "multiprocessing",
    "email",
    "importlib",
    "linecache",
    "tokenize",
    "torch._dynamo.bytecode_transformation",
    "torch._dynamo.utils",
}
"""Modules whose entropy decides names and keys, and nothing that a script computes."""

WAIT = {
    "torch._dynamo",
    "torch._inductor",
    "multiprocessing",
    "threading",
    "queue",
    "selectors",
    "sched",
    "asyncio",
    "concurrent",
    "subprocess",
    "socket",
    "socketserver",
    "ssl",
}
"""Modules that wait by a clock for threads and children, which are there again in a replay; and compilers, which measure
themselves."""

_INTO = {"io.FileIO.readinto": 0, "socket.recv_into": 0, "ssl.read": 1}
"""What writes into a buffer -> which argument that is."""
_READ = ("os.read", "io.FileIO.read", "io.FileIO.readall", "socket.recv", "ssl.read")
"""What returns bytes, no more than an argument says."""
_RANDOM = ("os.urandom", "os.getrandom", "ssl.RAND_bytes")


def encode(name: str, value: Any, args: tuple[Any, ...]) -> str:
    """A value as text."""
    naive: Any
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str):
        return value
    if value is None and name.startswith("io."):
        return "~"
    if name in _INTO and type(value) is int:
        return bytes(memoryview(args[_INTO[name]]).cast("B")[:value]).hex()
    if name.startswith("datetime."):
        naive = value.replace(tzinfo=None) if getattr(value, "tzinfo", None) is not None else value
        return str(naive.isoformat()) + "~" * getattr(naive, "fold", 0)
    if name == "uuid.uuid1":
        return dumps([value[0].hex(), value[1]])
    if name.startswith("time."):
        return dumps([*value, value.tm_zone, value.tm_gmtoff])
    return dumps(value)


def decode(name: str, this: Any, kept: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The value again; NotImplemented where this call asks for another one than the recorded call did."""
    if kept == "~" and name.startswith("io."):
        return None
    if name in _INTO and len(args) > _INTO[name]:
        value, into = bytes.fromhex(kept), memoryview(args[_INTO[name]]).cast("B")
        if len(value) > len(into):
            return NotImplemented
        into[: len(value)] = value
        return len(value)
    if name in _RANDOM or name in _READ:
        value = bytes.fromhex(kept)
        most = args[name == "os.read"] if args and name != "io.FileIO.readall" else None
        if name in _RANDOM:
            most = args[0] if args else next(iter((kwargs or {}).values()), None)
            return value if most == len(value) else NotImplemented
        return value if type(most) is not int or most < 0 or len(value) <= most else NotImplemented
    if name in ("time.strftime", "time.ctime", "time.asctime", "socket.gethostname"):
        return kept
    if name.startswith("datetime."):
        made = this.fromisoformat(kept.rstrip("~"))
        if name == "datetime.date.today":
            return made
        zone = (args or [*(kwargs or {}).values(), None])[0] if name == "datetime.datetime.now" else None
        return made.replace(tzinfo=zone, fold=kept.count("~"))
    import json

    value = json.loads(kept)
    if name == "torch.Generator.seed":
        this.manual_seed(value)
        return value
    if name == "uuid.uuid1":
        return bytes.fromhex(value[0]), value[1]
    if name.startswith("time."):
        return sys.modules["time"].struct_time(value)
    if name == "os.times":
        return sys.modules["posix"].times_result(value)
    if name == "resource.getrusage":
        return sys.modules["resource"].struct_rusage(value)
    if name == "os.statvfs":
        return sys.modules["posix"].statvfs_result(value)
    return tuple(value) if name != "gc.get_stats" else value
