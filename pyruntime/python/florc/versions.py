"""The recorded and the present version of each project file: what was added, what else changed, what it reaches."""

from __future__ import annotations

import contextlib
import json
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from . import _native, places
from .history import History
from .launch import Script
from .project import MAIN, Territory, analyse, decode, package_of_module


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
    """The present project beside the recorded one."""

    def __init__(self, history: History, script: Script):
        self._history = history
        self.changes: List[Change] = []
        self._reached: Set[str] = set()
        self._loops: Dict[str, places.Loop] = {}
        self._probes: Dict[str, Tuple[str, int]] = {}
        self.territory = Territory(script)
        self._project = analyse(script, self.territory)
        self._add_recorded()
        self.files: Set[str] = set()
        """The project's files as they are met."""
        self._compare()

    def _add_recorded(self) -> None:
        """Files that the run met otherwise than by following imports."""
        for module, package, file, _ in self._history.run.files():
            if module != MAIN and self._project.text(file) is None:
                with contextlib.suppress(OSError, SyntaxError, UnicodeDecodeError), open(file, "rb") as present:
                    self._project.add(module, package, file, decode(present.read()))

    def _compare(self) -> None:
        comparison = _native.Comparison(self._history.run.files(), self._project)
        self.changes.clear()
        self._emitted = {file: comparison.instrument(file) for file in comparison.paths()}
        for file, emitted in self._emitted.items():
            self._note(file, emitted)

    def instrument(self, text: str, file: str, module: str) -> Any:
        """The present text instrumented against the recorded one; None when the compiler cannot read it."""
        self.files.add(file)
        if self._project.text(file) != text:
            try:
                self._project.add(module, package_of_module(module, file), file, text)
            except SyntaxError:
                return None
            self._compare()
        return self._emitted.get(file)

    def _note(self, file: str, emitted: Any) -> None:
        for entry in json.loads(emitted.plan)["loops"]:
            loop = places.loop_of(entry, file)
            self._loops[loop.id] = loop
            if entry.get("boundary") is not None:
                self._loops[loop.id + places.BOUNDARY] = places.boundary_of(entry, file)
        report = json.loads(emitted.changes)
        qualifier = "" if report["module"] == MAIN else f"{report['module']}."
        for change in report["changes"]:
            found = Change(file, **change)
            self.changes.append(found)
            if found.kind in ("probe", "outside", "inside") and not found.removed:
                self._probes[f"{qualifier}{found.line}"] = (file, found.line)
            if found.kind in ("probe", "inside"):
                self._reached.update(found.loops)
        self._reached.update(report["probed"])

    def loop(self, block: str) -> Optional[places.Loop]:
        """The present plan of a loop."""
        return self._loops.get(block)

    def is_probed(self, block: str) -> bool:
        """Whether a loop holds an added statement or may call a function that does, in whatever file."""
        return block in self._reached

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
