"""What the entries of a journal say, gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .. import _native
from ..plan.places import BOUNDARY
from ..process.output import Part
from ..project.script import Unusable
from .memory import Measured
from .run import Run, unreadable
from .timeline import Timeline, outermost

Read = tuple[int, int, str | None]
"""Of a file that was read: bytes, time of its last change in ns, hash."""


class LogLine(NamedTuple):
    """A line of standard output or standard error, with the loop iteration and the statement that wrote it."""

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
    message: str | None = None
    """What a logger was told, where one wrote it."""
    is_error: bool = False
    """Whether it went to standard error."""
    log: int = 0
    """The number of the file that a logger wrote it to; 0 for the standard streams."""
    child: str | None = None
    """Which of the processes that the script forked printed it."""
    begun_by: int | None = None
    """The line of the statement that began it, where that is another one; 0: of another file."""


def _kept(loop: _native.Loop | None) -> dict[str, bool]:
    return {} if loop is None else {place.name: place.bound for place in loop.places if not place.iterated}


class Entries:
    """The entries of a run's journal, each read once, in order."""

    def __init__(self, run: Run):
        self.run = run
        recorded = run.load()
        self.reader = recorded.reader
        self.checkpoints: dict[str, _native.Checkpoint] = {}
        self.boundaries: dict[str, set[int]] = {}
        """Loop at its place in the nest -> iterations that begin with a checkpoint."""
        self.lines: list[LogLine] = []
        """Of standard output."""
        self.written: list[LogLine] = []
        """These, what the project's statements and loggers wrote to standard error, and loggers to files, and what forked
        processes wrote."""
        self.generators: dict[str, str] = {}
        self.block_seconds: dict[str, float] = {}
        self.left: set[str] = set()
        """The keys of blocks that an exception left."""
        self.planned: dict[str, dict[str, bool]] = {}
        """The places that checkpoints of a block hold, and whether the name was bound anew; not those that were iterated over."""
        self.plans: dict[str, _native.Plan] = {}
        self._writing: dict[str, bool] = {}
        """Blocks -> whether they may write to files that were open before."""
        self.files: list[_native.File] = []
        """What the run changed on disk (`found_files.read`)."""
        self.folders: dict[str, set[str]] = {}
        """Folders in which it changed something -> the names that it found there."""
        self.seconds: float | None = None
        self.circumstances: dict[str, Any] = {}
        self.arguments: dict[str, list[Any]] = {}
        """What `florc.arg` gave by each name: one value, unless the script asked with several defaults."""
        self._steady: float | None = None
        self.logging: int | None = None
        """Since when `logging` counted, in nanoseconds since 1970."""
        self.pid: int | None = None
        """The number of the process that ran the script."""
        self._last_at = 0.0
        self._held: dict[str, _native.Checkpoint] = {}
        self._not_kept: dict[str, str] = {}
        self.timeline = Timeline()
        self.memory = Measured()
        self._begun: frozenset[str] = frozenset()
        self.last_path = ""
        """The last iteration that was noted; empty where there is none."""
        self._reads: dict[str, Read] = {}
        self.read_back: dict[tuple[str, str, int], Read] = {}
        """What the run read of files that it had changed itself: by path, place in the loop nest, and how often it was read there
        before."""
        self.variables_read: dict[str, str | None] = {}
        """Environment variables that the user's files speak of: a hash of the value, or None."""
        self.distributions: dict[str, str] = {}
        """Name and version of each distribution that modules were loaded from -> a hash of the files that it came with."""
        self.tracked: list[tuple[str, dict[str, Any]]] = []
        """Runs of experiment trackers that the script began, in their order, and by what they are found again."""
        self.lost = 0
        """Records that could not be written."""
        self.inputs: list[tuple[str, str, list[int], list[str]]] = []
        """Values that the script took from outside: path, function, differences of numbers, others."""
        self.names: list[tuple[str, dict[str, str]]] = []
        """Where the program was, and digests of what names held there, of those that had changed."""
        self.is_late = False
        """Whether no more of them were kept from here on."""
        self.sent: bytes | None = None
        """What a process that the script spawned was sent to begin with."""
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
        for kind, record in recorded.records:
            try:
                self._read(record)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise Unusable("F208", unreadable(run, kind, error)) from None

    def _read(self, record: _native._Record | None) -> None:
        match record:
            case _native.Checkpoint():
                self.checkpoints[record.key] = record
                self._note_boundary(record.key, set.add)
                self._by_number[record.seq] = record.key
                self._held.setdefault(record.block, record)
            case _native.Dropped():
                keys = {self._by_number[number] for number in record.seqs if number in self._by_number}
                self._dropped.update(key for key in keys if self.checkpoints.pop(key, None))
                for key in keys:
                    self._note_boundary(key, set.discard)
            case _native.Lines():
                found = [self._line(line, self.is_late) for line in record.lines]
                self.lines += found
                self.written += found
            case _native.Errors():
                lines = (self._line(line, self.is_late) for line in record.lines)
                self.written += [line._replace(is_error=not record.log, log=record.log) for line in lines]
            case _native.ChildLines():
                lines = (self._line(line, self.is_late) for line in record.lines)
                self.written += [line._replace(is_error=record.is_error, child=record.child) for line in lines]
            case _native.Line():
                self.lines.append(self._line(record, False))
                self.written.append(self.lines[-1])
            case _native.Iteration():
                self.last_path, self._last_at = record.path, record.at
                self.timeline.iteration(record.path, record.at)
                self.memory.begins(record.path, record.memory)
                self._begun |= {str(_native.Path(record.path).outermost)}
            case _native.Value():
                self.timeline.value(record.path, record.number)
            case _native.NoNumbers():
                self.timeline.no_numbers(record.path)
            case _native.NoIteration():
                self.timeline.over(record.path)
                self.memory.ends(record.path, record.memory)
            case _native.Block():
                key = self._place(record.key)
                self.block_seconds[key] = record.seconds
                self.left |= {key} if record.left else set()
            case _native.Entered():
                if record.functions is not None:
                    self._sets[record.number] = self._named(record.functions)
                self.entered[record.key] = self.entered.get(record.key, frozenset()) | self._sets[record.number]
            case _native.EnteredElsewhere():
                if record.functions is None:
                    self._is_anywhere = True
                else:
                    self._elsewhere |= self._named(record.functions)
            case _native.Inputs():
                self.inputs += record.taken
            case _native.Names():
                self.names.append((record.path, record.found))
            case _native.InputsEnd():
                self.is_late = True
            case _native.Interrupted():
                if not self.interrupted:
                    self.interrupted, self._lines_before = str(outermost(record.path)), len(self.lines)
            case _native.File():
                self._place(record.at)
                self.files.append(record)
            case _native.Folder():
                self.folders[self.run.file(record.path)] = record.names
            case _native.Read():
                read = (record.size, record.mtime_ns, record.hash)
                if record.at is None:
                    self._reads[record.path] = read
                else:
                    self.read_back[self.run.file(record.path), self._place(record.at), record.time] = read
            case _native.Planned():
                self._plan(self.run.file(record.file), record.plan)
            case _native.LeftAlone():
                self._note_functions(self.run.file(record.file), {})
            case _native.NotKept():
                self._not_kept[record.block] = record.why
            case _native.Tracked():
                self.tracked.append((record.tracker, record.found))
            case _native.Argument():
                known = self.arguments.setdefault(record.name, [])
                known += [record.value] if record.value not in known else []
            case _native.Spawned():
                self.sent = None if record.sent is None else bytes.fromhex(record.sent)
            case _native.Lost():
                self.lost = record.records
            case _native.End():
                self.seconds = record.seconds
                self.memory.ends("", record.memory)
            case _native.Generator():
                self.generators[record.name] = record.state
            case _native.Clocks():
                self._steady, self.pid, self.logging = record.perf_counter, record.pid, record.logging
            case _native.Variables():
                self.variables_read.update(record.found)
            case _native.Circumstances():
                self.circumstances = record.found
            case _native.Distributions():
                self.distributions = record.found

    def _line(self, line: _native.Line, is_late: bool) -> LogLine:
        parts = [Part(self._place(part), text) for part, text in line.parts]
        file = self.run.file(line.file or "")
        at, length = line.message or (0, 0)
        message = line.text[at : at + length] or None
        place = self._place(line.path)
        return LogLine(place, line.text, file, line.line, parts, self._begun, is_late, message, begun_by=line.begun)

    def _plan(self, file: str, plan: _native.Plan) -> None:
        self.plans[file] = plan
        for loop in plan.loops:
            self.planned[loop.id], self._writing[loop.id] = _kept(loop), loop.writes
            start = loop.id + BOUNDARY
            self.planned[start], self._writing[start] = _kept(loop.start), loop.start is None or loop.start.writes
        self._note_functions(file, plan.functions(file))

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

    def _note_boundary(self, key: str, change: Callable[[set[int], int], None]) -> None:
        at = _native.Path(key)
        if at.between and at.index is not None:
            change(self.boundaries.setdefault(str(at.place), set()), at.index)
