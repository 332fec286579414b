"""Recording: the script runs, and what is needed to ask questions later is kept beside it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from types import CodeType, FrameType
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from . import _native, circumstances, instrumented, places, session, unforeseen
from .answer import Open
from .boundaries import Boundaries
from .budget import Budget
from .fast_forward import why_not
from .files_noted import FilesNoted
from .forking import Forking
from .found_files import FOLDER_NAME
from .materializer import Materializer
from .messages import say
from .output import Part, Tap
from .project import package_of_module
from .runs import Run
from .window import loop_of

SHORT_BLOCK_S = 1e-3
"""Blocks shorter than this are not listed one by one in the journal."""
SHORTEST_S = 1e-6
LOOKS = 8
"""So often a block is looked at before any of its executions is passed by."""
SURVEY_SHARE = 0.25
"""Share of the overhead that looking for unforeseen side effects may take."""


class Recording:
    """The session of `florc record`. Nothing it does may raise into the script."""

    pace = 5e-3
    """Iterations that begin sooner than this (in seconds) after a noted one are not noted in the journal."""

    def __init__(self, run: Run, overhead: float, engine: str, max_staging: Optional[int],
                 budget: Optional[Budget] = None):
        self.run = run
        forks = engine in ("auto", "fork")
        self.recorder = _native.Recorder(run.store, run.id, 0, max_staging=max_staging,
                                         engine="writer" if forks else engine)
        forking = Forking(engine if self.recorder.engine == "writer" else self.recorder.engine)
        if engine == "fork" and forking.engine != engine:
            say(f"no checkpoint is encoded by a forked child, there is no writer process: {self.recorder.fallback}")
        self.materializer = Materializer(self.recorder, forking, overhead, budget or Budget(None), self.note)
        self.boundaries = Boundaries(self.materializer, self._survey)
        self.overhead = overhead
        self.reader = unforeseen.Reader(self.is_project)
        self.surveyed: Dict[str, Tuple[float, float]] = {}
        """Per block: seconds that a survey took, seconds that the block computed."""
        self.project: Any = None
        """The user's files, analysed together (`_native.Project`)."""
        self.files: Set[str] = set()
        self.tap = Tap(self._line, self.files)
        self.open: List[Open] = []
        self.pauses: Dict[str, int] = {}
        """Per block: how many of its next executions are passed by."""
        self.looks: Dict[str, Tuple[int, float, float]] = {}
        """Per block: how often it was looked at without keeping it, the seconds that took, the seconds it computed."""
        self.passing: Set[str] = set()
        """Blocks that are running and were passed by."""
        self.spent = 0.0
        self.started = time.perf_counter()
        self.note("clocks", perf_counter=self.started)
        self._is_told = False
        self.files_noted = FilesNoted(os.path.join(run.path, FOLDER_NAME), run.store, overhead, self.note, self._charge)

    # -- compiling -----------------------------------------------------------------------------------------------

    def keep_sources(self) -> None:
        """Keep every file that was analysed: a replay analyses the same ones."""
        for module, package, file, text in self.project.files():
            with contextlib.suppress(OSError):
                self.run.keep_source(file, text, module, package)
        with contextlib.suppress(OSError):
            self.run.save()

    def compile(self, text: str, file: str, module: str) -> CodeType:
        """Instrument and compile a file of the project; where that fails, compile it as it is and say so."""
        begun = time.perf_counter()
        self.files.add(file)
        code = self._compile(text, file, module)
        self.spent += time.perf_counter() - begun
        return code

    def _compile(self, text: str, file: str, module: str) -> CodeType:
        # What Python itself rejects is Python's to report.
        original = compile(text, file, "exec", dont_inherit=True)
        try:
            if self.project.text(file) != text:  # not found by following imports, or written since
                package = package_of_module(module, file)
                with contextlib.suppress(OSError):
                    self.run.keep_source(file, text, module, package)
                    self.run.save()
                self.project.add(module, package, file, text)
            emitted = self.project.instrument(file)
            if not emitted.changed:
                return original
            code = instrumented.compile_mapped(emitted, text, file)
        except (SyntaxError, instrumented.Altered, RecursionError) as error:
            reason = "its instrumented form differs" if isinstance(error, instrumented.Altered) else str(error).strip()
            say(f"{os.path.basename(file)} runs unrecorded: {reason}")
            self.note("left alone", file=file, why=reason)
            return original
        loops = places.register(emitted.plan, file)
        self.note("plan", file=file, plan=json.loads(emitted.plan), loops=[loop.id for loop in loops])
        return code

    def is_project(self, file: str) -> bool:
        """Whether a file is one of those that were compiled here."""
        return file in self.files

    # -- what emitted code calls -----------------------------------------------------------------------------------

    def iteration(self, path: str) -> None:
        """An iteration of a followed loop begins: one of those that are noted."""
        if not self._is_told:
            self._tell_circumstances()
        begun = time.perf_counter()
        self.materializer.poll()
        self.note("iteration", path=path, at=begun - self.started)
        self.spent += time.perf_counter() - begun

    def passed(self, path: str) -> None:
        """This was the last iteration of a loop that is over."""
        self.note("iteration", path=path, at=time.perf_counter() - self.started)

    def _tell_circumstances(self) -> None:
        """What the script imports is imported when its first loop begins; a run that is killed has it, too."""
        begun = time.perf_counter()
        self._is_told = True
        with contextlib.suppress(Exception):  # R0
            self.note("circumstances", found=circumstances.present())
        self.spent += time.perf_counter() - begun

    def value(self, path: str, number: Optional[int]) -> None:
        """An iteration that was noted is over this number; None: it is none, the iterator had no more."""
        if number is None:
            self.note("no iteration", path=path)
        elif -(1 << 63) <= number < 1 << 63:
            self.note("value", path=path, number=number)

    def jump(self, place: str, iterable: Any, iterator: Any) -> None:
        """A loop begins. Where no replay could begin in its middle, nothing needs to be kept for that."""
        block = loop_of(place) + places.BOUNDARY
        why = None
        with contextlib.suppress(Exception):  # R0
            why = why_not(iterable, iterator) if iterable is not None and block in places.loops else None
        self.boundaries.refused = place if why else ""

    def boundary(self, loop: str, objects: Sequence[Any]) -> bool:
        """An iteration of a loop that trains itself begins: it may begin with a checkpoint."""
        begun = time.perf_counter()
        try:
            self.boundaries.at(loop, objects, sys._getframe(1), self.spent)
        except Exception as error:  # R0
            self.materializer.fail(loop + places.BOUNDARY, f"{type(error).__name__}: {error}")
        self.spent += time.perf_counter() - begun
        return False

    def step_into(self, block: str, frame: FrameType) -> bool:
        """Recording runs every block. Those that are so short that looking at each would take more than the overhead are
        passed by, but for one now and then."""
        begun = time.perf_counter()
        key = _native.enter_block(block)
        left = self.pauses.get(block, 0)
        if left:
            self.pauses[block] = left - 1
            self.passing.add(block)
            self.spent += time.perf_counter() - begun
            return True
        self.passing.discard(block)  # it was left by an exception
        before, survey = places.Before({}, {}, None), None
        try:
            before = places.before(places.loops[block], frame)
            survey = self._survey(block, frame)
        except Exception as error:  # R0
            self.materializer.fail(block, f"{type(error).__name__}: {error}")
        now = time.perf_counter()
        self.spent += now - begun
        self.open.append(Open(block, key, now, self.spent, before, survey, now - begun))
        return True

    def _survey(self, block: str, frame: FrameType) -> Optional[unforeseen.Survey]:
        """Look at what the program holds, when the block takes so long that it costs little; the first time always, and
        while it is doubted."""
        seconds, computed = self.surveyed.get(block, (0.0, 1.0))
        is_dear = 2 * seconds > SURVEY_SHARE * self.overhead * computed
        if self.materializer.is_given_up(block) or is_dear and block not in self.materializer.doubted:
            return None
        begun = time.perf_counter()
        survey = unforeseen.Survey(frame, places.loops[block], self.reader)
        self.surveyed[block] = (time.perf_counter() - begun, computed)
        return survey

    def end(self, block: str, objects: Sequence[Any], maybe: Any, in_globals: Any, frame: FrameType) -> None:
        """A block ran: materialize its side effects when the Joint Invariant holds."""
        begun = time.perf_counter()
        if block in self.passing:
            self.passing.discard(block)
            _native.leave_block(block)
            self.spent += time.perf_counter() - begun
            return
        current = self._close(block)
        if current is not None:
            computed = begun - current.started - (self.spent - current.charged)
            if block in self.surveyed:
                self.surveyed[block] = (self.surveyed[block][0], max(computed, 0.0))
            try:
                kept = self.materializer.ended(current, max(computed, 0.0), objects, frame)
            except Exception as error:  # R0: a checkpoint may be lost, a run may not
                kept = False
                self.materializer.fail(block, f"{type(error).__name__}: {error}")
            if kept or computed >= SHORT_BLOCK_S:
                self.note("block", key=current.key, seconds=computed, kept=kept)
            if not kept:
                self._pace(block, current.looking + time.perf_counter() - begun, max(computed, 0.0))
        _native.leave_block(block)
        self.spent += time.perf_counter() - begun

    def _pace(self, block: str, looking: float, computed: float) -> None:
        """How many of the next executions are passed by, so that looking at the block stays within the overhead."""
        times, looked, ran = self.looks.get(block, (0, 0.0, 0.0))
        times, looked, ran = self.looks[block] = times + 1, looked + looking, ran + computed
        if times >= LOOKS:
            self.pauses[block] = min(int(looked / (self.overhead * max(ran, SHORTEST_S))), times)

    def _close(self, block: str) -> Optional[Open]:
        """The open entry of a block; blocks inside it that were left by an exception are dropped."""
        while self.open:
            current = self.open.pop()
            if current.block == block:
                return current
        return None

    def probe(self, name: str) -> Any:
        """Recorded scripts hold no probes."""
        return contextlib.nullcontext()

    # -- the journal -----------------------------------------------------------------------------------------------

    def note(self, kind: str, **payload: Any) -> None:
        """Add a record to the journal."""
        with contextlib.suppress(Exception):
            self.recorder.log(kind, json.dumps(payload))

    def _line(self, parts: List[Part], file: str, line: int) -> None:
        begun = time.perf_counter()
        path = parts[-1].path
        several = {"parts": parts} if any(part.path != path for part in parts) else {}
        self.note("line", path=path, text="".join(part.text for part in parts), file=file, line=line, **several)
        self.spent += time.perf_counter() - begun

    def _charge(self, seconds: float) -> None:
        self.spent += seconds

    # -- the end ---------------------------------------------------------------------------------------------------

    def abandon(self) -> None:
        """In a child that the user forked: nothing is recorded there."""
        self.recorder.abandon()

    def finish(self, status: str) -> Dict[str, Any]:
        """Wait until everything staged is durable, and close the run. Returns the totals for the report."""
        session.end()
        self.tap.remove()
        self.files_noted.end()
        elapsed = time.perf_counter() - self.started
        begun = time.perf_counter()
        self.materializer.finish()
        last = _native.last_passed()
        if last is not None:
            self.note("iteration", path=last, at=elapsed)
        self.note("end", status=status, seconds=elapsed)
        totals = dict(self.recorder.close())
        kept = self.materializer
        report = {
            "seconds": elapsed, "florc_seconds": self.spent, "drain_seconds": time.perf_counter() - begun,
            "overhead": self.spent / elapsed if elapsed > 0 else 0.0,
            "checkpoints": totals.get("checkpoints", kept.checkpoints) - kept.budget.dropped,
            "bytes": totals.get("bytes_written", 0) - kept.budget.freed_bytes, "stopped": kept.stopped,
            "dead": self.recorder.dead, "errors": [*kept.lost, *totals.get("errors", [])],
            "not_kept": {block: why for block, (_, why) in kept.failed.items() if not block.endswith(places.BOUNDARY)},
        }
        self.run.info.update(status=status, ended=time.time(), report=report)
        with contextlib.suppress(OSError):
            self.run.save()
        return report
