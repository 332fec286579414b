"""Replaying: the edited script runs; blocks without a probe are skipped and their side effects restored."""

from __future__ import annotations

import contextlib
import json
import os
import time
from types import CodeType, FrameType
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, NoReturn, Optional, Sequence, Set, Tuple

from . import _native, instrumented, places, session, state, unforeseen
from .boundaries import skip
from .history import Checkpoint, History
from .messages import say
from .output import Divert, Part, Tap
from .versions import Versions
from .window import Window


class Line(NamedTuple):
    """A line that the script printed on its own during the replay."""

    path: str
    text: str


class Value(NamedTuple):
    """What one run of a probe printed."""

    file: str
    line: int
    path: str
    text: str


class Leave(NamedTuple):
    """How a replay leaves the script in the middle: neither returns, and no `except` or `finally` of the script sees it."""

    at_end: Callable[[], NoReturn]
    """The recorded run went no further than this."""
    cannot_restore: Callable[[Dict[str, str]], NoReturn]
    """Checkpoints do not serve (block and why): these blocks have to run instead."""
    window_over: Callable[[], NoReturn]
    """All iterations that were asked for are done."""


class Replay:
    """The session of `florc replay`."""

    def __init__(self, history: History, versions: Versions, divert: Divert, forced: Set[str], capture: bool,
                 leave: "Leave", window: Optional[Window] = None):
        self.history, self.versions, self.divert, self.forced = history, versions, divert, forced
        self.tap = Tap(self._line, self.versions.files)
        self.lines: List[Line] = []
        self.values: List[Value] = []
        self.differences: List[str] = []
        self.skipped: List[str] = []
        self.reasons: Dict[str, str] = {}
        self.entered: Dict[str, int] = {}
        self.verified = 0
        self.jumped: Optional[int] = None
        """The iteration with which the replay began."""
        self.restore_seconds = 0.0
        self.window = window
        self._begun = False
        """Whether the loop of the window was met."""
        self._leave = leave
        self._reader = unforeseen.Reader(self.versions.files.__contains__)
        self._without_history: Set[str] = set()
        state.History.on_missing = self._miss_history
        self._capture = _Capture(self) if capture else None
        self._open: List[str] = []
        self._pending: Optional[Checkpoint] = None
        self._chunks: List[bytes] = []

    def compile(self, text: str, file: str, module: str) -> CodeType:
        """Compile the present version of a file, its loops named as in the record, its probes marked."""
        original = compile(text, file, "exec", dont_inherit=True)
        emitted = self.versions.instrument(text, file, module)
        if emitted is None or not emitted.changed:
            return original
        try:
            code = instrumented.compile_mapped(emitted, text, file)
        except (instrumented.Altered, RecursionError):
            # As on record: the original runs, and everything in it runs again.
            say(f"{os.path.basename(file)} runs as it is: its instrumented form differs", always=True)
            return original
        places.register(emitted.plan, file)
        return code

    # -- what emitted code calls -----------------------------------------------------------------------------------

    def iteration(self, path: str) -> None:
        """An iteration of an outer loop begins. A run that was cut off is replayed up to its last whole iteration."""
        if self.history.is_beyond(path):
            self._leave.at_end()
        if self.window is not None:
            self._begun |= path.startswith(self.window.outermost + "=")
            if self.window.side(path) == 1:
                self._leave.window_over()

    def answers(self, path: Optional[str] = None) -> bool:
        """Whether what happens now, or at a place, was asked for; before that, state is only brought about."""
        return self.window is None or self.window.holds(_native.loop_path() if path is None else path, self._begun)

    def step_into(self, block: str, frame: FrameType) -> bool:
        """Whether the block must run again."""
        key = _native.enter_block(block)
        reason = self._must_run(block, key)
        if reason is None:
            self.skipped.append(key)
            return False
        self.reasons.setdefault(block, reason)
        self.entered[block] = self.entered.get(block, 0) + 1
        self._open.append(key)
        return True

    def _must_run(self, block: str, key: str) -> Optional[str]:
        if self.window is not None and self.window.is_in(key):
            return "the iterations asked for are in it"
        reason = self.why_never_skipped(block) if self.answers() or self.versions.outside else self._why_forced(block)
        if reason is not None:
            return reason
        checkpoint = self.history.checkpoints.get(key)
        if checkpoint is None:
            return self.history.why_not_kept(block)
        return self._read(checkpoint)

    def _read(self, checkpoint: Checkpoint) -> Optional[str]:
        """Take a checkpoint out of the store; why that cannot be done."""
        begun = time.perf_counter()
        try:
            self._chunks = [self.history.reader.read_chunk(chunk) for chunk in checkpoint.chunks]
        except _native.StoreError as error:
            reason = f"its checkpoint {checkpoint.key} cannot be read: {error}"
            self.differences.append(f"{checkpoint.key}: {reason}")
            return reason
        self._pending = checkpoint
        self.restore_seconds += time.perf_counter() - begun
        return None

    def why_never_skipped(self, block: str, probed: bool = True) -> Optional[str]:
        """Why a block runs in every iteration; None when its checkpoints may be restored. `probed`: a probe in it counts."""
        forced = self._why_forced(block)
        if forced is not None:
            return forced
        if probed and self.versions.is_probed(block):
            return "holds or reaches an added statement"
        held = self.history.held_by(block)
        if held is None:
            return None
        loop = places.loops.get(block) or self.versions.loop(block)
        if loop is None:
            return None
        missing = [p.name for p in loop.places if not p.iterated and p.name not in held.places and not self._absent(p, held)]
        if missing:
            return f"what follows it reads {', '.join(missing)}, which its checkpoints do not hold"
        if loop.gradients and not held.gradients:
            return "gradients are read after it, and its checkpoints do not hold them"
        return None

    def _why_forced(self, block: str) -> Optional[str]:
        return "asked for with --step-into" if block in self.forced or "all" in self.forced else None

    def _absent(self, place: places.Place, held: Checkpoint) -> bool:
        """Whether the record, too, had this place in its plan, and it was unbound then."""
        return place.name in self.history.planned.get(held.block, ())

    def jump(self, path: str, iterable: Any, iterator: Any) -> Optional[Tuple[int, Any]]:
        """A loop begins: with which iteration, and an iterator that is there; None for the first one."""
        place = path.rpartition("=")[0]
        if self.window is None:
            return None
        block = place.rpartition("/")[2] + places.BOUNDARY
        target = self.window.start_of(place)
        if not target or self.versions.outside or self.versions.drift or self.why_never_skipped(block, probed=False):
            return None
        for index in sorted((i for i in self.history.boundaries.get(place, ()) if 0 < i <= target), reverse=True):
            if not self._read(self.history.checkpoints[f"{place}={index}{places.BOUNDARY}"]):
                there = skip(iterable, iterator, index) if iterable is not None else iterator
                if there is None and iterable is not None:
                    self._leave.cannot_restore({block: "its iterator has fewer items than it had"})
                self.jumped = index
                return index, there
        return None

    def boundary(self, loop: str, objects: Sequence[Any], frame: FrameType) -> bool:
        """An iteration begins: whether it is the one that was jumped to. Otherwise its state is compared with the record."""
        key = _native.loop_path() + places.BOUNDARY
        if self._pending is not None and self._pending.key == key:
            return True
        checkpoint = self.history.checkpoints.get(key)
        if checkpoint is not None and self.answers():
            self._compare(checkpoint, places.loops[loop + places.BOUNDARY], objects, frame)
        return False

    def resume(self, loop: str, objects: Sequence[Any], frame: FrameType) -> List[Any]:
        """Put the state of the iteration in place that was jumped to."""
        return self._put_back(loop + places.BOUNDARY, objects, frame)

    def restore(self, block: str, objects: Sequence[Any], maybe: Any, in_globals: Any, frame: FrameType) -> List[Any]:
        """Put the side effects of a skipped block back."""
        try:
            return self._put_back(block, objects, frame)
        finally:
            _native.leave_block(block)

    def _put_back(self, block: str, objects: Sequence[Any], frame: FrameType) -> List[Any]:
        begun = time.perf_counter()
        checkpoint, chunks = self._pending, self._chunks
        self._pending, self._chunks = None, []
        if checkpoint is None:
            raise RuntimeError(f"florc: {block} was not skipped")
        loop = places.loops[block]
        live = self._live(loop, objects, checkpoint.origins, frame)
        outside = places.outside(loop, frame)
        live.update(self._named(checkpoint, outside))
        lost = self.history.lost_names(loop.file, loop.function) | self.history.lost_names(loop.file, "")
        foreign = [value for name, value in outside.items() if name not in live and name not in lost]
        histories = state.History.made
        try:
            values = state.restore(chunks[0], lambda leaf: chunks[leaf + 1], live, foreign=foreign)
        except state.CannotRestore as error:
            self._leave.cannot_restore({block: f"it cannot be restored: {error}"})
        except Exception as error:  # a fault of florc's is not the script's; what it left half done is left behind
            self._leave.cannot_restore({block: f"it cannot be restored: {type(error).__name__}: {error}"})
        finally:
            self.restore_seconds += time.perf_counter() - begun
        if state.History.made > histories:
            self._without_history.add(block)
        for place in loop.places:
            if place.bound and place.in_globals:
                _bind_global(frame, place.name, values)
        return [values.get(p.name, places.unbound) for p in loop.places if p.bound and not p.in_globals]

    def _miss_history(self) -> None:
        self._leave.cannot_restore({block: state.NO_HISTORY for block in self._without_history})

    def _named(self, checkpoint: Checkpoint, outside: Dict[str, Any]) -> Dict[str, Any]:
        """The objects outside the block that are part of its checkpoint, found by name or by path."""
        found = {name: self._reader.follow(outside, name) if name.startswith("[") else outside.get(name)
                 for name in checkpoint.names}
        return {name: value for name, value in found.items() if value is not None}

    def _live(self, loop: places.Loop, objects: Sequence[Any], origins: Dict[str, Optional[str]],
              frame: FrameType) -> Dict[str, Any]:
        """The present objects of places; not of those that got another object while the block ran."""
        present = {name: value for name, value in places.gather(loop, objects, frame).items() if value is not None}
        for place in loop.places:  # a name that may be unbound is not handed over
            value = places.unbound if place.iterated or place.name in present else places.read(frame, place)
            if value is not places.unbound:
                present[place.name] = value
        places.release(frame)
        origin = {place.name: origins.get(place.name, place.name) for place in loop.places}
        return {name: present[held] for name, held in origin.items() if held in present}

    def end(self, block: str, objects: Sequence[Any], maybe: Any, in_globals: Any, frame: FrameType) -> None:
        """A block ran again: compare what it left behind with the record."""
        key = self._close(block)
        if key is not None:
            checkpoint = self.history.checkpoints.get(key)
            if checkpoint is not None:
                self._compare(checkpoint, places.loops[block], objects, frame)
        _native.leave_block(block)

    def _compare(self, checkpoint: Checkpoint, loop: places.Loop, objects: Sequence[Any], frame: FrameType) -> None:
        found = places.gather(loop, objects, frame)
        # An added statement that calls `meter()` makes the whole meter a place, where it was `meter.total`.
        found.update(places.named(frame, [name for name in checkpoint.places if name not in found]))
        self._verify(checkpoint, found, places.outside(loop, frame))

    def _close(self, block: str) -> Optional[str]:
        while self._open:
            key = self._open.pop()
            if key.rsplit("/", 1)[-1].split("#")[0] == block:
                return key
        return None

    def _verify(self, checkpoint: Checkpoint, found: Dict[str, Any], outside: Dict[str, Any]) -> None:
        missing = [name for name in checkpoint.places if name not in found]
        if missing:
            self.differences.append(f"{checkpoint.key}: {', '.join(missing)} is unbound, and was not")
            return
        try:
            names = self._named(checkpoint, outside)
            encoded = state.encode({name: found[name] for name in checkpoint.places}, gradients=checkpoint.gradients,
                                   names=names)
        except state.Unsupported as error:
            self.differences.append(f"{checkpoint.key}: {error}")
            return
        hashes = _native.chunk_hashes([encoded.graph, *state.on_host(encoded.leaves)])
        if hashes == checkpoint.chunks:
            self.verified += 1
            return
        try:
            recorded = self.history.reader.read_chunk(checkpoint.chunks[0])
        except _native.StoreError as error:
            self.differences.append(f"{checkpoint.key}: {error}")
            return
        found_differences = [
            difference for difference in state.differences(recorded, checkpoint.chunks[1:], encoded.graph, hashes[1:])
            if not self.history.is_clock(difference.place)]
        self.differences.extend(f"{checkpoint.key}: {difference}" for difference in found_differences[:5])
        self.verified += not found_differences

    # -- what probes write -----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def probe(self, name: str) -> Iterator[None]:
        """What is written inside reaches the outside; not where nothing is asked."""
        self.tap.paused += 1
        if not self.answers():
            try:
                # what it reads may not be there: the blocks before it were skipped, with or without a probe in them
                with contextlib.suppress(Exception):
                    yield
            finally:
                self.tap.paused -= 1
            return
        if self._capture is not None:
            try:
                with self._capture.values_of(name):
                    yield
            finally:
                self.tap.paused -= 1
            return
        self.divert.open()
        try:
            yield
        finally:
            self.divert.close()
            self.tap.paused -= 1

    def _line(self, parts: List[Part], file: str, line: int) -> None:
        if self.answers(parts[-1].path):
            self.lines.append(Line(parts[-1].path, "".join(part.text for part in parts)))

    def abandon(self) -> None:
        """In a child that the user forked: nothing to do."""


def _bind_global(frame: FrameType, name: str, values: Dict[str, Any]) -> None:
    module, _, path = name.rpartition(":")
    names = places.globals_of(frame, module)
    root, *between = path.split(".")
    if between:
        holder = names[root]
        for attribute in between[:-1]:
            holder = getattr(holder, attribute)
        if name in values:
            setattr(holder, between[-1], values[name])
        elif hasattr(holder, between[-1]):
            delattr(holder, between[-1])
    elif name in values:
        names[root] = values[name]
    else:
        names.pop(root, None)


class _Capture:
    """Keeps what probes write to `sys.stdout`, line by line, for `--json`."""

    def __init__(self, replay: Replay):
        self._replay = replay

    @contextlib.contextmanager
    def values_of(self, name: str) -> Iterator[None]:
        import io

        file, line = self._replay.versions.probe_place(name)
        written = io.StringIO()
        with contextlib.redirect_stdout(written):
            yield
        for text in written.getvalue().splitlines():
            self._replay.values.append(Value(file, line, _native.loop_path(), text))
