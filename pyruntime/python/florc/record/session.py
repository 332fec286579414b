"""Recording: the script runs, and what is needed to ask questions later is kept beside it."""

from __future__ import annotations

import os
import sys
import time
from types import CodeType, FrameType

from .. import _native, session
from ..inputs import logging_began
from ..plan import loops
from ..process.log_files import LogFiles
from ..process.output import Tap
from ..project import positions as instrumented
from ..project.territory import instrument, instrument_library, package_of_module
from ..runs import variables
from ..runs.found_files import FOLDER_NAME
from ..runs.run import Run
from ..support import mishaps
from ..support.console import say
from ..support.light import Uncollected, dumps, nullcontext
from ..survey import plain
from .children import LINES, PrintedByChildren
from .entering import Entered
from .files_noted import FilesNoted
from .memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..support.arguments import Record
    from .blocks import Blocks
    from .ranks import Together

PLAIN_START_S = 0.012
"""What Python itself takes to start, of the processor time before a script's first line: 10 to 15 ms were measured."""
NO_LIMIT = float("inf")
"""The overhead with which every checkpoint is kept (`--checkpoint every`)."""


class Recording:
    """The session of `florc record`. Nothing it does may raise into the script."""

    pace = 5e-3
    """Iterations that begin sooner than this (in seconds) after a noted one are not noted in the journal."""
    keeps_left = False
    inputs = None
    """There is nothing yet to give back."""

    def __init__(self, run: Run, arguments: Record, together: Together | None = None):
        self.run, self.overhead, self._together = run, arguments["overhead"], together
        if self.overhead == NO_LIMIT:
            self.pace = 0.0  # a loop that begins in the middle is told of each iteration
        engine, staging, self._max_disk = arguments["engine"], arguments["max_staging"], arguments["max_disk"]
        self.recorder = _native.Recorder(
            run.store, run.id, run.rank, max_staging=staging and staging << 20, key=run.key, share_packs=self._max_disk is None
        )
        self._engine = engine if self.recorder.engine == "writer" else self.recorder.engine
        if self.recorder.fallback:
            told = {
                "thread": "a thread writes checkpoints; if the script is killed, those on their way are lost",
                "inline": "the script waits for the disk at each checkpoint",
            }
            forked = "; no forked child encodes checkpoints" * (engine == "fork")
            say(f"no writer process ({self.recorder.fallback}): {told[self._engine]}{forked}")
        self._blocks: Blocks | None = None
        self.idle: list[_native.Plan] = []
        """Of files in which there was nothing to instrument."""
        self.project: _native.Project | None = None
        """The user's files, analysed together (`_native.Project`)."""
        self.files: set[str] = set()
        lines = Tap(
            lambda payload: self._log("lines", payload) if payload else self._note_interrupt(),
            self.files,
            True,
            at_top=lambda: self.names.printed(self, sys._getframe().f_back),
        )
        errors = Tap(lambda payload: self._log("errors", payload), self.files, True, is_error=True)
        self._taps = lines, errors, LogFiles(self._logged, self.files, True)
        self._printed = PrintedByChildren(run.own(LINES), (lines, errors), lambda payload: self._log("child lines", payload))
        self._spent = 0.0
        self._is_checked = bool(os.environ.get("FLORC_DEBUG"))
        """With FLORC_DEBUG, a record that no replay could read is a mishap where it is written."""
        self.records_lost = 0
        self.started = time.perf_counter()
        run.note = self.note
        self.note("run", **run.head())
        self.note("clocks", perf_counter=self.started, pid=os.getpid(), logging=logging_began.now())
        self.entered = Entered(self.note)
        self._is_told = False
        self._is_full = False
        """Whether values from outside are kept no more."""
        self.files_noted = FilesNoted(run.own(FOLDER_NAME), run.store, self.overhead, self.note, self.charge)
        self._begun, self._spent_before, self._start_s = self.started, 0.0, 0.0
        self.memory = Memory()
        self.names = plain.Noted(run.info["started"], self.overhead != NO_LIMIT)

    @property
    def spent(self) -> float:
        """Seconds that florc took of the script's so far."""
        return self._spent + sum(tap.spent for tap in self._taps) + _native.inputs_spent()

    @property
    def blocks(self) -> Blocks:
        """What keeps blocks (`blocks.Blocks`): made when the first one begins, before any time is taken of it."""
        if self._blocks is None:
            begun = time.perf_counter()
            with Uncollected():
                from ..support import static
                from ..survey import readers, settings
                from .blocks import Blocks

                static.is_users = self.files.__contains__
                texts = [text for *_, text in self.project.files()] if self.project is not None else [settings.EVERYTHING]
                readers.asks_caches = self.project is None or any("cache_info" in text for text in texts)
                for text in texts:
                    settings.mention(text)
                self._blocks = Blocks(
                    self.recorder,
                    self._engine,
                    self.overhead,
                    self._max_disk,
                    self.note,
                    self.files,
                    self.started,
                    self.entered,
                    self._together,
                )
            self._spent += time.perf_counter() - begun
        return self._blocks

    # -- compiling -----------------------------------------------------------------------------------------------

    def keep_sources(self) -> None:
        """Keep every file that was analysed: a replay analyses the same ones."""
        with mishaps.Swallow("keeping the source"):
            assert self.project is not None
            for module, package, file, text in self.project.files():
                self.run.keep_source(file, text, module, package)
        with mishaps.Swallow("noting variables"):
            assert self.project is not None
            names = self.project.variables() - variables.OWN
            if names and self.run.key is not None:
                self.note("variables", found=variables.present(names, self.run.key, os.environ))
        with mishaps.Swallow("writing run.json"):
            self.run.save()

    def compile(self, text: str, file: str, module: str) -> CodeType:
        """Instrument and compile a file of the project; where that fails, compile it as it is and say so."""
        begun = time.perf_counter()
        _native.is_the_scripts(module)
        compiled = instrumented.compile_user_file(text, file, lambda: self._instrument(text, file, module))
        self.adopt(compiled, file)
        if self._blocks is not None:  # else it is among the files that are looked at then
            self._blocks.mention(text)
        self._spent += time.perf_counter() - begun
        instrumented.warn(compiled, text, file)
        return compiled.code

    def compile_library(self, text: str, file: str, module: str) -> CodeType:
        """Compile a file of a library, with those of its loops instrumented that are followed there."""
        begun = time.perf_counter()

        def instrumented_library() -> _native.Instrumented | None:
            assert self.project is not None
            with mishaps.Swallow("keeping the source"):
                self.run.keep_source(file, text, module, package_of_module(module, file))
                self.run.save()
            return instrument_library(self.project, module, file, text)

        compiled = instrumented.compile_user_file(text, file, instrumented_library)
        if compiled.plan is not None:
            self._note_plan(compiled.plan, file, is_library=True)
        self._spent += time.perf_counter() - begun
        return compiled.code

    def _note_plan(self, plan: _native.Plan, file: str, is_library: bool = False) -> None:
        loops.register(plan, is_library)
        loop_ids = dumps([loop.id for loop in plan.loops])
        self._log("plan", f'{{"file": {dumps(file)}, "plan": {plan.to_json()}, "loops": {loop_ids}}}')

    def adopt(self, compiled: instrumented.Compiled, file: str) -> None:
        """Note what runs in the place of a file of the project."""
        self.files.add(file)
        with mishaps.Swallow(f"noting the plan of {file}"):
            if compiled.left_alone is not None:
                say(f"{os.path.basename(file)} runs unrecorded: {compiled.left_alone}")
                self.note("left alone", file=file, why=compiled.left_alone)
            elif compiled.plan is not None:
                assert self.project is not None
                self.entered.foresee(self.project, file)
                self._note_plan(compiled.plan, file)
            elif compiled.idle_plan is not None:
                self.idle.append(compiled.idle_plan)

    def _instrument(self, text: str, file: str, module: str) -> _native.Instrumented | None:
        assert self.project is not None
        # not found by following the script's imports, or written since
        if self.project.text(file) != text or file not in self.run.info.get("sources", ()):
            package = package_of_module(module, file)
            with mishaps.Swallow("keeping the source"):
                self.run.keep_source(file, text, module, package)
                self.run.save()
        return instrument(self.project, module, package_of_module(module, file), file, text)

    # -- what emitted code calls -----------------------------------------------------------------------------------

    def iteration(self, path: str) -> None:
        """An iteration of a followed loop begins: one of those that are noted."""
        begun = time.perf_counter()
        with mishaps.Swallow("at the start of an iteration"):
            if not self._is_told:
                self._tell_circumstances()
            if self._blocks is not None:
                self._blocks.materializer.poll()
            self._note_interrupt()
            self.entered.elsewhere()
            self.note("iteration", path=path, at=begun - self.started, **self.memory.noted(path, begun))
            self.names.note(self, path, sys._getframe(1))
        self._spent += time.perf_counter() - begun

    def _note_interrupt(self) -> None:
        """The first Ctrl-C, whatever the script made of it: no replay is interrupted in the same place."""
        path = _native.interrupted_at()
        if path:
            self.note("interrupted", path=path)

    def passed(self, path: str) -> None:
        """This was the last iteration of a loop that is over."""
        with mishaps.Swallow("where a loop ends"):
            self.note("iteration", path=path, at=time.perf_counter() - self.started)

    def _tell_circumstances(self) -> None:
        """What the script imports is imported when its first loop begins; a run that is killed has it, too."""
        from ..runs import circumstances

        self._is_told = True
        self.note("circumstances", found=circumstances.present())

    def _note_libraries(self) -> None:
        """Which builds of them it used. A run that is killed, or has no loop, goes without."""
        if self._is_told:
            from ..runs import circumstances

            self.note("distributions", found=_native.distributions(circumstances.installed()))

    def value(self, path: str, number: int | None) -> None:
        """An iteration is over this number (False: its loop is over none); None: it is none, the iterator had no more."""
        with mishaps.Swallow("where an iteration has its number"):
            if number is None:
                self.names.note(self, path, sys._getframe(1))
                self.note("no iteration", path=path, **self.memory.noted(path))
            elif number is False:
                self.note("no numbers", path=path)
            elif -(1 << 63) <= number < 1 << 63:
                self.note("value", path=path, number=number)

    def jump(self, place: str, iterable: Any, iterator: Any) -> None:
        """A loop begins. Where no replay could begin in its middle, nothing needs to be kept for that."""
        with mishaps.Swallow("where a loop begins"):
            self._note_interrupt()
            if _native.Path(place).loop + loops.BOUNDARY in loops.loops:
                blocks, begun = self.blocks, time.perf_counter()
                blocks.jump(place, iterable, iterator)
                self._spent += time.perf_counter() - begun

    def boundary(self, loop: str, objects: Sequence[Any]) -> bool:
        """An iteration of a loop that trains itself begins: it may begin with a checkpoint."""
        with mishaps.Swallow("at the start of an iteration"):
            blocks, begun = self.blocks, time.perf_counter()
            with Uncollected():
                blocks.boundary(loop, objects, sys._getframe(1), self.spent)
            self._spent += time.perf_counter() - begun
        return False

    def step_into(self, block: str, frame: FrameType) -> bool:
        """Recording runs every block."""
        with mishaps.Swallow("where a block begins"):
            self._note_interrupt()
            blocks, begun = self.blocks, time.perf_counter()
            with Uncollected():
                blocks.step_into(block, frame, begun, self.spent)
            self._spent += time.perf_counter() - begun
        return True

    def end(self, block: str, objects: Sequence[Any], maybe: Any, in_globals: Any, frame: FrameType) -> None:
        """A block ran: materialize its side effects when the Joint Invariant holds."""
        with mishaps.Swallow("where a block ends"):
            blocks, begun = self.blocks, time.perf_counter()
            with Uncollected():
                blocks.end(block, objects, frame, begun, self.spent)
            self._spent += time.perf_counter() - begun

    def probe(self, name: str, frame: FrameType, is_called: bool = False) -> nullcontext:
        """Recorded scripts hold no probes."""
        return nullcontext()

    # -- the journal -----------------------------------------------------------------------------------------------

    def argument(self, name: str, value: Any) -> Any:
        """Keep the value of a setting (`florc.arg`)."""
        self.note("argument", name=name, value=value)
        return value

    def note(self, kind: _native._RecordKind, **payload: Any) -> None:
        """Add a record to the journal, after the lines that were printed before."""
        for tap in self._taps:
            tap.flush()
        self._printed.note()
        self._note_inputs()
        self._log(kind, payload)

    def _note_inputs(self) -> None:
        taken, is_full = _native.inputs_taken()
        if taken is not None:
            self._log("inputs", taken)
        if is_full and not self._is_full:
            self._is_full = True
            self._log("inputs end", {"path": _native.loop_path()})

    def _log(self, kind: _native._RecordKind, payload: Any) -> None:
        try:
            text = payload if isinstance(payload, str) else dumps(payload)
            if self._is_checked:
                _native.read_record(kind, text)
            self.recorder.log(kind, text)
        except Exception as error:
            self.records_lost += 1
            mishaps.swallowed(f"noting a {kind}", error)

    def see(self) -> None:
        """Keep what the script prints from now on."""
        for tap in self._taps:
            tap.install()

    def see_no_more(self) -> None:
        """Keep what was printed, and nothing that comes."""
        for tap in self._taps:
            tap.remove()

    def _logged(self, number: int, payload: str) -> None:
        self._log("errors", f'{payload.removesuffix("}")}, "log": {number}}}')

    def charge(self, seconds: float) -> None:
        """Florc took so many seconds of the script's."""
        self._spent += seconds

    def begins(self) -> None:
        """The first line of the script comes next."""
        self._begun, self._spent_before = time.perf_counter(), self.spent
        self._start_s = max(0.0, time.process_time() - PLAIN_START_S)

    def _overhead(self, elapsed: float) -> float:
        """What recording took while the script ran, on its main thread and beside it, over what the script took itself."""
        kept = None if self._blocks is None else self._blocks.materializer
        spent = self.spent - self._spent_before
        own = elapsed - (self._begun - self.started) - spent
        return (spent + (0.0 if kept is None else kept.background_s)) / own if own > 0 else 0.0

    # -- the end ---------------------------------------------------------------------------------------------------

    def abandon(self) -> None:
        """In a child that the user forked: nothing is recorded there."""
        self.recorder.abandon()

    def finish(self, status: str) -> dict[str, Any]:
        """Wait until everything staged is durable, and close the run. Returns the totals for the report."""
        with mishaps.Swallow("noting what names hold"):
            self.names.note(self, plain.END, None)
        session.end()
        self.see_no_more()
        self._printed.end()
        self.files_noted.end()
        elapsed = time.perf_counter() - self.started
        begun = time.perf_counter()
        kept = None if self._blocks is None else self._blocks.materializer
        if self._blocks is not None:
            self._blocks.finish()
        with mishaps.Swallow("noting the libraries"):
            self._note_libraries()
        with mishaps.Swallow("noting what was entered"):
            self.entered.elsewhere()
        last = _native.last_passed()
        _native.loop_path()  # an interrupt after which no loop ran is noted by this
        self._note_interrupt()
        if last is not None:
            self.note("iteration", path=last, at=elapsed)
        self.note("end", status=status, seconds=elapsed, **self.memory.noted(""))
        totals = self.recorder.close()
        if self._together is not None:
            self._together.end()
        dropped, freed, failed = (0, 0, {}) if kept is None else (kept.budget.dropped, kept.budget.freed_bytes, kept.failed)
        report = {
            "seconds": elapsed,
            "florc_seconds": self.spent,
            "imports": _native.import_seconds(),
            "drain_seconds": time.perf_counter() - begun,
            "start_seconds": self._start_s,
            "overhead": self._overhead(elapsed),
            "checkpoints": totals.get("checkpoints", kept.checkpoints if kept is not None else 0) - dropped,
            "bytes": totals.get("bytes_written", 0) - freed,
            "stopped": kept.stopped if kept is not None else None,
            "dead": self.recorder.dead,
            "errors": [*(kept.lost if kept is not None else ()), *totals.get("errors", [])],
            "not_kept": {block: why for block, (_, why) in failed.items() if not block.endswith(loops.BOUNDARY)},
            "records_lost": self.records_lost,
            "swallowed": mishaps.count,
        }
        self.run.info.update(status=status, ended=time.time(), report=report)
        with mishaps.Swallow("writing run.json"):
            self.run.save()
        return report
