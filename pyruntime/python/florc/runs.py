"""The runs of a store: begin one, end one, list them, find one."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import platform
import secrets
import sys
import time
from typing import Any, Dict, List, Optional, Tuple

from . import _native, moved
from .launch import Unusable
from .messages import count, duration, say, size

try:
    import fcntl
except ImportError:  # no such locks on this platform: a run that was killed looks like one that is running
    fcntl = None  # type: ignore[assignment]


def store_path() -> str:
    """`FLORC_DIR`, or `.florc` in the working directory; absolute."""
    return os.path.abspath(os.environ.get("FLORC_DIR") or ".florc")


class Run:
    """The folder of one run. `info` is what `run.json` holds; paths in it are where the project lies now."""

    def __init__(self, store: str, run_id: str, info: Dict[str, Any], since: Optional[moved.Moved] = None):
        self.store, self.id, self.moved = store, run_id, since
        self.info = info if since is None else since.info(info)
        self.path = os.path.join(store, "runs", run_id)
        self._lock: Any = None

    @classmethod
    def begin(cls, store: str, script: str, argv: List[str], module: Optional[str], name: Optional[str],
              hash_seed: str) -> "Run":
        """Make a new run's folder. Raises Unusable when the store cannot be written."""
        suffix = f"-{name}" if name else ""
        run_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}{suffix}"
        try:
            _native.create_store(store)
            os.makedirs(os.path.join(store, "runs", run_id, "source"))
        except (_native.StoreError, OSError) as error:
            raise Unusable(f"cannot write the run store {store}: {error}; set FLORC_DIR to another folder") from None
        run = cls(store, run_id, {
            "format": 1, "id": run_id, "name": name, "script": script, "module": module, "argv": argv,
            "cwd": os.getcwd(), "store": store, "hash_seed": hash_seed, "started": time.time(), "status": "running",
            "python": platform.python_version(), "platform": platform.platform(), "executable": sys.executable,
        })
        run.lock()
        run.save()
        return run

    def located(self, script: Optional[str]) -> "Run":
        """This run, wherever its project lies now; `script`: the one that is asked for."""
        since = moved.since(self.info, self.store, script)
        return self if since is None else Run(self.store, self.id, self.info, since)

    def file(self, recorded: str) -> str:
        """Where a recorded file lies now."""
        return recorded if self.moved is None else self.moved.path(recorded)

    def lock(self) -> None:
        """Hold the run's lock: released by the operating system however the process ends."""
        if fcntl is not None:
            self._lock = open(os.path.join(self.path, "lock"), "w")
            with contextlib.suppress(OSError):
                fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def is_running(self) -> bool:
        """Whether the recording process still lives."""
        if self.info.get("status") != "running":
            return False
        if fcntl is None:
            return True
        try:
            with open(os.path.join(self.path, "lock"), "r+") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def save(self) -> None:
        """Write `run.json` whole: a reader sees the old one or the new one."""
        path = os.path.join(self.path, "run.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.info, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)

    def keep_source(self, file: str, text: str, module: str, package: str) -> None:
        """Keep the text of a project file as it was run; `save` makes it part of the run."""
        digest = hashlib.blake2b(file.encode(), digest_size=8).hexdigest()
        kept = f"{digest}-{os.path.basename(file)}"
        data = text.encode("utf-8", "surrogateescape")
        with open(os.path.join(self.path, "source", kept), "wb") as out:
            out.write(data)
        self.info.setdefault("sources", {})[file] = {"kept": kept, "module": module, "package": package,
                                                     "hash": _hash_of(data)}

    def source(self, file: str) -> Optional[str]:
        """The text of a project file as it was run; None when the run did not use it. Raises Unusable when it is damaged."""
        entry = self.info.get("sources", {}).get(file, {})
        kept = entry.get("kept")
        if kept is None or os.path.basename(kept) != kept:
            return None
        path = os.path.join(self.path, "source", kept)
        try:
            with open(path, "rb") as source:
                data = source.read()
        except OSError as error:
            raise Unusable(_damaged_source(path, file, (error.strerror or str(error)).lower())) from None
        if entry.get("hash", _hash_of(data)) != _hash_of(data):
            raise Unusable(_damaged_source(path, file, "it does not match its hash in run.json"))
        return data.decode("utf-8", "surrogateescape")

    def files(self) -> List[Tuple[str, str, str, str]]:
        """The project as it was run: name as a module, package, path and text of each file that can still be read."""
        found = []
        for file, entry in self.info.get("sources", {}).items():
            text = self.source(file)
            if text is not None:
                found.append((entry["module"], entry["package"], file, text))
        return found

    @property
    def status(self) -> str:
        """`ok`, `exception`, `interrupted`, `exit N`, `running` or `killed`."""
        recorded = str(self.info.get("status"))
        return recorded if recorded != "running" or self.is_running() else "killed"


def _hash_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _damaged_source(path: str, file: str, why: str) -> str:
    return f"{path}, the text of {os.path.relpath(file)} as it was run, is damaged: {why}; record the script again"


def all_runs(store: str) -> List[Run]:
    """Every run of a store, oldest first. A folder without a readable `run.json` is passed over."""
    return sorted((Run(store, run_id, info) for run_id, _, info, _ in _listed(store) if info is not None),
                  key=lambda run: (run.info.get("started", 0), run.id))


def damaged(store: str) -> List[Tuple[str, str]]:
    """The `run.json` files that are passed over, and why."""
    return [(path, why) for _, path, info, why in _listed(store) if info is None]


def _listed(store: str) -> List[Tuple[str, str, Optional[Dict[str, Any]], str]]:
    """For each folder of a run: its name, its `run.json`, what that holds, or why it cannot be read."""
    found = []
    with contextlib.suppress(OSError):
        for run_id in sorted(os.listdir(os.path.join(store, "runs"))):
            folder = os.path.join(store, "runs", run_id)
            if not os.path.isdir(folder):
                continue
            path = os.path.join(folder, "run.json")
            info, why = _read(path)
            found.append((run_id, path, info, why))
    return found


def _read(path: str) -> Tuple[Optional[Dict[str, Any]], str]:
    try:
        with open(path, encoding="utf-8") as file:
            info = json.load(file)
    except OSError as error:
        return None, (error.strerror or str(error)).lower()
    except ValueError as error:
        return None, str(error)
    is_run = isinstance(info, dict) and isinstance(info.get("script"), str) and isinstance(info.get("argv"), list)
    return (info, "") if is_run else (None, "it does not describe a run")


def tell_kept(store: str) -> None:
    """Older versions put the user's files back themselves. One whose replay was killed left copies: say where."""
    folder = os.path.join(store, "kept")
    kept = [path for path in glob.glob(os.path.join(glob.escape(folder), "*.path")) if os.path.exists(path[:-5])]
    if kept:
        say(f"{count(len(kept), 'file')} of yours, as a replay of an older version found them before it was killed, are in "
            f"{folder}: each NAME.path there holds the path that NAME is a copy of", always=True)


def find(store: str, wanted: Optional[str], script: Optional[str]) -> Run:
    """The run that `wanted` names (None: the newest of the script). Raises Unusable with what there is."""
    every = runs = [run.located(script) for run in all_runs(store)]
    lost = "".join(f"\n  {path} is damaged: {why}" for path, why in damaged(store))
    if not runs:
        raise Unusable(f"there are no recorded runs in {store}; record one first: florc record {_shown(script)}{lost}")
    if script is not None:
        of_script = [run for run in runs if is_of(run, script)]
        if not of_script and wanted is None:
            raise Unusable(f"no recorded run of {_shown(script)} in {store} {others(runs)}; if it is one of these under "
                           f"another name: florc replay {runs[-1].id} {_shown(script)}{lost}")
        runs = of_script or runs
    if wanted is None or wanted == "latest":
        return runs[-1]
    if wanted.startswith("latest~") and wanted[7:].isdigit() and int(wanted[7:]) < len(runs):
        return runs[-1 - int(wanted[7:])]
    by_id = os.path.basename(wanted.rstrip("/"))
    matches = _matching(runs, wanted)
    if not matches:
        raise Unusable(_not_there(store, wanted, script, _matching(every, wanted)) + lost)
    exact = [run for run in matches if run.id == by_id]
    if len(matches) > 1 and not exact and not all(run.info.get("name") == wanted for run in matches):
        raise Unusable(f"{wanted} may be {', '.join(run.id for run in matches)}; give more of the id")
    return (exact or matches)[-1]


def _matching(runs: List[Run], wanted: str) -> List[Run]:
    by_id = os.path.basename(wanted.rstrip("/"))
    return [run for run in runs if run.id.startswith(by_id) or run.info.get("name") == wanted]


def _not_there(store: str, wanted: str, script: Optional[str], elsewhere: List[Run]) -> str:
    if not elsewhere:
        return f"no run {wanted} in {store}; `florc runs` lists them"
    run = elsewhere[-1]
    there = os.path.relpath(run.info["script"])
    return f"{run.id} is a run of {there}, not of {_shown(script)}: florc replay {wanted} {there}"


def others(runs: List[Run]) -> str:
    """Which scripts a store holds runs of, in brackets."""
    return f"(there are runs of {', '.join(sorted({os.path.relpath(run.info['script']) for run in runs}))})"


def is_of(run: Run, script: str) -> bool:
    """Whether a run is one of this script."""
    recorded = str(run.info.get("script", ""))
    return os.path.realpath(recorded) == os.path.realpath(script)


def _shown(script: Optional[str]) -> str:
    return os.path.relpath(script) if script else "train.py"


def line(run: Run) -> str:
    """A run in one line, for `florc runs`."""
    report = run.info.get("report", {})
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.info.get("started", 0)))
    script = os.path.basename(run.info.get("script", "?"))
    arguments = " ".join(run.info.get("argv", [])[1:])
    seconds = duration(report["seconds"]) if "seconds" in report else ""
    kept = f"{count(report['checkpoints'], 'checkpoint')}, {size(report['bytes'])}" if "checkpoints" in report else ""
    return f"{run.id:24}  {started}  {run.status:11}  {seconds:>12}  {kept:28}  {script} {arguments}".rstrip()
