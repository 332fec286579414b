"""Recording: the script runs, and what is needed to ask questions later is kept beside it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import time
from types import CodeType, FrameType
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from . import _native, instrumented, messages, places, session, staging, state, unforeseen
from .budget import Budget
from .messages import say
from .output import Part, Tap
from .project import package_of_module
from .runs import Run

COPY_BYTES_PER_S = 1.5e9
"""First guess of how fast state is copied; replaced by what is measured."""
BACKGROUND_BYTES_PER_S = 1.0e9
"""First guess of how fast the writer hashes and writes."""
FIRST_WALK_S = 2e-3
"""First guess of how long it takes to walk a block's state."""
SHORT_BLOCK_S = 1e-3
"""Blocks shorter than this are not listed one by one in the journal."""
SURVEY_SHARE = 0.25
"""Share of the overhead that looking for unforeseen side effects may take."""
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
"""At these errors no more checkpoints are taken; the run goes on."""
ATTEMPTS = 3
"""How often a block whose state could not be kept is tried again."""


class Open(NamedTuple):
    """A block that is running."""

    block: str
    key: str
    started: float
    charged: float
    before: places.Before
    survey: Optional[unforeseen.Survey]


class Recording:
    """The session of `florc record`. Nothing it does may raise into the script."""

    def __init__(self, run: Run, overhead: float, engine: str, max_staging: Optional[int],
                 budget: Optional[Budget] = None):
        self.run = run
        self.recorder = _native.Recorder(run.store, run.id, 0, max_staging=max_staging, engine=engine)
        self.staging = staging.Staging(self.recorder)
        self.policy = _native.Policy(overhead)
        self.overhead = overhead
        self.reader = unforeseen.Reader(self.is_project)
        self.surveyed: Dict[str, Tuple[float, float]] = {}
        """Per block: seconds that a survey took, seconds that the block computed."""
        self.project: Any = None
        """The user's files, analysed together (`_native.Project`)."""
        self.files: Set[str] = set()
        self.tap = Tap(self._line, self.files)
        self.open: List[Open] = []
        self.failed: Dict[str, Tuple[int, str]] = {}
        self.predicted: Dict[str, float] = {}
        self.of_checkpoint: Dict[int, str] = {}
        self.spent = 0.0
        self.budget = budget or Budget(None)
        self.stopped: Optional[str] = None
        """Why no more checkpoints are taken."""
        self.checkpoints = 0
        self.lost: List[str] = []
        """Why checkpoints never reached the recorder."""
        self.started = self.counted = time.perf_counter()

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
        """An iteration of an outer loop begins."""
        with contextlib.suppress(Exception):  # R0
            self.staging.poll()
        self.note("iteration", path=path, at=time.perf_counter() - self.started)

    def step_into(self, block: str, frame: FrameType) -> bool:
        """Recording runs every block."""
        begun = time.perf_counter()
        key = _native.enter_block(block)
        before, survey = places.Before({}, {}, None), None
        try:
            before = places.before(places.loops[block], frame)
            survey = self._survey(block, frame)
        except Exception as error:  # R0
            self._fail(block, f"{type(error).__name__}: {error}")
        now = time.perf_counter()
        self.spent += now - begun
        self.open.append(Open(block, key, now, self.spent, before, survey))
        return True

    def _survey(self, block: str, frame: FrameType) -> Optional[unforeseen.Survey]:
        """Look at what the program holds, when the block takes so long that it costs little; the first time always."""
        seconds, computed = self.surveyed.get(block, (0.0, 1.0))
        given_up = self.failed.get(block, (0, ""))[0] >= ATTEMPTS
        if given_up or 2 * seconds > SURVEY_SHARE * self.overhead * computed:
            return None
        begun = time.perf_counter()
        survey = unforeseen.Survey(frame, places.loops[block], self.reader)
        self.surveyed[block] = (time.perf_counter() - begun, computed)
        return survey

    def end(self, block: str, objects: Sequence[Any], maybe: Any, in_globals: Any, frame: FrameType) -> None:
        """A block ran: materialize its side effects when the Joint Invariant holds."""
        begun = time.perf_counter()
        current = self._close(block)
        if current is not None:
            computed = begun - current.started - (self.spent - current.charged)
            try:
                kept = self._materialize(current, max(computed, 0.0), objects, frame)
            except Exception as error:  # R0: a checkpoint may be lost, a run may not
                kept = False
                self._fail(block, f"{type(error).__name__}: {error}")
            if kept or computed >= SHORT_BLOCK_S:
                self.note("block", key=current.key, seconds=computed, kept=kept)
        _native.leave_block(block)
        self.spent += time.perf_counter() - begun

    def _close(self, block: str) -> Optional[Open]:
        """The open entry of a block; blocks inside it that were left by an exception are dropped."""
        while self.open:
            current = self.open.pop()
            if current.block == block:
                return current
        return None

    def _materialize(self, current: Open, computed: float, objects: Sequence[Any], frame: FrameType) -> bool:
        block = current.block
        now = time.perf_counter()
        self.policy.elapsed(now - self.counted)
        self.counted = now
        self._collect()
        self.policy.observe_compute(block, computed)
        if block in self.surveyed:
            self.surveyed[block] = (self.surveyed[block][0], computed)
        attempts = self.failed.get(block, (0, ""))[0]
        execution = self.policy.times(block)[0]
        if self.stopped or self.staging.is_blocked() or not self.budget.is_due(block, execution):
            return False
        if attempts >= ATTEMPTS or self.recorder.dead or not self.policy.admits(block, self.predicted.get(block, 0.0)):
            return False
        now = time.perf_counter()
        loop = places.loops[block]
        try:
            found = places.gather(loop, objects, frame)
            names = {name: value for name, value in places.outside(loop, frame).items()
                     if current.before.names.get(name) == id(value)}
            if current.survey is not None:
                names.update(current.survey.paths(frame, set(names)))
            encoded = state.encode(found, gradients=loop.gradients, names=names)
            changed = current.survey and current.survey.change(
                frame, loop, unforeseen.held_by(encoded.encoder), unforeseen.slots_of(loop, frame))
        except places.Consumed as error:
            self._fail(block, f"{error} is an iterator made outside the loop", final=True)
            return False
        except state.Unsupported as error:
            self._fail(block, str(error))
            return False
        if changed:
            self._fail(block, f"it changes {changed}, which its plan does not foresee")
            return False
        exchanged = state.exchanged(current.before.data, encoded.encoder)
        if exchanged:
            self._fail(block, f"it exchanges data that a {exchanged} of a dataset holds")
            return False
        if loop.differentiated and encoded.encoder.histories:
            self._fail(block, state.NO_HISTORY, final=True)
            return False
        walked = time.perf_counter() - now
        size = len(encoded.graph) + encoded.nbytes
        if block not in self.predicted:
            # The first walk also searches for the modules that own an optimizer's parameters: once, not every time.
            self.policy.charge(walked)
            walked = FIRST_WALK_S
        self.predicted[block] = (walked + self.staging.copy_seconds(encoded, COPY_BYTES_PER_S)
                                 + self._taken() * size / BACKGROUND_BYTES_PER_S)
        if not self.policy.admits(block, self.predicted[block]):
            return False
        if not self.budget.has_room(size + self.staging.waiting, len(encoded.leaves) + 1):
            self._thin(block, size)
            return False
        header = json.dumps({"block": block, "key": current.key, "places": list(found), "names": encoded.encoder.names,
                             "gradients": loop.gradients,
                             "seconds": computed, "origins": places.origins(loop, current.before, found)})
        chunks = len(encoded.leaves) + 1

        def staged(seq: int) -> None:
            self.of_checkpoint[seq] = block
            self.budget.staged(seq, block, execution, size, chunks)
            self.checkpoints += 1

        stall = self.staging.submit(header, encoded, staged, lambda why: self._lost(block, why))
        if stall is None:
            return False
        self.policy.observe_materialize(block, walked + stall)
        return True

    def _lost(self, block: Optional[str], why: str) -> None:
        self.note("lost checkpoint", block=block, why=why)
        self.lost.append(f"of {block}: {why}" if block else why)

    def _thin(self, block: str, size: int) -> None:
        """The disk space that this run may use is full: drop checkpoints so that those kept stay evenly spread."""
        dropped = self.budget.thin()
        if dropped:
            self.recorder.drop_checkpoints(dropped)
        elif self.budget.gives_up(block):
            self.note("not kept", block=block, why=f"--max-disk is full, and a checkpoint takes {messages.size(size)}")

    def _collect(self) -> None:
        """Charge what the writer used to the blocks it worked for."""
        for done in self.staging.finished(self.of_checkpoint):
            block = self.of_checkpoint.pop(done["seq"], None)
            self.budget.done(done["seq"], done["bytes_written"], bool(done["error"]))
            if done["error"]:
                self.note("lost checkpoint", block=block, why=done["error"])
                if done["errno"] in NO_SPACE and self.stopped is None:
                    self.stopped = done["error"]
                    self.note("stopped", why=self.stopped)
            elif block is not None:
                self.policy.add_background(block, done["cpu_s"] * self._taken())
        for freed in self.recorder.freed():
            self.budget.freed(freed)

    def _taken(self) -> float:
        """Share of background work that training loses: all of it when it uses every core. On a device it uses one."""
        torch = sys.modules.get("torch")
        threads = torch.get_num_threads() if hasattr(torch, "get_num_threads") and not staging.in_use() else 1
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return 1.0 if threads >= cores else 0.1

    def _fail(self, block: str, why: str, final: bool = False) -> None:
        count, known = self.failed.get(block, (0, ""))
        self.failed[block] = (ATTEMPTS if final else count + 1, why)
        if why != known:
            self.note("not kept", block=block, why=why)

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

    # -- the end ---------------------------------------------------------------------------------------------------

    def abandon(self) -> None:
        """In a child that the user forked: nothing is recorded there."""
        self.recorder.abandon()

    def finish(self, status: str) -> Dict[str, Any]:
        """Wait until everything staged is durable, and close the run. Returns the totals for the report."""
        session.end()
        self.tap.remove()
        elapsed = time.perf_counter() - self.started
        begun = time.perf_counter()
        try:
            self.staging.finish()
        except Exception as error:  # R0
            self._lost(None, f"{type(error).__name__}: {error}")
        self.note("end", status=status, seconds=elapsed)
        totals = dict(self.recorder.close())
        report = {
            "seconds": elapsed, "florc_seconds": self.spent, "drain_seconds": time.perf_counter() - begun,
            "overhead": self.spent / elapsed if elapsed > 0 else 0.0,
            "checkpoints": totals.get("checkpoints", self.checkpoints) - self.budget.dropped,
            "bytes": totals.get("bytes_written", 0) - self.budget.freed_bytes, "stopped": self.stopped,
            "dead": self.recorder.dead, "errors": [*self.lost, *totals.get("errors", [])],
            "not_kept": {block: why for block, (_, why) in self.failed.items()},
        }
        self.run.info.update(status=status, ended=time.time(), report=report)
        with contextlib.suppress(OSError):
            self.run.save()
        return report
