"""What the page shows of the runs of a store. Nothing runs for it, and nothing is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import RLock
from typing import Any

from ..answers import asked, rows, show
from ..project.script import Unusable
from ..project.territory import decode
from ..runs import catalog, joint
from ..runs.journal import History
from ..runs.run import Run
from . import curves, source, timeline

_MOST = 4
"""So many journals are kept as they were read."""
Query = Mapping[str, str]


class Facts:
    """Of a store. Every answer may raise Unusable and StoreError, in the words of the commands."""

    def __init__(self, store: str):
        self._store = store
        self._histories: dict[str, tuple[object, History]] = {}
        self._lock = RLock()
        self.answers: dict[str, Callable[[Query], Any]] = {
            "runs": self._runs,
            "show": lambda query: show.described(self._run(query.get("run"))),
            "logs": lambda query: [row.to_json() for row in self.rows(query.get("run"))],
            "curves": self._curves,
            "timeline": lambda query: timeline.of(self.history(query.get("run"))),
            "source": lambda query: self._source(query.get("run")),
        }

    def history(self, wanted: str | None) -> History:
        """The journal of a run, read again where it has grown."""
        with self._lock:
            run = self._run(wanted)
            version = _version(run)
            kept = self._histories.pop(run.id, None)
            if kept is None or kept[0] != version:
                kept = version, joint.of_one(run) if run.ranks > 1 else History(run)
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
        history = self.history(wanted)
        return [*rows.recorded(history), *asked.kept(history)]

    def sources(self, wanted: str | None) -> dict[str, str]:
        """The recorded files of the user's, by path; of a run that is not there, none."""
        with suppress(Unusable):
            return source.recorded(self.history(wanted))
        return {}

    def present(self, wanted: str | None) -> dict[str, str]:
        """The same files as they are now."""
        found = {}
        for file in self.sources(wanted):
            with suppress(OSError, SyntaxError, UnicodeDecodeError), open(file, "rb") as opened:
                found[file] = decode(opened.read())
        return found

    def _runs(self, query: Query) -> list[dict[str, Any]]:
        """The newest first; what `florc runs --json` prints of each, but for its imports."""
        found = []
        for run in reversed(catalog.all_runs(self._store)):
            report = {name: value for name, value in run.info.get("report", {}).items() if name != "imports"}
            known = ("id", "name", "script", "argv", "cwd", "started", "ranks")
            found.append({**{name: run.info.get(name) for name in known}, "report": report, "status": run.status})
        return found

    def _curves(self, query: Query) -> dict[str, Any]:
        found = self.rows(query.get("run"))
        beside = query.get("beside")
        if beside:
            found += self.rows(beside)
        return curves.of(found, query.get("x") or None)

    def _source(self, wanted: str | None) -> dict[str, Any]:
        history = self.history(wanted)
        return source.of(history, self.present(wanted), list(asked.kept(history)))

    def _run(self, wanted: str | None) -> Run:
        return catalog.find(self._store, wanted or None, None)


def _version(run: Run) -> object:
    """Changes when a run does."""
    found = []
    for path in [run.journal, run.own("run.json"), *(f"{run.journal[:-1]}{rank}" for rank in range(1, run.ranks))]:
        with suppress(OSError):
            known = os.stat(path)
            found.append((known.st_mtime_ns, known.st_size))
    return found
