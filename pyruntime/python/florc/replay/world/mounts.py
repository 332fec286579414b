"""What is mounted where, and the namespace of the world of a replay (`entry.py`)."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable

from ... import _native
from ...support.high import raised

PSEUDO = frozenset(
    {
        "proc",
        "sysfs",
        "cgroup",
        "cgroup2",
        "devtmpfs",
        "devpts",
        "mqueue",
        "debugfs",
        "tracefs",
        "securityfs",
        "pstore",
        "bpf",
        "configfs",
        "hugetlbfs",
        "fusectl",
        "binfmt_misc",
        "efivarfs",
        "rpc_pipefs",
        "nsfs",
        "selinuxfs",
        "autofs",
    }
)
"""Kinds of file systems that hold no files."""
_OCTAL = re.compile(rb"\\([0-7]{3})")
"""How the kernel writes blanks in paths."""


def layers(folder: str, where: str, number: int) -> str:
    """An upper layer for a folder; the folder shows its mode and times."""
    base = os.path.join(where, str(number))
    upper, found = os.path.join(base, "upper"), os.stat(folder)
    for path in (base, upper, os.path.join(base, "work")):
        os.mkdir(path, 0o700)
    mode = stat.S_IMODE(found.st_mode)
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.chown(upper, found.st_uid, found.st_gid)
    elif found.st_uid != os.geteuid():  # it is the user's own here, with the rights that the user has there
        may = sum(bit for bit, asked in ((0o400, os.R_OK), (0o200, os.W_OK), (0o100, os.X_OK)) if os.access(folder, asked))
        mode = mode & ~0o700 | may
    os.chmod(upper, mode)
    os.utime(upper, ns=(found.st_atime_ns, found.st_mtime_ns))
    return upper


def mounts() -> dict[str, tuple[str, bool]]:
    """Where something is mounted -> its kind, and whether it is read-only."""
    found: dict[str, tuple[str, bool]] = {}
    with open("/proc/self/mountinfo", "rb") as file:
        for line in map(os.fsdecode, file):
            own, _, of = line.partition(" - ")
            words, kind = own.split(), of.split()
            path = os.fsdecode(_OCTAL.sub(lambda match: bytes([int(match[1], 8)]), os.fsencode(words[4])))
            found[path] = kind[0], "ro" in (*words[5].split(","), *kind[-1].split(","))
    return found


def is_pseudo(path: str) -> bool:
    """Whether a path is one of the kernel's own."""
    return (
        path in ("/proc", "/sys", "/dev")
        or path.startswith(("/proc/", "/sys/"))
        or path.startswith("/dev/")
        and path != "/dev/shm"
    )


def sockets() -> list[str]:
    """Sockets by path: behind an overlay, nobody would listen."""
    with contextlib.suppress(OSError), open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
        paths = {line.split(None, 7)[7].rstrip("\n") for line in file if line.count(" ") and "/" in line}
        return [path for path in paths if path.startswith("/") and os.path.exists(path)]
    return []


def ray() -> str:
    """Where the programs of a Ray cluster meet."""
    return os.path.join(os.environ.get("RAY_TMPDIR") or "/tmp", "ray")


def by_number(folder: str) -> str:
    """A path that leads to this folder whatever covers it later."""
    return f"/proc/self/fd/{raised(os.open(folder, os.O_PATH | os.O_CLOEXEC))}"


def tops_of(folders: Iterable[str], there: dict[str, tuple[str, bool]]) -> list[str]:
    """The folders of this user's that these lie in, and the home folder, up to the first one of somebody else's. In a user
    namespace, what is in another user's or group's folder cannot be changed, so these are covered by themselves. Raises OSError
    where that would not do."""
    found: dict[str, None] = {}
    home = os.path.realpath(os.path.expanduser("~"))
    for folder in (*map(os.path.realpath, folders), home):
        if not os.access(folder, os.W_OK):
            continue
        if any(other.startswith(f"{folder}/") for other in there):
            if folder == home:
                continue
            raise OSError(f"something is mounted below {folder}")
        at, top = folder, ""
        while at != "/" and _owner(at) == (os.geteuid(), os.getegid()):
            at, top = os.path.dirname(at), at
        if top:
            found[top] = None
        elif folder not in there and folder.count("/") > 1 and folder != home:
            raise OSError(f"{folder} belongs to another user or group")
    return sorted(found)


def _owner(folder: str) -> tuple[int, int]:
    found = os.stat(folder)
    return found.st_uid, found.st_gid


def begun() -> tuple[int, bool]:
    """What `world_begin` returns. A plain user's process tries it in a child: some systems allow the namespace, and nothing in
    it, and there is no way back. Raises OSError."""
    if os.geteuid() != 0:
        child = os.fork()
        if child == 0:
            code = 0
            try:
                _native.world_begin()
            except OSError as error:
                code = error.errno or 1
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            raise OSError(code, os.strerror(code))
    return _native.world_begin()
