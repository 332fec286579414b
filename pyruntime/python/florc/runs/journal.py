"""What a run's journal tells: its checkpoints by key, its lines, how far it came."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Collection, Sequence

from .. import _native
from ..adapters.libraries import DURATIONS
from ..plan.loops import is_in_use
from ..process.spawned import FOLDER
from ..project.script import Unusable
from ..support.console import recorded_cells
from ..support.light import suppress
from . import found_files, masks
from .catalog import all_runs, of_rank
from .clocks import Spans
from .entries import Entries, LogLine, Read
from .run import CUT, Run
from .timeline import outermost


class History(Entries):
    """The journal of a run, read once, and what can be asked of it."""

    def __init__(self, run: Run):
        super().__init__(run)
        self.together: Sequence[History] = [self]
        """The histories of all ranks that ran together (`joint`), this one included, in their order."""
        self.one_sided: set[str] = set()
        """Blocks that only some ranks ran, and that are restored there: the others may wait for what they sent."""

    @functools.cached_property
    def spawned(self) -> list[History]:
        """What each of the ranks recorded that the script started itself, call by call; of those that can be read."""
        found: list[History] = []
        folder = self.run.own(FOLDER)
        with suppress(OSError):
            for store in sorted(os.listdir(folder)):
                for run in all_runs(os.path.join(folder, store)):
                    with suppress(Unusable, _native.StoreError):
                        found += [History(of_rank(run, number)) for number in range(run.ranks)]
        return found

    @property
    def is_cut(self) -> bool:
        """Whether the run has an unfinished iteration, in this rank or in another."""
        return any(history.run.status in CUT for history in self.together)

    @property
    def damage(self) -> str | None:
        """Where the journal cannot be read; None when it is whole."""
        journal = self.run.journal
        if self.reader.damaged:
            return f"{journal} is damaged at {self.reader.damaged}; what the run recorded after that is not used"
        if self.run.status == "killed":  # a killed run leaves it so
            return None
        if self.reader.torn:
            return f"{journal} is cut off at {self.reader.torn}; what the run recorded after that is missing"
        if self.run.status == "cut off":
            return f"{journal} is cut off before the end of the run; what it recorded after that is missing"
        return None

    def damaged_packs(self) -> list[str]:
        """Which packs of the run cannot be read, and why."""
        return [why for name, why in self.reader.damaged_packs() if name.startswith(self.run.id + "-")]

    @functools.cached_property
    def sources(self) -> _native.Sources:
        """The recorded project, as the compiler reads it. Raises Unusable when a file of it is damaged."""
        return _native.Sources(self.run.files())

    @functools.cached_property
    def variables(self) -> dict[str, list[str]]:
        """The names that the headers of the loops bind, by id."""
        return self.sources.variables()

    def iteration(self, path: str) -> str:
        """The iterations that a place is in, as `--iterations` takes them: `fold=0,epoch=2`; nothing outside all loops."""
        return self.timeline.words(path, self.variables)

    def noted_functions(self) -> list[_native.Function]:
        """The functions of which it is known what entered them."""
        if any(history._is_anywhere for history in self.together):
            return []
        noted = [set(history._functions.values()) for history in self.together]
        return sorted(set.intersection(*noted).difference(*(history._elsewhere for history in self.together)))

    def vouches(self, is_over: bool) -> bool:
        """Whether the journal speaks of all that a replay ran. `is_over`: it ended before the script did, where the journal
        of a run that was cut off ends its last whole iteration."""
        is_cut = any(history.run.status in CUT and history.run.status != "interrupted" for history in self.together)
        is_cut = is_cut or self.is_interrupted_in_block
        return not is_cut or is_over and all(history.last_path for history in self.together)

    def lost_names(self, file: str, function: str) -> set[str]:
        """Names that some recorded block of the function bound without putting them back."""
        plan = self.plans.get(file)
        return {
            name
            for loop in (plan.loops if plan is not None else ())
            if is_in_use(loop) and loop.function == function
            for name in loop.binds
            if all(place.name != name for place in loop.places)
        }

    def writes(self, block: str) -> bool:
        """Whether a block, or the iterations before one of its loop, may write to files that are open already."""
        return self._writing.get(block, True)

    def held_by(self, block: str) -> _native.Checkpoint | None:
        """A checkpoint of the block, to see which places its checkpoints hold; None when there is none."""
        return self._held.get(block)

    def leaves_gradients(self, block: str) -> bool:
        """Whether the block was seen to leave gradients that its checkpoint does not hold."""
        return any(checkpoint.leaves_gradients for checkpoint in self._all_of(block))

    def lapsed(self, key: str) -> frozenset[str]:
        """What a checkpoint lacks, in one of the ranks: the classes of iterators that were under way (`state.lapsed`), and the
        names of data loaders whose workers live on (`adapters.persistent`)."""
        held = (history.checkpoints.get(key) for history in self.together)
        return frozenset(name for checkpoint in held if checkpoint is not None for name in checkpoint.lapsed)

    def dead(self, block: str) -> frozenset[str]:
        """The names that the recorded script read no more after a block, and that each of its checkpoints holds."""
        return self._in_each(block, lambda checkpoint: checkpoint.dead)

    def forms(self, block: str) -> frozenset[str]:
        """The same of names of which the form is known, at least."""
        return self._in_each(block, lambda checkpoint: checkpoint.dead.union(checkpoint.forms))

    def _in_each(self, block: str, names: Callable[[_native.Checkpoint], set[str]]) -> frozenset[str]:
        found = [frozenset(names(checkpoint)) for checkpoint in self._all_of(block)]
        return frozenset.intersection(*found) if found else frozenset()

    def _all_of(self, block: str) -> list[_native.Checkpoint]:
        """The checkpoints of a block, of all ranks."""
        return [found for history in self.together for found in history.checkpoints.values() if found.block == block]

    def is_compared_anyway(self) -> bool:
        """Whether the run printed something that a replay prints again, whatever it restores: each of its ranks."""
        compared = [(*history.known_lines(), *history.log_lines()) for history in self.together]
        return all(any(not _native.Path(line.path).blocks for line in lines) for lines in compared)

    def why_not_kept(self, block: str, key: str = "") -> str:
        """Why there is no checkpoint where one was looked for; `key`: of an execution, else of any of the block's."""
        for history in self.together:
            if block in history._not_kept:
                of_rank = f"in rank {history.run.rank}, " if len(self.together) > 1 else ""
                return f"{of_rank}it could not be checkpointed: {history._not_kept[block]}"
        if self.damage is not None:
            return "what can be read of the journal names no checkpoint of it here"
        left = [known for history in self.together for known in history.left if _native.Path(known).name == block]
        if key in left or left and not key:
            return "an exception left it"
        if self._dropped:
            return "no checkpoint was kept of it here (to stay within --max-disk)"
        return "no checkpoint was kept of it here (materializing would have cost more than the overhead allowed)"

    def is_duration(self, place: str) -> bool:
        """Whether a part of the state (`env.time_queue`) holds how long something took, by a clock of a library."""
        inside = re.sub(r"^[\w.]+:", "", place)  # a global of another module: `utils:last_time`
        parts = re.split(r"[.\[\]']+", inside)[1:]
        return any(all(part in parts for part in name.split(".")) for name in DURATIONS)

    def clocks(self) -> Spans:
        """What the clocks showed while the run went on."""
        seconds = self._last_at if self.seconds is None else self.seconds
        began = self.run.info.get("started")
        wall = None if began is None else (began, self.run.info.get("ended", began + seconds))
        return Spans(wall, None if self._steady is None else (self._steady, self._steady + seconds))

    def comparable(self, line: LogLine) -> Callable[[str], str]:
        """How to read a recorded line, and the replayed one beside it, before comparing them: a library may print the time, and
        any line after too many values were taken from clocks to keep them."""
        if line.is_late:
            return masks.without_numbers
        is_shown = -line.line in recorded_cells.get(line.file, ())  # by florc, for a cell of a notebook
        return masks.without_times if line.line < 0 and not is_shown else str

    def reads(self) -> dict[str, Read]:
        """Files that the run read and did not change, where they lie now: size, time in ns, hash or None."""
        changed = self.changed_files()
        found = {self.run.file(path): known for path, known in self._reads.items()}
        return {path: known for path, known in found.items() if path not in changed}

    def changed_files(self) -> set[str]:
        """Files that the run made, changed or removed, where they lie now; this rank or another."""
        return {self.run.file(noted.path) for history in self.together for noted in history.files}

    def noted_files(self) -> dict[str, found_files.Noted]:
        """What is known of them, by their paths. What one rank made, another one may have found there."""
        found: dict[str, found_files.Noted] = {}
        for history in self.together:
            own = found_files.read(history.files, history.run.own(found_files.FOLDER_NAME), history.run.file)
            for path, noted in own.items():
                known = found.get(path)
                found[path] = noted if known is None else known.beside(noted)
        return found

    @property
    def how_it_ended(self) -> str:
        """What befell the recorded run in its last known iteration: a verb."""
        return "was interrupted" if self.interrupted else "ended"

    @property
    def is_interrupted_in_block(self) -> bool:
        """Whether a Ctrl-C came in a loop whose iterations are not noted: nothing tells where in it a replay has to end."""
        return any(bool(one.interrupted) and _native.Path(one.interrupted).index is None for one in self.together)

    def log_lines(self) -> list[LogLine]:
        """What loggers of the script's process wrote to files, in a run that came to its end."""
        if self.is_cut or any(history.interrupted for history in self.together):
            return []
        return [line for line in self.written if line.log and line.child is None]

    def known_lines(self) -> list[LogLine]:
        """The lines up to the iteration in which the recorded run was cut off, or got a Ctrl-C: a replay ends there, too."""
        if not any(history.interrupted for history in self.together) and not self.is_cut:
            return self.lines
        lines = self.lines[: self._lines_before] if self.interrupted else self.lines
        if self.is_interrupted_in_block:  # which of its lines came before that, nothing tells
            within = (at for at, line in enumerate(lines) if str(outermost(line.path)) == self.interrupted)
            return lines[: next(within, len(lines))]
        beyond = {path for path in {line.path for line in lines} if self.is_beyond(outermost(path))}
        return [line for line in lines if line.path not in beyond]

    def is_beyond(self, path: _native.Path, reached: Collection[str] = ()) -> bool:
        """Whether an iteration was not finished by the recorded run, which was cut off or got a Ctrl-C in it, or by another rank
        of it. `reached`: loops begun so far."""
        return any(history._is_beyond(path, reached) for history in self.together)

    def _is_beyond(self, path: _native.Path, reached: Collection[str]) -> bool:
        if len(path.iterations) > 1 or path.parent and path.index is None:
            return False
        if self.interrupted:
            return path >= _native.Path(self.interrupted)
        if self.run.status not in CUT:
            return False
        if not self.last_path:  # nothing is known of any
            return True
        last = outermost(self.last_path)
        known = self.timeline.loops.get(str(path.place)) if path.index is not None else None
        if known is None:  # a short one may not have been noted, but none after the last that was
            return str(last.place) in reached
        return not known.ended and path >= last
