"""The session of a replay: the edited script runs, and blocks without a probe are skipped and restored."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NoReturn

from ... import _native, state
from ...inputs import logging_began
from ...plan import places
from ...plan.window import Window
from ...process import start
from ...process.divert import Divert
from ...process.fast_forward import after, why_not
from ...process.log_files import LogFiles
from ...process.output import Tap
from ...project import positions as instrumented
from ...runs import described, environment, writers
from ...runs.journal import History
from ...runs.versions import Versions
from ...support import mishaps
from ...support.console import say
from ...survey import plain
from ..select.skipped import Skipped
from . import live, proof, unrecorded
from . import progress as progress_line
from .capture import Line, Logged, Value
from .compare import Comparer
from .leave import Leave
from .probes import Probes
from .purity import Looking
from .restore import CannotRestore, Damaged, Restorer
from .statements import Ran, Statements
from .tracked import Tracked
from .witnessed import Witnessed

_ROOT = re.compile(r"[.\[:]")
"""What is between the names of a place."""


class Replay:
    """The session of `florc replay`."""

    pace = 0.0
    """The session hears of every iteration."""

    @property
    def inputs(self) -> list[tuple[Any, ...]]:
        """The recorded inputs, to be given back."""
        return self.history.inputs

    def __init__(
        self,
        history: History,
        versions: Versions,
        divert: Divert,
        forced: set[str],
        capture: bool,
        leave: Leave,
        window: Window | None = None,
        statements: Statements | None = None,
        checks_first: bool = False,
        folder: str = "",
    ):
        """`folder`: of this replay alone, while it runs."""
        self.history, self.versions, self.divert, self.forced = history, versions, divert, forced
        streams = (
            Tap(self._line, self.versions.files, at_top=lambda: self.names.printed(sys._getframe().f_back)),
            Tap(lambda *_: None, self.versions.files, is_error=True),
        )
        self.taps = (*streams, LogFiles(self._logged, self.versions.files))
        self.lines: list[Line] = []
        self.logged: list[Logged] = []
        self.values: list[Value] = []
        self.skipped = Skipped()
        self.reasons: dict[str, dict[str, int]] = {}
        """For each block that was re-executed, and each loop that ran from its first iteration (`loops.BOUNDARY`): why, and how
        often for this reason."""
        self.entered: dict[str, int] = {}
        self.window = window
        self._proof: str | None = None
        self.variables: Mapping[str, str] = os.environ
        """The environment with which this process began."""
        self.written: set[str] = set()
        """Files that ranks of the script wrote in this replay: what the script reads there is theirs."""
        self.begun = False
        """Whether the replay has reached the loop of the window."""
        self.leave = leave
        self.keeps_left = described.keeps_left(history.run.info)
        places.want({checkpoint.block for checkpoint in history.checkpoints.values()})
        self.restorer = Restorer(
            history, self.versions.files, checks_first, self.versions.may_wait, self.versions.holding, self._witness
        )
        self.comparer = Comparer(history, self.restorer, versions.recorded_line)
        self._writers = writers.Writers(history)
        self.looking = Looking(versions, self.versions.files)
        state.History.on_missing = self._miss_history
        state.watch_lapsed(self._lapsed_used)
        state.deferred.on_damage = lambda error: leave.damaged(str(error))
        self.statements = statements or Statements("")
        """How often each added statement ran, and was answered."""
        self.tracked = Tracked(history, folder, versions.probe_place)
        self.probes = Probes(self, capture)
        start.after_import("logging", functools.partial(logging_began.put_back, history.logging, history.inputs))
        self.names = plain.Compared(history.names, history.clocks().wall, history.pid or 0)
        self.reached: dict[str, int] = {}
        """Main loop at its place -> how many iterations it had so far."""
        self.read_back: list[str] = []
        """Sentences about files that were read and may differ from the recorded run."""
        self.ended_in = ""
        """The iteration in which the recorded run was cut off, if this replay reached it: `epoch=7`."""
        self.is_over = False
        """Whether the replay ended with the record, or with what was asked for, and not with the script."""
        self.progress: progress_line.Progress | None = None
        """Where it is, for somebody who looks on."""
        self._open: list[str] = []
        self._witnessed: Witnessed | None = None
        self.again: dict[str, str] = {}
        """Blocks for which the replay started again, and why."""
        self._is_damage_told = False
        self._is_restored = False
        """Whether a block was restored since an iteration began."""

    @functools.cached_property
    def environment(self) -> list[str]:
        """What has changed since the run was recorded."""
        return environment.since(self.history, self.versions.files, self.written, self.variables)

    @property
    def ran(self) -> dict[str, Ran]:
        """What became of each added statement."""
        return self.statements.all()

    @property
    def unrecorded(self) -> list[str]:
        """Inputs that the script took and the record does not have."""
        logged = {value[:3] for value in self.values if value.message is not None}
        # a logger may write a line with its time alone
        shown = [(value.text, value.message or ("" if value[:3] in logged else None)) for value in self.values]
        asks_number = _native.is_process_told() or not {"getpid", "current_process"}.isdisjoint(
            set().union(*self.versions.names())
        )
        others = [*self.statements.others.unanswered, *self.looking.raced.values(), *self.names.doubts]
        others += unrecorded.looks(self.versions, self.has_restored)
        # a replay that begins in the middle, or of ranks that meet elsewhere, holds other things meanwhile
        is_whole = self.window is None and not self.skipped.jumps and len(self.history.together) == 1
        drifted = self._witnessed.drifted if self._witnessed is not None else {}
        different = unrecorded.without_times({**self.names.different, **drifted}, self.comparer.timed) if is_whole else {}
        return unrecorded.inputs(others, different, shown, self.names.began, self.history.clocks().wall, asks_number)

    @property
    def disturbances(self) -> list[str]:
        """What added statements left behind for later code. What one part of a run leaves behind, the next part would find."""
        if self.window is not None:
            self.looking.follows()
        return self.looking.disturbances

    def note_read_back(self, written: list[str], unsure: list[str]) -> None:
        """Note files that the script wrote and then read: if iterations were skipped, they may differ from the recorded run.
        `unsure`: files that may differ in any case."""
        is_partial = self.window is not None or bool(self.skipped.jumps)
        self.read_back = list(dict.fromkeys([*unsure, *(written if is_partial else ())]))

    @property
    def has_restored(self) -> bool:
        """Whether anything was restored rather than run."""
        return bool(self.skipped.blocks or self.skipped.jumps)

    @property
    def restore_seconds(self) -> float:
        """Seconds that restoring took."""
        return self.restorer.seconds

    def _witness(self) -> Witnessed | None:
        """What tells whether blocks are restored wholly; None where the present program may hold something else."""
        if self.versions.has_changed:
            return None
        if self._witnessed is None:
            self._witnessed = Witnessed(self.history, self.versions.misfits, self.again)
        return self._witnessed

    def compile(self, text: str, file: str, module: str) -> CodeType:
        """Compile the present version of a file, with the recorded names of its loops and with its probes marked. Raises
        SyntaxError."""
        _native.is_the_scripts(module)
        compiled = instrumented.compile_user_file(text, file, lambda: self.versions.instrument(text, file, module))
        if compiled.left_alone is not None:  # as on record; everything in it runs again
            say(f"{os.path.basename(file)} runs as it is: {compiled.left_alone}", always=True, code="F304")
        elif compiled.plan is not None:
            places.register(compiled.plan)
        instrumented.warn(compiled, text, file)
        return compiled.code

    # -- what emitted code calls -----------------------------------------------------------------------------------

    def iteration(self, path: str) -> None:
        """An iteration of an outer loop begins. A run that was cut off is replayed up to its last whole iteration."""
        at = _native.Path(path)
        if self.history.is_beyond(at, self.reached):
            self.leave.at_end()
        self.names.compare(path, sys._getframe(1))
        place, index = at.iterations[-1]
        self.reached[place] = index + 1
        if self.progress is not None:
            self.progress.at(path, progress_line.Counts(len(self.skipped.blocks), sum(self.entered.values())))
        if self.window is not None:
            self.begun |= self.window.begins(path)
            if self.window.is_over(path, self.begun) and not self._goes_on(path):
                self.leave.window_over()

    def value(self, path: str, number: int | None) -> None:
        """The number of an iteration, as the loop variable has it; None: the loop has no such iteration."""
        if number is None:
            self.names.compare(path, sys._getframe(1))
            place, index = _native.Path(path).iterations[-1]
            self.reached[place] = index

    def script_ended(self) -> None:
        """The script came to its end."""
        if self.window is None and not self.is_over and not self.history.interrupted:  # a replay is not interrupted there
            self.names.compare(plain.END, None)

    def _goes_on(self, path: str) -> bool:
        """Whether a checkpoint with which what was computed can be compared comes soon: sooner than the window took."""
        at = _native.Path(path)
        place, index = at.iterations[-1]
        if self.window is None or place != self.window.stop_place:
            return False
        later = [i for i in self.history.boundaries.get(place, ()) if i >= self.window.stop]
        if str(at.parent) in self.history.checkpoints:
            later.append(self.history.timeline.loops[place].count)
        ran = self.window.stop - self.skipped.jumps.get(place, 0)
        return bool(later) and index <= min(later) <= self.window.stop + ran

    def answers(self, path: str | None = None) -> bool:
        """Whether what happens now, or at a place, was asked for. Before that, the replay only computes state."""
        return self.window is None or self.window.holds(_native.loop_path() if path is None else path, self.begun)

    def step_into(self, block: str, frame: FrameType) -> bool:
        """Whether the block must be re-executed."""
        key = _native.enter_block(block)
        reason = self._must_run(block, key)
        if reason is None:
            self.looking.follows()
            self._holds(key)
            self.skipped.blocks.add(key)
            live.block(key, True)
            if self.history.writes(block) or self._writers.may_write(key):
                self.skipped.told()
            return False
        self._ran(block, reason)
        self.entered[block] = self.entered.get(block, 0) + 1
        self._open.append(key)
        live.block(key, False)
        return True

    def _holds(self, key: str) -> None:
        """What a checkpoint gives back need not be compared."""
        self.names.restored({part for name in self.history.checkpoints[key].places for part in _ROOT.split(name)})

    def _must_run(self, block: str, key: str) -> str | None:
        if self._proof is None:
            self._proof = "" if self.window is not None else proof.cheapest(self.history, self.why_never_skipped)
        if proof.needs(key, self._proof):
            return proof.WHY
        reason = self.window.why_run(key) if self.window is not None else None
        if reason is not None:
            return reason
        reason = (
            self.why_never_skipped(block, key)
            if self.window is None or self.answers()
            else (self._why_forced(block) or self.versions.why_run_before(block, key, self.window.is_next(key)))
        )
        if reason is not None:
            return reason
        checkpoint = self.history.checkpoints.get(key)
        if checkpoint is None:
            return self.history.why_not_kept(block, key)
        slower = self.restorer.speeds.why_run(checkpoint)
        if slower is not None:
            return slower
        unreadable = self.restorer.take(checkpoint)
        if unreadable is None:
            return None
        if len(self.history.together) > 1:  # the other ranks would restore it
            self.leave.cannot_restore({block: f"what was kept of it cannot be read: {unreadable}"})
        if not self._is_damage_told:
            self._is_damage_told = True
            say(
                f"{key}: its checkpoint cannot be read: {unreadable}; what cannot be restored is computed again",
                always=True,
                code="F205",
            )
        return "what was kept of it cannot be read"

    def started_again_for(self, blocks: Mapping[str, str]) -> None:
        """The replay started again to run these blocks; the report gives that as the reason."""
        for block, why in blocks.items():
            if block in self.entered or block.endswith(places.BOUNDARY):
                self.reasons[block] = {why: self.entered.get(block, 1)}

    def _ran(self, block: str, reason: str) -> None:
        reasons = self.reasons.setdefault(block, {})
        reasons[reason] = reasons.get(reason, 0) + 1

    def why_never_skipped(self, block: str, key: str) -> str | None:
        """Why a block runs wherever values are asked for; None if its checkpoint with this key may be restored."""
        return self._why_forced(block) or self.versions.why_run(block, key)

    def _why_forced(self, block: str) -> str | None:
        return "asked for with --step-into" if block in self.forced or "all" in self.forced else None

    def restore(self, block: str, objects: Sequence[Any], maybe: Sequence[str], in_globals: Any, frame: FrameType) -> list[Any]:
        """Restore what a skipped block changed."""
        self._is_restored = True
        try:
            return self._put_back(block, objects, maybe, frame)
        finally:
            _native.leave_block(block)

    def _put_back(self, block: str, objects: Sequence[Any], maybe: Sequence[str], frame: FrameType) -> list[Any]:
        loop = places.loops[block]
        bound = places.loops.get(block.removesuffix(places.BOUNDARY), loop).binds
        self.names.restored({*loop.binds, *bound})
        try:
            return self.restorer.put_back(loop, objects, maybe, frame)
        except CannotRestore as error:
            self._cannot_restore({block: str(error)}, error.whatever_asked)
        except Damaged as error:
            if self.restorer.checks_first:  # it was whole a moment ago
                self.leave.cannot_restore({block: str(error)})
            self.leave.damaged(str(error))

    def _lapsed_used(self, what: str) -> None:
        if not self.looking.is_running():  # of the script's own
            self.versions.lapsed.remember_used(what)
        why = f"a {what} that it moves is used later, and its checkpoints do not hold that"
        self.leave.cannot_restore(dict.fromkeys(self.versions.lapsed.blocks_of(what), why))

    def _miss_history(self) -> None:
        why = dict.fromkeys(self.restorer.without_history, state.NO_HISTORY)
        self._cannot_restore(why, not self.looking.is_running())

    def _cannot_restore(self, blocks: dict[str, str], whatever_asked: bool) -> NoReturn:
        """Start again. What neither the added statements nor another environment brought about will be so next time."""
        if whatever_asked and not self.versions.has_changed and not self.environment:
            self.versions.misfits.remember(blocks)
        self.leave.cannot_restore(blocks)

    def end(self, block: str, objects: Sequence[Any], maybe: Any, in_globals: Any, frame: FrameType) -> None:
        """A block was re-executed: compare what it left behind with the record."""
        key = self._close(block)
        checkpoint = None if key is None else self.history.checkpoints.get(key)
        if checkpoint is not None:
            self.comparer.compare(checkpoint, places.loops[block], objects, frame)
            self.restorer.speeds.ran(checkpoint)
            self._see(checkpoint, block, frame)
        _native.leave_block(block)

    def _see(self, checkpoint: _native.Checkpoint, block: str, frame: FrameType) -> None:
        """A block was re-executed: see what differs nevertheless, and whether its restore was at fault if it was doubted."""
        witnessed = self._witness() if checkpoint.witness else None
        if witnessed is None or self.window is not None or self.skipped.jumps:
            return  # a part of a run may not have all that its names lead to
        with mishaps.Swallow(f"taking the witness of {block}"):
            different = witnessed.differing(checkpoint, places.loops[block], frame, {}, self.versions.holding().names)
            witnessed.ran(checkpoint, different)

    # -- the start of iterations -----------------------------------------------------------------------------------

    def jump(self, place: str, iterable: Any, iterator: Any) -> tuple[int, Any] | None:
        """A loop begins. Returns the iteration that it begins with, and an iterator that starts there (of a `for` loop). None
        for the first iteration."""
        loop = _native.Path(place)
        block = loop.loop
        first = self._first_asked(place)
        if first <= 0 or self._why_forced(block) or self._why_forced(block + places.BOUNDARY):
            return None
        unsafe = None if iterable is None else why_not(iterable, iterator)
        if unsafe is not None or self.versions.why_not_jumped(block) is not None:
            if unsafe is not None and self.window is not None and block + places.BOUNDARY in places.loops:
                self._ran(block + places.BOUNDARY, unsafe)
            return None
        held = self.history.boundaries.get(place, ())
        unreadable = None
        for index in sorted((i for i in held if 0 < i <= first), reverse=True):
            checkpoint = self.history.checkpoints[str(loop.at(index).start())]
            unreadable = self.restorer.take(checkpoint)
            if unreadable is None:
                try:
                    there = None if iterable is None else after(index, iterable, iterator)
                except StopIteration:
                    self._cannot_restore({block + places.BOUNDARY: "its iterator has fewer items than it had"}, True)
                self._holds(str(loop.at(index).start()))
                self.skipped.jumps[place] = index
                if self.history.writes(block + places.BOUNDARY):
                    self.skipped.told()
                return index, there
        if unreadable is not None:
            self._ran(block + places.BOUNDARY, f"its checkpoints cannot be read: {unreadable}")
        return None

    def _first_asked(self, place: str) -> int:
        """The first iteration of a loop for which something was asked."""
        if self.window is not None:
            return self.window.first_of(place, self.begun)
        return self.versions.first_asked(place)

    def boundary(self, loop: str, objects: Sequence[Any]) -> bool:
        """An iteration begins. Returns whether the replay jumped to it; if not, its state is compared with the record."""
        key = _native.loop_path() + places.BOUNDARY
        if self.restorer.has_at_hand(key):
            return True
        checkpoint = self.history.checkpoints.get(key)
        if checkpoint is not None:
            if not self._is_restored:  # else it would be compared with itself
                self.comparer.compare(checkpoint, places.loops[loop + places.BOUNDARY], objects, sys._getframe(1))
                self._see(checkpoint, loop + places.BOUNDARY, sys._getframe(1))
            if self.window is not None and self.window.is_over(_native.loop_path(), self.begun):
                self.leave.window_over()
        self._is_restored = False
        return False

    def resume(self, loop: str, objects: Sequence[Any], maybe: Sequence[str], frame: FrameType) -> list[Any]:
        """Restore the state of the iteration that the replay jumped to."""
        self.looking.follows()
        return self._put_back(loop + places.BOUNDARY, objects, maybe, frame)

    def _close(self, block: str) -> str | None:
        while self._open:
            key = self._open.pop()
            if _native.Path(key).name == block:
                return key
        return None

    # -- what probes write -----------------------------------------------------------------------------------------

    def probe(self, name: str, frame: FrameType, is_called: bool = False) -> contextlib.AbstractContextManager[Any]:
        """A context manager around an added statement, or a lambda of it: what it prints reaches the user if it was asked for."""
        return self.probes.around(name, frame, is_called)

    def is_added(self, file: str, line: int) -> bool:
        """Whether an added statement begins in this line."""
        return any(self.versions.probe_place(name) == (file, line) for name in self.versions.marked())

    def argument(self, name: str, value: Any) -> Any:
        """The recorded value of a setting; the present one where that is not known, or not always the same."""
        recorded = self.history.arguments.get(name, [])
        return recorded[0] if len(recorded) == 1 and type(recorded[0]) is type(value) else value

    def _line(self, parts: list[tuple[str, str]], file: str, line: int) -> None:
        self.probes.note_early()
        self.lines += self._asked_for(parts)

    def _logged(self, _: int, parts: list[tuple[str, str]], file: str, line: int) -> None:
        self.logged += [Logged(found, file, line) for found in self._asked_for(parts)]

    def _asked_for(self, parts: list[tuple[str, str]]) -> list[Line]:
        path = parts[-1][0]
        text = "".join(text for place, text in parts if self.answers(place))
        return [Line(path, text)] if self.answers(path) else []

    def abandon(self) -> None:
        """In a child that the script forked there is no replay; `statements` keeps what its added statements print."""
        self.progress = None
