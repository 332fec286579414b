"""What the page shows of the runs of a store. Nothing runs for it, and nothing is written."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import RLock
from typing import Any

from .. import _native
from ..answers import asked, memory, rows, show
from ..process.spawned import FOLDER
from ..project import notebooks
from ..project.script import NOTEBOOK, Unusable
from ..project.territory import decode
from ..runs import catalog, joint
from ..runs.journal import History
from ..runs.run import Run
from . import curves, source, timeline
from .places import Places

_MOST = 4
"""So many journals are kept as they were read."""
_DIGITS = 6
"""Of the number of a rank."""
Query = Mapping[str, str]


class Facts:
    """Of a store. Every answer may raise Unusable and StoreError, in the words of the commands."""

    def __init__(self, store: str):
        self._store = store
        self._histories: dict[str, tuple[object, History]] = {}
        self._lock = RLock()
        self.answers: dict[str, Callable[[Query], Any]] = {
            "runs": self._runs,
            "show": lambda query: self._show(query.get("run")),
            "logs": lambda query: [row.to_json() for row in self.rows(query.get("run"))],
            "curves": self._curves,
            "timeline": lambda query: timeline.of_rank(self.history(query.get("run")), _number(query.get("rank"))),
            "source": lambda query: self._source(query.get("run")),
        }

    def history(self, wanted: str | None) -> History:
        """The journal of a run, read again where it has grown."""
        with self._lock:
            run = self._run(wanted)
            version = _version(run)
            kept = self._histories.pop(run.id, None)
            if kept is None or kept[0] != version:
                kept = version, joint.seen(run)
            self._histories[run.id] = kept
            for name in list(self._histories)[:-_MOST]:
                del self._histories[name]
            return kept[1]

    def forget(self, run: str) -> None:
        """Read the journal again when it is needed."""
        with self._lock:
            self._histories.pop(run, None)

    def rows(self, wanted: str | None) -> list[rows.Row]:
        """The values of a run, as `florc logs` has them."""
        with self._lock:  # the cells of a notebook are those of one run at a time
            history = self.history(wanted)
            return [*rows.recorded(history), *asked.kept(history)]

    def sources(self, wanted: str | None) -> dict[str, str]:
        """The recorded files of the user's, by path; of a run that is not there, none."""
        with suppress(Unusable):
            return source.recorded(self.history(wanted))
        return {}

    def spawns(self, wanted: str | None) -> bool:
        """Whether the script started ranks itself."""
        with suppress(Unusable, _native.StoreError):
            return bool(self.history(wanted).spawned)
        return False

    def present(self, wanted: str | None) -> dict[str, str]:
        """The same files as they are now."""
        found = {}
        for file in self.sources(wanted):
            with suppress(OSError, SyntaxError, UnicodeDecodeError, Unusable), open(file, "rb") as opened:
                data = opened.read()
                found[file] = notebooks.program(file, data) if file.endswith(NOTEBOOK) else decode(data)
        return found

    def _runs(self, query: Query) -> list[dict[str, Any]]:
        """The newest first; what `florc runs --json` prints of each, but for its imports."""
        found = []
        for run in reversed(catalog.all_runs(self._store)):
            report = {name: value for name, value in run.info.get("report", {}).items() if name != "imports"}
            known = ("id", "name", "script", "argv", "cwd", "started", "ranks")
            raised = {name: run.info[name] for name in ("raised",) if name in run.info}
            about = {**{name: run.info.get(name) for name in known}, **raised}
            found.append({**about, "report": report, "status": run.status})
        return found

    def _show(self, wanted: str | None) -> dict[str, Any]:
        with self._lock:
            return show.described(self._run(wanted))

    def _curves(self, query: Query) -> dict[str, Any]:
        runs = [query.get("run"), *filter(None, [query.get("beside")])]
        with self._lock:
            found = [row for run in runs for row in self.rows(run)]
            measured = [row for run in runs for row in memory.measured(self.history(run))]
        return curves.of(found, measured, query.get("x") or None, Places.of(self.history(query.get("run"))))

    def _source(self, wanted: str | None) -> dict[str, Any]:
        history = self.history(wanted)
        return source.of(history, self.present(wanted), list(asked.kept(history)))

    def _run(self, wanted: str | None) -> Run:
        return catalog.find(self._store, wanted or None, None)


def _number(word: str | None) -> int:
    return int(word) if word is not None and word.isdecimal() and len(word) < _DIGITS else 0


def _version(run: Run) -> object:
    """Changes when a run does."""
    found = []
    spawned = glob.glob(os.path.join(glob.escape(run.own(FOLDER)), "*", "runs", "*", "journal.*"))
    ranks = [f"{run.journal[:-1]}{rank}" for rank in range(1, run.ranks)]
    for path in [run.journal, run.own("run.json"), *ranks, *sorted(spawned)]:
        with suppress(OSError):
            known = os.stat(path)
            found.append((known.st_mtime_ns, known.st_size))
    return found
