"""What a run's journal tells: its checkpoints by key, its lines, how far it came."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _native
from ..plan.places import BOUNDARY
from ..process.output import Part
from ..project.script import Unusable
from ..support.light import dumps
from . import masks
from .clocks import DURATIONS, Spans
from .run import CUT, Run
from .timeline import Timeline, variables_of

if TYPE_CHECKING:
    Read = tuple[int, int, str | None]
    """Of a file that was read: bytes, time of its last change in ns, hash."""


def _kept(loop: _native.Loop | None) -> dict[str, bool]:
    return {} if loop is None else {place.name: place.bound for place in loop.places if not place.iterated}


class Checkpoint(NamedTuple):
    """A checkpoint that is durable. `chunks[0]` is the object graph, the others are its leaves, by hash."""

    block: str
    key: str
    places: list[str]
    gradients: bool
    chunks: list[str]
    nbytes: int
    names: list[str]
    """Names outside the block that held objects of its places."""
    origins: dict[str, str | None]
    """Places whose object is not the one that was there before the block: the place where it was then, if any."""
    dead: frozenset[str] = frozenset()
    """Of the places, those that the recorded script read no more."""
    forms: dict[str, list[Any]] = {}
    """Further such names, of which only the form is known."""


class LogLine(NamedTuple):
    """A line of standard output, with the loop iteration and the statement that wrote it."""

    path: str
    text: str
    file: str
    line: int
    parts: list[Part]
    """What it was put together from, where that was written at different places of the loop nest."""
    begun: frozenset[str]
    """The outermost loops that had begun by then."""
    is_late: bool = False
    """Whether values from outside were kept no more when it was printed."""


class History:
    """The journal of a run, read once."""

    def __init__(self, run: Run):
        self.run = run
        recorded = run.load()
        self.reader = recorded.reader
        self.checkpoints: dict[str, Checkpoint] = {}
        self.boundaries: dict[str, set[int]] = {}
        """Loop at its place in the nest -> iterations that begin with a checkpoint."""
        self.lines: list[LogLine] = []
        self.generators: dict[str, str] = {}
        self.block_seconds: dict[str, float] = {}
        self.planned: dict[str, dict[str, bool]] = {}
        """The places that checkpoints of a block hold, and whether the name was bound anew; not those that were iterated over."""
        self.plans: dict[str, _native.Plan] = {}
        self._writing: dict[str, bool] = {}
        """Blocks -> whether they may write to files that were open before."""
        self.files: list[dict[str, Any]] = []
        """What the run changed on disk (`found_files.read`)."""
        self.folders: dict[str, set[str]] = {}
        """Folders in which it changed something -> the names that it found there."""
        self.seconds: float | None = None
        self.circumstances: dict[str, Any] = {}
        self._steady: float | None = None
        self.pid: int | None = None
        """The number of the process that ran the script."""
        self._last_at = 0.0
        self._held: dict[str, Checkpoint] = {}
        self._not_kept: dict[str, str] = {}
        self.timeline = Timeline()
        self._begun: frozenset[str] = frozenset()
        self.last_path = ""
        """The last iteration that was noted; empty where there is none."""
        self._reads: dict[str, Read] = {}
        self.variables_read: dict[str, str | None] = {}
        """Environment variables that the user's files speak of: a hash of the value, or None."""
        self.distributions: dict[str, str] = {}
        """Name and version of each distribution that modules were loaded from -> a hash of the files that it came with."""
        self.lost = 0
        """Records that could not be written."""
        self.inputs: list[tuple[Any, ...]] = []
        """Values that the script took from outside: path, function, differences of numbers, others."""
        self.is_late = False
        """Whether no more of them were kept from here on."""
        self.interrupted = ""
        """The outermost iteration in which the first Ctrl-C came: `L1=6`."""
        self._lines_before = 0
        """How many lines were printed when it was noted."""
        self._by_number: dict[int, str] = {}
        self._dropped: set[str] = set()
        self.entered: dict[str, frozenset[_native.Function]] = {}
        """By the key of a checkpoint: the functions that the block entered; of one between iterations, all since the loop
        began."""
        self._functions: dict[int, _native.Function] = {}
        self._sets: dict[int, frozenset[_native.Function]] = {}
        self._elsewhere: set[_native.Function] = set()
        """Functions that were entered where no block can be said to have done it."""
        self._is_anywhere = False
        self._begun_files: set[str] = set()
        self._places: set[str] = set()
        for kind, payload in recorded.records:
            try:
                self._read(kind, payload)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise Unusable(
                    f"the journal of {run.id} holds a record ({kind}) that this version of florc cannot read: "
                    f"{error!r}; record the script again"
                ) from None

    @property
    def damage(self) -> str | None:
        """Where the journal cannot be read; None when it is whole."""
        journal = os.path.join(self.run.path, "journal.0")
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

    @property
    def variables(self) -> dict[str, list[str]]:
        """The names that the loops bind, by id."""
        return {loop.id: variables_of(loop.header) for plan in self.plans.values() for loop in plan.loops}

    def iteration(self, path: str) -> str:
        """The iterations that a place is in, as `--iterations` takes them: `fold=0,epoch=2`; nothing outside all loops."""
        return self.timeline.words(path, self.variables)

    def _read(self, kind: str, payload: Any) -> None:
        if kind == "checkpoint":
            chunks = payload["chunks"]
            found = Checkpoint(
                payload["block"],
                payload["key"],
                payload["places"],
                payload["gradients"],
                [chunk["hash"] for chunk in chunks],
                sum(chunk["len"] for chunk in chunks),
                payload["names"],
                payload["origins"],
                frozenset(payload.get("dead", ())),
                payload.get("forms", {}),
            )
            self.checkpoints[found.key] = found
            self._note_boundary(found.key, set.add)
            self._by_number[payload["seq"]] = found.key
            self._held.setdefault(found.block, found)
        elif kind == "dropped":
            keys = {self._by_number[number] for number in payload["seqs"] if number in self._by_number}
            self._dropped.update(key for key in keys if self.checkpoints.pop(key, None))
            for key in keys:
                self._note_boundary(key, set.discard)
        elif kind == "line":
            self.lines.append(
                LogLine(
                    self._place(payload["path"]),
                    payload["text"],
                    self.run.file(payload["file"]),
                    payload["line"],
                    [Part(self._place(part), text) for part, text in payload.get("parts", ())],
                    self._begun,
                )
            )
        elif kind == "lines":
            for path, text, file, number, *parts in payload["lines"]:
                self.lines.append(
                    LogLine(
                        self._place(path),
                        text,
                        self.run.file(file or ""),
                        number,
                        [Part(self._place(part), said) for part, said in (parts or [[]])[0]],
                        self._begun,
                        self.is_late,
                    )
                )
        elif kind == "file":
            self._place(payload["at"])
            self.files.append(payload)
        elif kind == "folder":
            self.folders[self.run.file(payload["path"])] = set(payload["names"])
        elif kind == "generator":
            self.generators[payload["name"]] = payload["state"]
        elif kind == "block":
            self.block_seconds[self._place(payload["key"])] = payload["seconds"]
        elif kind == "clocks":
            self._steady, self.pid = payload["perf_counter"], payload.get("pid")
        elif kind == "variables":
            self.variables_read.update(payload["found"])
        elif kind == "read":
            self._reads[payload["path"]] = (payload["size"], payload["mtime_ns"], payload["hash"])
        elif kind == "lost":
            self.lost = payload["records"]
        elif kind == "inputs":
            self.inputs += map(tuple, payload["taken"])
        elif kind == "inputs end":
            self.is_late = True
        elif kind == "interrupted":
            if not self.interrupted:
                self.interrupted, self._lines_before = str(_native.Path(payload["path"]).head), len(self.lines)
        elif kind == "iteration":
            self.last_path, self._last_at = payload["path"], payload["at"]
            self.timeline.iteration(payload["path"], payload["at"])
            self._begun |= {str(_native.Path(payload["path"]).outermost)}
        elif kind == "no iteration":
            self.timeline.over(payload["path"])
        elif kind == "value":
            self.timeline.value(payload["path"], payload["number"])
        elif kind == "plan":
            file = self.run.file(payload["file"])
            plan = self.plans[file] = _native.Plan.from_json(dumps(payload["plan"]))
            for loop in plan.loops:
                self.planned[loop.id], self._writing[loop.id] = _kept(loop), loop.writes
                start = loop.id + BOUNDARY
                self.planned[start], self._writing[start] = _kept(loop.start), loop.start is None or loop.start.writes
            self._note_functions(file, plan.functions(file))
        elif kind == "left alone":
            self._note_functions(self.run.file(payload["file"]), {})
        elif kind == "entered":
            if "functions" in payload:
                self._sets[payload["set"]] = self._named(payload["functions"])
            self.entered[payload["key"]] = self.entered.get(payload["key"], frozenset()) | self._sets[payload["set"]]
        elif kind == "entered elsewhere":
            if payload["functions"] is None:
                self._is_anywhere = True
            else:
                self._elsewhere |= self._named(payload["functions"])
        elif kind == "circumstances":
            self.circumstances = payload["found"]
        elif kind == "distributions":
            self.distributions = payload["found"]
        elif kind == "not kept":
            self._not_kept[payload["block"]] = payload["why"]
        elif kind == "end":
            self.seconds = payload["seconds"]

    def _place(self, path: str) -> str:
        """A place in the loop nest that the journal names. Raises ValueError for another text, before anybody uses it."""
        if path not in self._places:
            _native.Path(path)
            self._places.add(path)
        return path

    def _note_functions(self, file: str, functions: dict[int, _native.Function]) -> None:
        """A file begins: its functions that tell that they are entered. Of one that ran in two versions nothing is known."""
        before, found = {known for known in self._functions.values() if known.file == file}, set(functions.values())
        if file in self._begun_files and before != found:
            self._elsewhere.update(before, found)
        self._begun_files.add(file)
        self._functions.update(functions)

    def _named(self, numbers: Iterable[int]) -> frozenset[_native.Function]:
        return frozenset(self._functions[number] for number in numbers if number in self._functions)

    def noted_functions(self) -> list[_native.Function]:
        """The functions of which it is known what entered them."""
        return [] if self._is_anywhere else sorted(set(self._functions.values()) - self._elsewhere)

    def vouches(self, is_over: bool) -> bool:
        """Whether the journal speaks of all that a replay ran. `is_over`: it ended before the script did, where the journal
        of a run that was cut off ends its last whole iteration."""
        is_cut = self.run.status in CUT and self.run.status != "interrupted"
        return not is_cut or is_over and bool(self.last_path)

    def _note_boundary(self, key: str, change: Callable[[set[int], int], None]) -> None:
        at = _native.Path(key)
        if at.between and at.index is not None:
            change(self.boundaries.setdefault(str(at.place), set()), at.index)

    def lost_names(self, file: str, function: str) -> set[str]:
        """Names that some recorded block of the function bound without putting them back."""
        plan = self.plans.get(file)
        return {
            name
            for loop in (plan.loops if plan is not None else ())
            if loop.memoized and loop.function == function
            for name in loop.binds
            if all(place.name != name for place in loop.places)
        }

    def writes(self, block: str) -> bool:
        """Whether a block, or the iterations before one of its loop, may write to files that are open already."""
        return self._writing.get(block, True)

    def held_by(self, block: str) -> Checkpoint | None:
        """A checkpoint of the block, to see which places its checkpoints hold; None when there is none."""
        return self._held.get(block)

    def dead(self, block: str) -> frozenset[str]:
        """The names that the recorded script read no more after a block, and that each of its checkpoints holds."""
        return self._in_each(block, lambda checkpoint: checkpoint.dead)

    def forms(self, block: str) -> frozenset[str]:
        """The same of names of which the form is known, at least."""
        return self._in_each(block, lambda checkpoint: checkpoint.dead.union(checkpoint.forms))

    def _in_each(self, block: str, names: Callable[[Checkpoint], frozenset[str]]) -> frozenset[str]:
        found = [names(checkpoint) for checkpoint in self.checkpoints.values() if checkpoint.block == block]
        return frozenset.intersection(*found) if found else frozenset()

    def why_not_kept(self, block: str) -> str:
        """Why there is no checkpoint where one was looked for."""
        if block in self._not_kept:
            return f"it could not be checkpointed: {self._not_kept[block]}"
        if self.damage is not None:
            return "what can be read of the journal names no checkpoint of it here"
        if self._dropped:
            return "no checkpoint was kept of it here (to stay within --max-disk)"
        return "no checkpoint was kept of it here (materializing would have cost more than the overhead allowed)"

    def is_duration(self, place: str) -> bool:
        """Whether a part of the state (`env.time_queue`) holds how long something took, by a clock of a library."""
        inside = re.sub(r"^[\w.]+:", "", place)  # a global of another module: `utils:last_time`
        return not DURATIONS.isdisjoint(re.split(r"[.\[\]']+", inside)[1:])

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
        return masks.without_times if line.line < 0 else str

    def reads(self) -> dict[str, Read]:
        """Files that the run read and did not change, where they lie now: size, time in ns, hash or None."""
        changed = self.changed_files()
        found = {self.run.file(path): known for path, known in self._reads.items()}
        return {path: known for path, known in found.items() if path not in changed}

    def changed_files(self) -> set[str]:
        """Files that the run made, changed or removed, where they lie now."""
        return {self.run.file(noted["path"]) for noted in self.files}

    @property
    def how_it_ended(self) -> str:
        """What befell the recorded run in its last known iteration: a verb."""
        return "was interrupted" if self.interrupted else "ended"

    def known_lines(self) -> list[LogLine]:
        """The lines up to the iteration in which the recorded run was cut off, or got a Ctrl-C: a replay ends there, too."""
        if not self.interrupted and self.run.status not in CUT:
            return self.lines
        lines = self.lines[: self._lines_before] if self.interrupted else self.lines
        beyond = {path for path in {line.path for line in lines} if self.is_beyond(_native.Path(path).head)}
        return [line for line in lines if line.path not in beyond]

    def is_beyond(self, path: _native.Path, reached: Collection[str] = ()) -> bool:
        """Whether an iteration was not finished by the recorded run, which was cut off or got a Ctrl-C in it. `reached`: loops
        begun so far."""
        if path.parent:
            return False
        if self.interrupted:
            return path >= _native.Path(self.interrupted)
        if self.run.status not in CUT:
            return False
        if not self.last_path:  # nothing is known of any
            return True
        last = _native.Path(self.last_path).head
        known = self.timeline.loops.get(str(path.place)) if path.index is not None else None
        if known is None:  # a short one may not have been noted, but none after the last that was
            return str(last.place) in reached
        return not known.ended and path >= last
