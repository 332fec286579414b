"""The recorded and the present version of each project file: what was added, what else changed, what it reaches."""

from __future__ import annotations

import contextlib
import os
import re

from .. import _native
from ..plan import places
from ..plan.window import END
from ..project import asked
from ..project.script import Script
from ..project.territory import MAIN, Territory, analyse, decode, package_of_module
from ..support.console import place
from ..support.files_read import looks_below
from .holding import Holding
from .journal import History
from .lapsed import Lapsed
from .lines import recorded_numbers
from .misfits import Misfits

_PAST_NAMES = re.compile(
    r"\b(?:gc|ctypes|cffi|cython|dynamo|_dynamo|__getstate__|__reduce__|__reduce_ex__|getstate)\b"
    r"|(?<!re\.)\bcompile\b|torch_compile|(?i:cuda_?graph|cuda\.graph|graphed)"
)
"""Words in a file of the user's: with them code may reach a tensor of an optimizer without asking the optimizer for its state.
The collector and addresses show every object; compiled steps and CUDA graphs keep addresses. What libraries do is not seen."""
_MOVES = "it takes from an iterator that no checkpoint holds, and what is asked for takes from it, too"
_ASKS_CACHES = "an added statement asks a cache how often it was asked, which no checkpoint holds"


class Versions:
    """The present project beside the recorded one."""

    def __init__(self, history: History, script: Script, as_recorded: bool = False):
        """`as_recorded`: the present version is the recorded one, whatever the files hold today."""
        self._history = history
        self.changes: list[_native.Change] = []
        self._reached: dict[str, str] = {}
        """Loops that may run an added statement in any of their executions -> why."""
        self._asked: set[_native.Function] = set()
        """Functions: the executions that entered one of them run an added statement, too."""
        self._loops: dict[str, _native.Loop] = {}
        self._probes: dict[str, tuple[str, int]] = {}
        self._may_wait = -1, True
        """For so many files: whether the state of optimizers may be read when it is needed."""
        self.lapsed = Lapsed(history, self._why_run, lambda: len(self._project.files()))
        self.misfits = Misfits(history.run)
        self._holding: Holding | None = None
        self._asks_gradients: bool | None = None
        """Both of the present comparison; None where nobody asked yet."""
        self._edited: set[str] = set()
        """Those of them that stood there before, in another form."""
        self._lines: dict[str, dict[int, int]] = {}
        """By file and present number: recorded numbers of lines (`recorded_line`)."""
        self._fresh: dict[tuple[str, str], bool] = {}
        self._kept_though_dead: dict[tuple[str, str], bool] = {}
        self._libraries: set[str] = set()
        """Files of libraries in which the recorded run followed loops."""
        began_in: str = history.run.info["cwd"]
        self._no_longer_shown: set[tuple[str, int]] = set()
        """(file, line) of the recorded version whose value a notebook showed, and does not any more."""
        if script.is_notebook:
            self._mark_cells(script)
        self.territory = Territory(script, began_in if os.path.isdir(began_in) else None)
        self._project = analyse(script, self.territory)
        self._add_recorded(as_recorded)
        self.files: set[str] = set()
        """The project's files as they are met."""
        self._compare()

    def _add_recorded(self, as_recorded: bool) -> None:
        """Files that the run met otherwise than by following imports."""
        for module, package, file, text in self._history.run.files():
            if self._is_library(module, file):
                self._libraries.add(file)
            elif as_recorded:
                with contextlib.suppress(SyntaxError):
                    self._project.add(module, package, file, text)
            elif module != MAIN and (self._project.text(file) is None or file in asked.texts):
                with contextlib.suppress(OSError, SyntaxError, UnicodeDecodeError), open(file, "rb") as present:
                    self._project.add(module, package, file, asked.text_of(file, decode(present.read())))

    def text(self, file: str) -> str | None:
        """What runs of a file of the project now: of a notebook, its program; None of a file that is not known to be one."""
        return self._project.text(file)

    def _mark_cells(self, script: Script) -> None:
        from ..project import notebooks

        notebooks.mark(script.path, script.text)
        was = self._history.run.source(self._history.run.info["script"])
        if was is not None:
            notebooks.mark_recorded(script.path, was)
            self._no_longer_shown = {(script.path, line) for line in notebooks.no_longer_shown(was, script.text)}

    def _is_library(self, module: str, file: str) -> bool:
        return _native.followed(module) is not None and not self.territory.owns(file)

    def _compare(self) -> None:
        history = self._history
        self._comparison = comparison = _native.Comparison(history.run.files(), self._project, history.noted_functions())
        self.changes.clear()
        self._reached.clear()
        self._asked.clear()
        self._fresh.clear()
        self._kept_though_dead.clear()
        self._lines.clear()
        self._holding = self._asks_gradients = None
        instrumented = {file: comparison.instrument(file) for file in comparison.paths()}
        self._emitted = {file: emitted for file, emitted in instrumented.items() if emitted is not None}
        for file, emitted in self._emitted.items():
            self._note(file, emitted)

    def instrument(self, text: str, file: str, module: str) -> _native.Instrumented | None:
        """The present text instrumented against the recorded one; None when the compiler cannot read it."""
        self.files.add(file)
        if self._project.text(file) != text:
            try:
                self._project.add(module, package_of_module(module, file), file, text)
            except SyntaxError:
                return None
            self._compare()
        return self._emitted.get(file)

    def instrument_library(self, text: str, file: str, module: str) -> _native.Instrumented | None:
        """A library's file as it is installed, against the recorded one; None where the recorded run followed no loops there."""
        if file not in self._libraries:
            return None
        if self._project.library_text(file) != text:
            self._project.add_library(module, package_of_module(module, file), file, text)
            self._compare()
        return self._emitted.get(file)

    def _note(self, file: str, emitted: _native.Instrumented) -> None:
        for loop in emitted.plan.loops:
            self._loops[loop.id] = loop
            if loop.start is not None:
                self._loops[loop.start.id] = loop.start
        report = emitted.changes
        assert report is not None  # of a comparison
        qualifier = "" if report.module == MAIN else f"{report.module}."
        for found in report.changes:
            self.changes.append(found)
            if found.kind in ("probe", "outside", "inside") and not found.removed:
                self._probes[f"{qualifier}{found.line}"] = (file, found.line)
                if found.kind != "probe" and found.edited:
                    self._edited.add(f"{qualifier}{found.line}")
            for block in found.loops if found.kind in ("probe", "inside") else ():
                self._reached.setdefault(block, "holds or reaches what was changed")
        self._reached.update(report.probed)
        self._asked.update(report.entered)

    def loop(self, block: str) -> _native.Loop | None:
        """The present plan of a loop."""
        return self._loops.get(block)

    def first_asked(self, place: str) -> int:
        """The first iteration of a loop, at its place in the nest, that a replay needs: one before which no added statement runs,
        as far as the checkpoints between its iterations tell. END where none runs."""
        loop = _native.Path(place)
        if loop.loop in self._reached:
            return 0
        starts = self._history.boundaries.get(place, ())
        free = [index for index in starts if self._entered_by(str(loop.at(index).start())) is None]
        return END if len(free) == len(starts) else max(free, default=0)

    def _entered_by(self, key: str) -> str | None:
        """Why a checkpoint may stand for a run of an added statement; None where it does not."""
        if not self._asked:
            return None
        entered = self._history.entered.get(key)
        if entered is None:
            return "may run an added statement: the record does not tell which functions it entered"
        found = sorted({function.name for function in entered & self._asked})
        return f"entered {', '.join(found)} in the recorded run" if found else None

    def marked(self) -> list[str]:
        """The names of the added statements that are marked as such."""
        return [name for name in self._probes if name not in self._edited]

    def said(self, name: str) -> str:
        """Where an added statement stands: `train.py:12`."""
        file, line = self.probe_place(name)
        return place(file, line, is_short=True)

    def probe_place(self, name: str) -> tuple[str, int]:
        """File and line of a probe."""
        return self._probes.get(name, ("", 0))

    def recorded_line(self, file: str, line: int) -> int:
        """The number that a line of a file had when it was recorded; the same where it was not there. `file`: its path, or its
        name alone where no other file of the project has that."""
        known = self._lines.get(file)
        if known is None:
            asked = file
            if os.sep not in file:
                named = [path for _, _, path, _ in self._project.files() if os.path.basename(path) == file]
                file = named[0] if len(named) == 1 else file
            recorded, present = self._history.run.source(file), self._project.text(file)
            if recorded is None or present is None or recorded == present:
                known = {}
            else:
                known = recorded_numbers(recorded, present, [change for change in self.changes if change.file == file])
            self._lines[asked] = known
        return known.get(line, line)

    def is_in_deletion(self, name: str) -> bool:
        """Whether a probe stands in a method that Python may call when nothing is left of the script."""
        return self._comparison.is_in_deletion(*self.probe_place(name))

    def anchor(self, file: str, line: int) -> tuple[int, int]:
        """What stays of the place of an added statement, whatever else is added: the recorded number of the last line before it
        that was there, and how many lines behind that it is."""
        self.recorded_line(file, line)
        known = self._lines.get(file) or {}
        before = next((at for at in range(line, 0, -1) if at in known or not known), 0)
        return known.get(before, before), line - before

    def texts(self) -> list[str]:
        """The texts of the present version's files."""
        return [text for _, _, _, text in self._project.files()]

    def emitted(self) -> dict[str, tuple[str, _native.Instrumented | None]]:
        """The present texts of files by path, and what they are instrumented to."""
        return {path: (text, self._emitted.get(path)) for _, _, path, text in self._project.files()}

    def removed_lines(self) -> set[tuple[str, int]]:
        """(file, line) of the recorded version where log statements stood that are gone now."""
        return self._no_longer_shown | {
            (change.file, line)
            for change in self.changes
            if change.removed and change.kind == "removed log"
            for line in range(change.line, change.end_line + 1)
        }

    def why_run(self, block: str, key: str) -> str | None:
        """Why a block runs wherever values are asked for; None when the checkpoint with this key may be restored, if there is
        one."""
        why = self._why_run(block, key)
        return _MOVES if why is None and self.lapsed.is_missed(key) else why

    def _why_run(self, block: str, key: str) -> str | None:
        why = self._reached.get(block) or self.misfits.why(block)
        if why is None and key in self._history.checkpoints:
            why = self._entered_by(key)
        if why is not None:
            return why
        if self._asks_caches():
            return _ASKS_CACHES
        missing = [place.name for place in self._missing(block)]
        if missing:
            return f"what follows it reads {', '.join(missing)}, which its checkpoints do not hold"
        if self._lacks_gradients(block):
            return "gradients are read after it, and its checkpoints do not hold them"
        return None

    def why_run_before(self, block: str, key: str, is_next: bool = False) -> str | None:
        """Why a block runs in iterations before those that are asked for: what it leaves behind would be missed there.

        `is_next`: it is in the last of them, whose gradients are still there when the next one begins.
        """
        if self.has_changed or self._comparison.accumulates() or self._asks_caches():
            return self.why_run(block, key)
        if self.lapsed.is_missed(key):
            return _MOVES
        if (misfit := self.misfits.why(block)) is not None:
            return misfit
        lasting = [place.name for place in self._missing(block) if place.mutated or not self._is_fresh(block, place.name)]
        if lasting:
            return f"later iterations read {', '.join(lasting)}, which its checkpoints do not hold"
        return "gradients are read in the next iteration" if is_next and self._lacks_gradients(block) else None

    def why_not_jumped(self, loop: str) -> str | None:
        """Why a replay must not begin with a later iteration of a loop; None when a checkpoint holds all that it needs."""
        if self.has_changed:
            return "code outside the memoized loops has changed"
        if self._asks_caches():
            return _ASKS_CACHES
        if self._comparison.accumulates():
            return "added statements keep something from one iteration for another"
        if loop + places.BOUNDARY not in self._loops:
            return "what its iterations begin with cannot be told"
        if (misfit := self.misfits.why(loop + places.BOUNDARY)) is not None:
            return misfit
        if self._lacks_gradients(loop + places.BOUNDARY):
            return "gradients are read in its iterations, and the checkpoints do not hold them"
        missing = [place.name for place in self._missing(loop + places.BOUNDARY)]
        return f"its iterations read {', '.join(missing)}, which the checkpoints do not hold" if missing else None

    def may_wait(self) -> bool:
        """Whether the state of optimizers may be read when it is needed: no file of the user's mentions what leads to an object
        past its names (`_PAST_NAMES`), in its recorded or in its present version."""
        files = self._project.files()
        if self._may_wait[0] != len(files):  # some may be loaded late
            recorded = [text for module, _, file, text in self._history.run.files() if not self._is_library(module, file)]
            texts = [*(text for *_, text in files), *recorded]
            self._may_wait = len(files), not any(_PAST_NAMES.search(text) for text in texts)
        return self._may_wait[1]

    def _asks_caches(self) -> bool:
        """What `functools` counts for a cache is no part of a checkpoint, unless the recorded script asks for it."""
        return any(not change.removed and "cache_info" in change.text for change in self.changes)

    def looks_below(self) -> bool:
        """Whether an added statement may look at what lies below a file (`files_read.looks_below`)."""
        return any(not change.removed and looks_below(change.text) for change in self.changes)

    def recorded_looks_below(self) -> bool:
        """Whether the recorded script may look at what lies below a file (`files_read.looks_below`)."""
        return any(looks_below(text) for module, _, file, text in self._history.run.files() if not self._is_library(module, file))

    @property
    def has_changed(self) -> bool:
        """Whether more was changed than statements that only look."""
        return any(change.kind in ("outside", "inside") for change in self.changes)

    def _lacks_gradients(self, block: str) -> bool:
        held, loop = self._history.held_by(block), self._loops.get(block)
        if held is None or loop is None:
            return False
        return loop.gradients and not held.gradients or self._asks_hidden_gradients() and self._history.leaves_gradients(block)

    def _asks_hidden_gradients(self) -> bool:
        """Whether an added statement asks for gradients, in a project that computes them where nobody sees it: in a library."""
        if self._asks_gradients is None:
            asks = any("grad" in change.text for change in self.changes if not change.removed)
            self._asks_gradients = asks and "backward" not in self.names()[0]
        return self._asks_gradients

    def _missing(self, block: str) -> list[_native.Place]:
        """Places that are read after the block, and that its checkpoints do not hold."""
        loop, planned = self._loops.get(block), self._history.planned.get(block, {})
        if self._history.held_by(block) is None or loop is None:
            return []
        missing = [place for place in loop.places if not place.iterated and not self._is_held(place, planned)]
        return [place for place in missing if not self._is_kept_though_dead(block, place)] if missing else missing

    def _is_held(self, place: _native.Place, planned: dict[str, bool]) -> bool:
        """Whether checkpoints hold what is needed of a place. `planned`: the places of the record, and whether it kept what the
        name stands for, not only the content of an object. What is not in the checkpoint then was unbound."""
        return place.name in planned and (planned[place.name] or not place.bound)

    def _is_kept_though_dead(self, block: str, place: _native.Place) -> bool:
        """Whether each checkpoint holds it although the recorded script did not read it, or all that added statements ask of
        it."""
        known = self._kept_though_dead.get((block, place.name))
        if known is None:  # it takes a look at every checkpoint, and is asked for at every execution
            known = self._kept_though_dead[block, place.name] = place.name in self._history.dead(block) or (
                not place.mutated and place.name in self._history.forms(block) and self._comparison.asks_for_form_only(place.name)
            )
        return known

    def _is_fresh(self, block: str, place: str) -> bool:
        """Whether what an earlier run of the block left at a place is never read."""
        if (block, place) not in self._fresh:
            self._fresh[block, place] = self._comparison.is_fresh(block, place)
        return self._fresh[block, place]

    def groups(self, file: str) -> dict[int, tuple[int, int]]:
        """By the lines where added statements begin: those of the first and the last one side by side with it."""
        return self._comparison.groups(file)

    def names(self) -> tuple[set[str], set[str]]:
        """Every name that the recorded project mentions, and those that only changed files do."""
        return self._comparison.names()

    def holding(self) -> Holding:
        """Where added statements may hold objects of the script's."""
        if self._holding is None:
            names, otherwise = self._comparison.names_that_hold()
            self._holding = Holding(names, names - self.names()[0], otherwise)
        return self._holding

    def left_by_forward(self) -> set[str]:
        """Attributes that calls of modules of the recorded project leave behind and do not read."""
        return self._comparison.left_by_forward()

    def reads_gradients(self) -> bool:
        """Whether the recorded script has use for the gradients that one of its blocks leaves behind."""
        return any(loop.gradients for plan in self._history.plans.values() for loop in plan.loops)

    @property
    def drift(self) -> list[_native.Change]:
        """Changes inside blocks whose checkpoints would be loaded. Those that are watched when they run only make the block
        run again."""
        return [change for change in self.changes if change.kind == "inside" and not change.can_be_seen]

    @property
    def outside(self) -> list[_native.Change]:
        """Changes that run again anyway, and of which not all can be seen when they do."""
        return [change for change in self.changes if change.kind == "outside" and not change.can_be_seen]

    @property
    def probes(self) -> list[_native.Change]:
        """The added log statements."""
        return [change for change in self.changes if change.kind == "probe"]
