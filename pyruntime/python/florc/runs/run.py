"""One recorded run: begin it, keep what it consists of, read it back."""

from __future__ import annotations

import os
import sys
import time
from _blake2 import blake2b  # without OpenSSL, which `hashlib` loads

from .. import _native
from ..process import start
from ..project.script import Unusable
from ..support import regular
from ..support.console import say
from ..support.high import raised
from ..support.light import dumps, suppress
from ..support.private import private_file, private_folder
from . import circumstances, described, trust
from . import relocate as moved
from .commit import commit_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    from ..process.launcher import Rank

try:
    import fcntl
except ImportError:  # no such locks on this platform: a run that was killed looks like one that is running
    fcntl = None  # type: ignore[assignment]  # there is none on Windows

CUT = ("killed", "interrupted", "cut off")
"""How a run ends that has an unfinished iteration."""
SEALED = 2
"""The first version of the journal that says whose it is, and which run it is of."""


def store_path() -> str:
    """`FLORC_DIR`, or `.florc` in the working directory; absolute. Of a process that the script spawned, the store of those."""
    if start.spawned is not None:
        return str(start.spawned["store"])
    return os.path.abspath(os.environ.get("FLORC_DIR") or ".florc")


def _take_back(folder: str) -> None:
    """Remove the folder of a run that did not begin, which nobody could name otherwise."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


class Run:
    """The folder of one run. `info` describes it, as the first record of its journal does; paths in it are where the project
    lies now."""

    def __init__(self, store: str, run_id: str, info: dict[str, Any], since: moved.Moved | None = None, rank: int = 0):
        self.store, self.id, self.moved, self.rank = store, run_id, since, rank
        self.info = info if since is None else since.info(info)
        self.path = os.path.join(store, "runs", run_id)
        self.disagreeing: list[str] = []
        """Fields of `run.json` that say something else than the journal."""
        self.unclear = ""
        """Why the journal is not known to be of this run."""
        self.is_own = False
        """Whether this user recorded it; known once its journal was read."""
        self.key: bytes | None = None
        """What a run that is being recorded is sealed with."""
        self.note: _native._Note = lambda kind, **payload: None
        """Adds a record to the journal of a run that is being recorded."""
        self._recorded: _Recorded | None = None
        self._lock: IO[str] | None = None

    @classmethod
    def begin(
        cls,
        store: str,
        script: str,
        argv: list[str],
        module: str | None,
        name: str | None,
        hash_seed: str,
        rank: Rank | None = None,
        joined: str | None = None,
    ) -> Run:
        """Make a new run's folder; `joined`: the run of this id, which its first rank has begun. Raises Unusable when the store
        cannot be written."""
        suffix = f"-{name}" if name else ""
        run_id = joined or f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}{suffix}"
        try:
            _native.create_store(store)
            for folder in ("", "source"):
                private_folder(os.path.join(store, "runs", run_id, folder))
        except (_native.StoreError, OSError) as error:
            if joined is None:
                _take_back(os.path.join(store, "runs", run_id))
            raise Unusable("F206", f"cannot write the run store {store}: {error}; set FLORC_DIR to another folder") from None
        run = cls(
            store,
            run_id,
            {
                "format": described.FORMAT,
                "id": run_id,
                "name": name,
                "script": script,
                "module": module,
                "argv": argv,
                "cwd": os.getcwd(),
                "store": store,
                "hash_seed": hash_seed,
                "started": time.time(),
                "status": "running",
                "python": sys.version.split()[0],
                "platform": _platform(),
                "executable": sys.executable,
                "ranks": rank and rank.to_json(),
                "commit": commit_of(os.path.dirname(script)),
            },
            rank=rank.number if rank is not None else 0,
        )
        run.key, why = trust.key_to_record()
        if run.key is None:
            say(f"the run cannot be sealed as yours ({why}): replay will ask for --trust")
        try:
            run.lock()
            run.save()
        except OSError:  # a full disk: nothing is left of a run that did not begin
            run.take_back()
            raise
        return run

    def head(self) -> dict[str, Any]:
        """The first record of the journal: what the run is."""
        return {
            "format": described.FORMAT,
            "rank": self.rank,
            **{name: self.info.get(name) for name in described.HEAD},
            "environment": {name: os.environ.get(name) for name in circumstances.VARIABLES},
        }

    def located(self, script: str | None) -> Run:
        """This run, wherever its project lies now; `script`: the one that is asked for."""
        since = moved.since(self.info, self.store, script)
        if since is None:
            return self
        found = Run(self.store, self.id, self.info, since, self.rank)
        found.disagreeing, found.unclear = self.disagreeing, self.unclear
        return found

    def file(self, recorded: str) -> str:
        """Where a recorded file lies now."""
        return recorded if self.moved is None else self.moved.path(recorded)

    def own(self, name: str) -> str:
        """The path of a file or folder in its folder that is of this rank alone: `run.json`, of rank 1 `run.1.json`."""
        stem, dot, form = name.partition(".")
        return os.path.join(self.path, f"{stem}.{self.rank}{dot}{form}" if self.rank else name)

    @property
    def journal(self) -> str:
        """The path of the journal."""
        return os.path.join(self.path, f"journal.{self.rank}")

    @property
    def ranks(self) -> int:
        """How many processes a launcher started for it; 0 where none did."""
        told = self.info.get("ranks")
        return 0 if told is None else int(told["of"])

    def take_back(self) -> None:
        """It did not begin: remove what nobody could name otherwise. Another rank may have begun."""
        if not self.rank:
            _take_back(self.path)

    def lock(self) -> None:
        """Hold the run's lock: released by the operating system however the process ends."""
        if fcntl is not None:
            low = private_file(self.own("lock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK)
            self._lock = os.fdopen(raised(low), "w")
            with suppress(OSError):
                fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def is_running(self) -> bool:
        """Whether the recording process still lives."""
        if self.info.get("status") != "running":
            return False
        if fcntl is None:
            return True
        try:
            with open(self.own("lock"), "r+") as file:
                fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # several replays ask at the same time
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def is_replayed(self) -> bool:
        """Whether a replay of it goes on: each holds a lock beside its files."""
        if fcntl is None:
            return False
        import glob

        for lock in glob.glob(os.path.join(glob.escape(self.path), "replays", "*", "files", "lock")):
            try:
                with open(lock, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError:  # it ended meanwhile
                continue
        return False

    def save(self) -> None:
        """Write `run.json` whole: a reader sees the old one or the new one."""
        path = self.own("run.json")
        with open(path + ".new", "w", encoding="utf-8", opener=private_file) as file:
            file.write(dumps(self.info, indent=1))
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)

    # -- what it consists of ---------------------------------------------------------------------------------------

    def load(self) -> _Recorded:
        """The journal, read once. Raises Unusable when there is none, or when it is of another run."""
        if self._recorded is None:
            found = _Recorded(self)
            if found.sources is not None:
                sources = found.sources if self.moved is None else self.moved.sources(found.sources)
                self.info = {**self.info, "sources": sources}
            self.is_own = found.is_own
            self._recorded = found
        return self._recorded

    def keep_source(self, file: str, text: str, module: str, package: str) -> None:
        """Keep the text of a project file as it was run; the journal names it by its hash."""
        data = text.encode("utf-8", "surrogateescape")
        name = blake2b(file.encode("utf-8", "surrogateescape") + b"\0" + data, digest_size=8).hexdigest()
        kept = f"{name}-{os.path.basename(file)}"
        with open(os.path.join(self.path, "source", kept), "wb", opener=private_file) as out:
            out.write(data)
        entry = {"kept": kept, "module": module, "package": package, "hash": _hash_of(data)}
        described.add_source(self.info.setdefault("sources", {}), file, entry)
        self.note("source", file=file, **entry)

    def source(self, file: str) -> str | None:
        """The text of a project file as it was run; None when the run did not use it. Raises Unusable when it is damaged."""
        self.load()
        entry = self.info.get("sources", {}).get(file)
        if entry is None:
            return None
        path = os.path.join(self.path, "source", entry["kept"])
        try:
            data = regular.read(path)
        except OSError as error:
            raise Unusable("F205", _damaged_source(path, file, (error.strerror or str(error)).lower())) from None
        if entry["hash"] != _hash_of(data, len(entry["hash"]) // 2):
            raise Unusable("F205", _damaged_source(path, file, "it does not match its hash in the journal"))
        return data.decode("utf-8", "surrogateescape")

    def files(self) -> list[tuple[str, str, str, str]]:
        """The project as it was run: name as a module, package, path and text of each file that can still be read."""
        self.load()
        found = []
        for file, entry in self.info.get("sources", {}).items():
            text = self.source(file)
            if text is not None:
                found += [(module, package, file, text) for module, package in described.modules_of(entry)]
        return found

    def texts(self) -> dict[str, str]:
        """The user's files as they were run, by path: those of them that can still be read."""
        return {file: text for module, _, file, text in self.files() if _native.followed(module) is None}

    def imports(self) -> list[tuple[str, float]]:
        """The libraries' modules that the script imported and their seconds; empty where that is not known."""
        return [(str(name), float(seconds)) for name, seconds in (self.info.get("report") or {}).get("imports", ())]

    @property
    def status(self) -> str:
        """`ok`, `exception`, `interrupted`, `exit N`, `running`, `killed`, or `cut off`: its journal ends before its end."""
        told = str(self.info.get("status"))
        if self._recorded is not None and self._recorded.version >= SEALED:
            if self._recorded.ending is not None:
                return self._recorded.ending
            if told != "running":
                return "cut off"
        return told if told != "running" or self.is_running() else "killed"


def _platform() -> str:
    """The operating system, as `platform.platform()` has it, which takes long to import."""
    found = os.uname()
    return f"{found.sysname}-{found.release}-{found.machine}"


class _Recorded:
    """What the journal of a run holds."""

    def __init__(self, run: Run):
        own = trust.key()
        try:
            self.reader = _native.RunReader(run.store, run.id, run.rank, own)
            entries = self.reader.records()
        except ValueError as error:  # the name of the run's folder
            raise Unusable("F205", f"{error}; remove {run.path}") from None
        except _native.StoreError as error:
            is_lost = f"journal.{run.rank}" in str(error)
            way_out = (
                "; a run cannot be replayed without its journal: record the script again, or choose another run (`florc runs`)"
            )
            raise Unusable("F205", f"{error}{way_out * is_lost}") from None
        self.records = [(kind, _record(run, kind, text)) for kind, text in entries]
        self.version: int = self.reader.version
        self.is_own: bool = self.reader.sealed and self.version >= SEALED
        self.sources: dict[str, Any] | None = None
        self.ending: str | None = None
        if self.version >= SEALED:
            self._bind(run, entries)
        elif run.info.get("format", 1) >= SEALED:
            raise Unusable(
                "F208",
                f"{run.journal} is of an earlier version of florc than {run.own('run.json')} beside it says; "
                "choose another run (`florc runs`)",
            )

    def _bind(self, run: Run, entries: list[tuple[str, str]]) -> None:
        journal = run.journal
        if not entries:
            what = f"at {self.reader.damaged or self.reader.torn}" if self.reader.damaged or self.reader.torn else "empty"
            raise Unusable(
                "F205",
                f"{journal} is damaged {what}; a run cannot be replayed without its journal: record the script "
                "again, or choose another run (`florc runs`)",
            )
        why = of_another_run(run, entries[0][0], _parsed(run, *entries[0]))
        if why:
            raise Unusable("F208", f"{journal} {why}; choose another run (`florc runs`)")
        self.sources = {}
        for kind, record in self.records:
            if isinstance(record, _native.Source):
                source = {"kept": record.kept, "module": record.module, "package": record.package, "hash": record.hash}
                if not described.is_source(source) or not described.is_path(record.file):
                    raise Unusable("F208", f"{journal} holds a record ({kind}) that this version of florc cannot read")
                described.add_source(self.sources, record.file, source)
            elif isinstance(record, _native.End):
                self.ending = record.status


def of_another_run(run: Run, kind: str, head: Any) -> str:
    """Why the first record of a journal is not that of this run; empty when it is."""
    if kind != "run":
        return "does not begin with what it is a journal of"
    why = described.amiss(head)
    if why:
        return f"begins with a record that cannot be used: {why}"
    is_it = head.get("id") == run.id and head.get("rank", 0) == run.rank
    return "" if is_it else f"is the journal of another run, {head.get('id')}"


def _parsed(run: Run, kind: str, text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unusable("F208", unreadable(run, kind, error)) from None


def _record(run: Run, kind: str, text: str) -> _native._Record | None:
    try:
        return _native.read_record(kind, text)
    except ValueError as error:
        raise Unusable("F208", unreadable(run, kind, error)) from None


def unreadable(run: Run, kind: str, error: Exception) -> str:
    """Why a run with such a record cannot be used."""
    return (
        f"the journal of {run.id} holds a record ({kind}) that this version of florc cannot read: "
        f"{error!r}; record the script again"
    )


def _hash_of(data: bytes, size: int = 32) -> str:
    return blake2b(data, digest_size=min(max(size, 16), 32)).hexdigest()


def _damaged_source(path: str, file: str, why: str) -> str:
    return f"{path}, the text of {os.path.relpath(file)} as it was run, is damaged: {why}; record the script again"
