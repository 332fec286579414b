"""The recorded and the present version of each project file: what was added, what else changed, what it reaches."""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from . import _native, places
from .history import History


class Change(NamedTuple):
    """One change of a file since it was recorded."""

    file: str
    kind: str
    line: int
    end_line: int
    removed: bool
    text: str
    loops: List[str]
    why: Optional[str]


class Versions:
    """Compares files as they are needed. `allow_drift` lets blocks whose code changed run again instead of refusing."""

    def __init__(self, history: History, allow_drift: bool):
        self._history, self._allow_drift = history, allow_drift
        self.changes: List[Change] = []
        self._reached: Set[str] = set()
        self._probed_files: Set[str] = set()
        self._loops: Dict[str, places.Loop] = {}
        self._of_file: Dict[str, str] = {}
        self._probes: Dict[str, Tuple[str, int]] = {}
        self._done: Dict[str, Any] = {}
        self.files: Set[str] = set()
        """The project's files as they are met."""

    def compare_all(self, read: Any) -> None:
        """Compare every recorded file; `read(file)` gives its present text, or None when it is gone."""
        for file in self._history.run.info.get("sources", {}):
            text = read(file)
            if text is not None:
                self.instrument(text, file, self._qualifier(file))

    def _qualifier(self, file: str) -> str:
        plan = self._history.plans.get(file)
        first = plan["loops"][0]["id"] if plan and plan["loops"] else "L1"
        return str(first)[: -len(str(first).rpartition(".")[2])]

    def instrument(self, text: str, file: str, qualifier: str) -> Any:
        """The present text instrumented against the recorded one; None when the compiler cannot read it."""
        self.files.add(file)
        if file in self._done:
            return self._done[file]
        recorded = self._history.run.source(file)
        try:
            if recorded is None:
                emitted = _native.instrument(text, file, qualifier)
            else:
                emitted = _native.instrument_for_replay(recorded, text, file, qualifier)
        except SyntaxError:
            emitted = None
        self._done[file] = emitted
        if emitted is not None:
            self._note(file, qualifier, emitted)
        return emitted

    def _note(self, file: str, qualifier: str, emitted: Any) -> None:
        for entry in json.loads(emitted.plan)["loops"]:
            loop = places.loop_of(entry, file)
            self._loops[loop.id] = loop
            self._of_file[loop.id] = file
        if not emitted.changes:
            return
        report = json.loads(emitted.changes)
        for change in report["changes"]:
            found = Change(file, **change)
            self.changes.append(found)
            if found.kind in ("probe", "outside", "inside") and not found.removed:
                self._probes[f"{qualifier}{found.line}"] = (file, found.line)
            if found.kind in ("probe", "inside"):
                self._reached.update(found.loops)
        if any(change["kind"] == "probe" for change in report["changes"]):
            self._probed_files.add(file)
        self._reached.update(report["probed"])

    def loop(self, block: str) -> Optional[places.Loop]:
        """The present plan of a loop."""
        return self._loops.get(block)

    def is_probed(self, block: str) -> bool:
        """Whether a loop holds an added statement or may call a function that does.

        Calls are followed within a file; a probe in another file is taken to be reached from every loop.
        """
        if block in self._reached:
            return True
        return any(file != self._of_file.get(block) for file in self._probed_files if self._is_imported(file))

    def _is_imported(self, file: str) -> bool:
        return file != self._history.run.info.get("script")

    def probe_place(self, name: str) -> Tuple[str, int]:
        """File and line of a probe."""
        return self._probes.get(name, ("", 0))

    def removed_lines(self) -> Set[Tuple[str, int]]:
        """(file, line) of the recorded version where log statements stood that are gone now."""
        return {(change.file, line) for change in self.changes if change.removed and change.kind == "removed log"
                for line in range(change.line, change.end_line + 1)}

    @property
    def drift(self) -> List[Change]:
        """Changes inside blocks whose checkpoints would be loaded."""
        return [change for change in self.changes if change.kind == "inside"]

    @property
    def outside(self) -> List[Change]:
        """Changes that run again anyway."""
        return [change for change in self.changes if change.kind == "outside"]

    @property
    def probes(self) -> List[Change]:
        """The added log statements."""
        return [change for change in self.changes if change.kind == "probe"]
