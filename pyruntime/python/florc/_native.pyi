"""The native half of the runtime. Errors of native code itself are `InternalError`."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, FrameType
from typing import Any, Literal, Protocol, TypedDict, TypeVar, final

_T = TypeVar("_T")
_Block = int | str
_File = tuple[str, str, str, str]

class _Cloned(TypedDict):
    """A child encodes a checkpoint: its number, the seconds for which the script stood still."""

    seq: int
    stall_s: float

class _Staged(_Cloned):
    """A checkpoint is in staging memory: its bytes."""

    bytes: int

class _Totals(TypedDict):
    """What a recorder did in all. `drained`: whether nothing is left undone."""

    checkpoints: int
    bytes_staged: int
    bytes_written: int
    cpu_s: float
    logs: int
    logs_lost: int
    errors: list[str]
    drained: bool

RUNTIME_NAMES: list[str]
"""The names that emitted code asks of `florc`."""

class InternalError(Exception):
    """florc itself is at fault; the message says where."""

class StoreError(Exception):
    """The run store cannot be used; the message names the file and the reason."""

class DamagedError(StoreError):
    """Stored bytes are not what was written; the message names them, the file and what is wrong."""

# -- the compiler ------------------------------------------------------------------------------------------------------

@final
class Instrumented:
    """An instrumented file."""

    @property
    def text(self) -> str:
        """The instrumented text."""
    @property
    def plan(self) -> Plan:
        """What is done to its loops."""
    @property
    def changes(self) -> Changes | None:
        """What changed since the recorded version; None when there is no recorded version."""
    @property
    def changed(self) -> bool:
        """Whether anything was inserted."""
    @property
    def left_alone(self) -> str | None:
        """Why nothing was written into the file although there was something to write."""
    def undo(self) -> str:
        """The text without the insertions."""
    def map_positions(self, positions: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Map (line, column) pairs of the instrumented text, as `ast` counts them, to the original text."""
    def map_code(self, code: CodeType) -> CodeType:
        """The code with every position mapped to the original text. Raises ValueError for another format of positions."""

@final
class Plan:
    """What the compiler decided about a file."""

    def to_json(self) -> str:
        """Its text, for the journal."""
    @property
    def loops(self) -> tuple[Loop, ...]:
        """Its loops, in source order."""
    def functions(self, file: str) -> dict[int, Function]:
        """The functions that report that they are entered, by number; `file`: where the file is now."""
    def register(self) -> None:
        """Make its loops known to the loop nest."""

@final
class Loop:
    """A loop of a plan; or the start of its iterations, which has places of its own. Lines are 1-based."""

    @property
    def id(self) -> str:
        """`L1`, `pkg.engine.L2`; `L1@` of the start of its iterations."""
    @property
    def memoized(self) -> bool:
        """Whether it is a SkipBlock."""
    @property
    def in_reserve_for(self) -> str | None:
        """The SkipBlock in the place of which it is one, if that one cannot be restored; until then it is passed by."""
    @property
    def followed(self) -> bool:
        """Whether its iterations are followed."""
    @property
    def gradients(self) -> bool:
        """Whether gradients belong to its checkpoint."""
    @property
    def header(self) -> str:
        """As it is written, on one line."""
    @property
    def file(self) -> str:
        """The file's name, as it was compiled."""
    @property
    def line(self) -> int:
        """Its first line."""
    @property
    def end_line(self) -> int:
        """Its last line."""
    @property
    def places(self) -> tuple[Place, ...]:
        """What skipping it puts back, in the order in which `end` and `restore` take it."""
    @property
    def note(self) -> str | None:
        """Why it is left alone, or what should be known about it."""
    @property
    def function(self) -> str:
        """The function it is in; empty at module level."""
    @property
    def binds(self) -> tuple[str, ...]:
        """The names that its statements bind, places or not."""
    @property
    def differentiated(self) -> bool:
        """Whether gradients may be computed after it of what it computes."""
    @property
    def trains(self) -> bool:
        """Whether it takes training steps itself."""
    @property
    def writes(self) -> bool:
        """Whether it, or an iteration, may write to files that are open already."""
    @property
    def unseen(self) -> tuple[int, ...]:
        """Lines in which it calls what florc cannot see into."""
    @property
    def counting(self) -> frozenset[str]:
        """Of the start of iterations: what the loop itself runs over. A bar among them counts when it likes."""
    @property
    def start(self) -> Loop | None:
        """The start of its iterations, where that can be put back."""

@final
class Place:
    """One place of a changeset."""

    @property
    def name(self) -> str:
        """`net`, `self.best`, `engine:step` for a global of another module."""
    @property
    def mutated(self) -> bool:
        """Whether its object may change in place."""
    @property
    def bound(self) -> bool:
        """Whether the name or attribute may get another object."""
    @property
    def iterated(self) -> bool:
        """Whether only its generators and position matter."""
    @property
    def by_name(self) -> bool:
        """Whether it is looked up by its name, and not handed over."""
    @property
    def in_globals(self) -> bool:
        """Whether the loop's own scope does not reach it under this name."""

@final
class Changes:
    """What changed in a file since it was recorded, and what that reaches."""

    @property
    def module(self) -> str:
        """The file's name as a module."""
    @property
    def changes(self) -> list[Change]:
        """The changes, in source order."""
    @property
    def probed(self) -> dict[str, str]:
        """Loops, of this file and of others, that hold or reach an added statement, and why that is known."""
    @property
    def entered(self) -> list[Function]:
        """Functions that run an added statement: what entered them runs it."""

@final
class Change:
    """One change of a file since it was recorded. Lines are 1-based."""

    @property
    def file(self) -> str:
        """The file, as it lies now."""
    @property
    def kind(self) -> Literal["probe", "removed log", "outside", "inside"]:
        """An added statement that only looks; a removed one that did; a change outside or inside of memoized loops."""
    @property
    def line(self) -> int:
        """The line in the new version; for removed statements, in the old one."""
    @property
    def end_line(self) -> int:
        """Its last line."""
    @property
    def removed(self) -> bool:
        """Whether the line is one of the old version."""
    @property
    def edited(self) -> bool:
        """Whether it is another one in the old version."""
    @property
    def text(self) -> str:
        """The first line of its text."""
    @property
    def loops(self) -> list[str]:
        """The memoized loops it is in or is called from, by the old version's ids."""
    @property
    def why(self) -> str | None:
        """What makes it more than a probe, for people."""
    @property
    def can_be_seen(self) -> bool:
        """Whether all that it does besides looking shows when it runs."""
    @property
    def unbound(self) -> list[str]:
        """Names that an added statement reads and nothing binds."""

@final
class Function:
    """A function of the recorded project."""

    @property
    def file(self) -> str:
        """Its file."""
    @property
    def line(self) -> int:
        """Its first line, decorators included, 1-based."""
    @property
    def name(self) -> str:
        """Its qualified name."""
    def __hash__(self) -> int: ...
    def __eq__(self, value: object) -> bool: ...
    def __ne__(self, value: object) -> bool: ...
    def __lt__(self, value: Function) -> bool: ...
    def __le__(self, value: Function) -> bool: ...
    def __gt__(self, value: Function) -> bool: ...
    def __ge__(self, value: Function) -> bool: ...

@final
class Project:
    """The files of the user's project, analysed together."""

    def __init__(self, find: Callable[[str], tuple[str, bool, str] | None]) -> None: ...
    def add(self, module: str, package: str, path: str, text: str) -> None:
        """Add a file, or its present text, and every module that it imports. Raises SyntaxError when it is not Python."""
    def files(self) -> list[_File]:
        """The files: name as a module, package, path, text."""
    def text(self, path: str) -> str | None:
        """The text of a file as it was analysed; None for files that are not part of the project."""
    def add_library(self, module: str, package: str, path: str, text: str) -> None:
        """Adds a file of a library in which loops are followed, or its present text. Raises SyntaxError when it is not Python."""
    def library_text(self, path: str) -> str | None:
        """The text of a library's file as it was installed when it was analysed; None for others."""
    def variables(self) -> set[str]:
        """The environment variables that the files name."""
    def foreseen(self, path: str) -> dict[int, tuple[str, set[str]]]:
        """With FLORC_DEBUG: by the number of a function, its name and the loops that may enter it."""
    def instrument(self, path: str) -> Instrumented | None:
        """A file, instrumented; None for files that are not part of the project."""

@final
class Comparison:
    """A recorded project and its present version."""

    def __init__(self, recorded: list[_File], present: Project, noted: Sequence[Function]) -> None: ...
    def instrument(self, path: str) -> Instrumented | None:
        """The present version of a file for a replay; None for files that are not part of the project."""
    def paths(self) -> list[str]:
        """The paths of the present version's files."""
    def accumulates(self) -> bool:
        """Whether added statements keep something of their own from one iteration for another."""
    def is_fresh(self, block: str, name: str) -> bool:
        """Whether what an earlier run of a loop left in a name is never read, each run binding it anew."""
    def asks_for_form_only(self, name: str) -> bool:
        """Whether the statements that are not the recorded ones read nothing of a name but the form of a tensor or an array."""
    def is_in_deletion(self, path: str, line: int) -> bool:
        """Whether the added statement at a line is in a method that Python may call when nothing is left of the script."""
    def groups(self, path: str) -> dict[int, tuple[int, int]]:
        """By the lines of a file's added statements: the first and the last line of those side by side with it."""
    def names(self) -> tuple[set[str], set[str]]:
        """Every name that the recorded project mentions, and those that only changed files do."""
    def names_that_hold(self) -> tuple[set[str], bool]:
        """The names that added statements bind, and whether they may hold objects otherwise: in attributes, lambdas."""
    def left_by_forward(self) -> set[str]:
        """Attributes that calls of modules of the recorded project leave behind and do not read."""

@final
class Sources:
    """The files of a run, as the compiler reads them. Loops have the ids that they have in its plans."""

    def __init__(self, files: list[_File]) -> None: ...
    def variables(self) -> dict[str, list[str]]:
        """The names that the headers of the loops bind, by id."""
    def ends_of_bodies(self) -> dict[str, int]:
        """By id, of the `while` loops that their conditions may end: the last lines (1-based) of their bodies."""
    def only_schedules(self, outer: str, inside: set[str], trains: set[str]) -> bool:
        """Whether all that a loop does itself is `scheduler.step()`, as far as is seen: one of the loops `inside` it takes the
        steps. `trains`: the followed loops that train."""

def followed(module: str) -> tuple[str, str, str] | None:
    """The distribution of a library's module in which loops are followed, the first version that this was tried with, and the
    first that it was not; None for other modules."""

def instrument(text: str, name: str) -> Instrumented:
    """Instrument a decoded text by itself. Raises SyntaxError."""

def command_line(argv: list[str]) -> tuple[int | None, str | None]:
    """Read a command line: the exit code, or the arguments of a command that runs Python code, as JSON."""

# -- the loop nest -----------------------------------------------------------------------------------------------------

@final
class Path:
    """A place in the loop nest, `L1=3/L2#0/L2=70@`, in the order of the program. Raises ValueError for another text."""

    def __init__(self, text: str) -> None: ...
    @property
    def parent(self) -> Path | None:
        """The place around its last step; None of the program itself."""
    @property
    def head(self) -> Path:
        """Its first step; the program itself where it has none."""
    @property
    def name(self) -> str:
        """Its last loop or block: `L2.1` where a loop runs again in the same place; empty of the program itself."""
    @property
    def loop(self) -> str:
        """The id of its last loop or block in the plan: `L2`."""
    @property
    def place(self) -> Path:
        """Its last loop itself, at its place in the nest: `L1=3/L2`."""
    @property
    def index(self) -> int | None:
        """The iteration of its last loop; None of a block, and of a loop itself."""
    @property
    def run(self) -> int | None:
        """How many times its last block had run before at this place; None of a loop."""
    @property
    def between(self) -> bool:
        """Whether it is the start of an iteration (`@`)."""
    @property
    def lineage(self) -> list[Path]:
        """The places that it is in, the outermost first, and itself, without `@`."""
    @property
    def iterations(self) -> list[tuple[str, int]]:
        """The loops that it is in an iteration of, as texts of their places, and which, the outermost first."""
    @property
    def blocks(self) -> list[str]:
        """The ids of the blocks that it is in, the outermost first."""
    @property
    def shape(self) -> str:
        """The same without its numbers: `L1=/L2#`."""
    @property
    def outermost(self) -> Path:
        """The place of the outermost loop that it is in an iteration of; itself where it is in none."""
    def at(self, index: int) -> Path:
        """An iteration of its last loop. Raises ValueError for the program itself."""
    def start(self) -> Path:
        """The start of the iteration: with `@`. Raises ValueError for the program itself."""
    def below(self, other: Path | str) -> Path | None:
        """Of a place inside this one: it, or what is around it, one step or iteration further in; None of any other."""
    def side(self, other: Path | str) -> int | None:
        """Where a place is, seen from this iteration: -1 before it, 0 in it, 1 after it; None where nothing tells."""
    def __contains__(self, key: Path | str) -> bool: ...
    def __bool__(self) -> bool: ...
    def __hash__(self) -> int: ...
    def __eq__(self, value: object) -> bool: ...
    def __ne__(self, value: object) -> bool: ...
    def __lt__(self, value: Path) -> bool: ...
    def __le__(self, value: Path) -> bool: ...
    def __gt__(self, value: Path) -> bool: ...
    def __ge__(self, value: Path) -> bool: ...
    def __str__(self) -> str: ...
    def __repr__(self) -> str: ...

def start_following(session: object, pace: float, keeps_left: bool) -> None:
    """Follow the loops of this thread for a session; it is told of an iteration at most every `pace` seconds. `keeps_left`: a
    loop that is left in the middle counts as running until the one around it goes on, as in runs of format 2 and before."""

def stop_following() -> None:
    """Emitted code does the plain thing from now on."""

def forget() -> None:
    """Let go of the session that was followed."""

def ask(text: str, name: str, questions: Sequence[tuple[int | tuple[int, bool] | str | None, str]]) -> tuple[str, list[str]]:
    """The text with a log statement for each question: (the number of a line; the number, and whether the body of its statement
    is meant; the variable of a loop; or None for each step of an optimizer; an expression). And sentences that say on which side
    of a statement with a body some are. Raises ValueError, with a sentence, where one cannot be asked."""

def arrow_stream(names: Sequence[str], columns: Sequence[list[Any]], wholes: Sequence[str], numbers: Sequence[str]) -> object:
    """A capsule `arrow_array_stream` (the Arrow PyCapsule interface) with one batch: columns of the same length, whose values are
    None, or all truth values, whole numbers of 64 bits, numbers, or anything, which is written as text; `wholes` and
    `numbers` are names of columns that are such where they hold nothing but None. Raises ValueError for columns of several
    lengths."""

def hash_of_memory(obj: object) -> int:
    """A hash of an object's own memory behind its header: of one of C that nothing else tells of."""

def names_of(frame: FrameType) -> dict[str, Any]:
    """A new dict of the names of a function's frame, but for those that are unbound, which the program does not notice; of a
    module's or a class's frame, the dict that holds them."""

def following() -> bool:
    """Whether blocks of the calling thread are memoized."""

def loop_path() -> str:
    """The present place in the loop nest, such as `L1=3/L2#0`."""

def raised_at() -> str:
    """The place where the exception arose that left loops just now; without one, the present place."""

def last_passed() -> str | None:
    """The last iteration, if the session was not told of it."""

def enter_block(id: str) -> str:
    """A block begins: its key."""

def leave_block(id: str) -> None:
    """A block is over."""

def pass_by(block: str, times: int, seconds: float) -> None:
    """Not to ask the session about the next so many executions of a block, and about none that begins within so many seconds:
    they run."""

def references_in_call(
    block: str,
    *objects: Any,
    maybe: tuple[str, ...] | None = None,
    globals: tuple[str, ...] | None = None,
    attributes: tuple[str, ...] | None = None,
) -> list[int]:
    """How many references there are to each of `objects` while they are passed, as `end` gets them."""

def step_into(block: str) -> bool:
    """A block begins: whether it is to run. Without a session: yes."""

def end(
    block: str,
    *objects: Any,
    maybe: tuple[str, ...] | None = None,
    globals: tuple[str, ...] | None = None,
    attributes: tuple[str, ...] | None = None,
) -> None:
    """The block ran. `objects` are the places of its changeset in the order of the plan; `maybe` names places that may be
    unbound, `globals` names globals of the file that the block's own function does not see; `attributes` names places that are
    read without running the code of a property."""

def generator(id: str, iterable: Iterable[_T]) -> Iterator[_T]:
    """The iterator of a followed loop; without a session the iterable itself."""

def loop(id: str) -> Iterable[tuple[()]]:
    """A `while` loop begins, which is over when this, once begun, is no longer there: one empty tuple."""

def begin(id: str) -> None:
    """A `while` loop begins around which nothing can stand."""

def tick(id: str) -> bool:
    """Count an evaluation of a `while` loop's condition; always true."""

def over(id: str) -> bool:
    """The condition of a `while` loop is false; always false."""

def left(id: str) -> None:
    """A `while` loop around which nothing can stand is left by `break`."""

def boundary(
    loop_id: str,
    *objects: Any,
    maybe: tuple[str, ...] | None = None,
    globals: tuple[str, ...] | None = None,
    attributes: tuple[str, ...] | None = None,
) -> bool:
    """An iteration begins: whether to put the state of another one in its place."""

def look_after(seconds: float) -> None:
    """For so many seconds no iteration of this loop needs to be looked at."""

def entered(number: int, /) -> None:
    """A function of the script begins; its number."""

def entered_since(block: str | None = None) -> list[int] | None:
    """The functions entered since a running block began, or with None the innermost loop; None where nothing tells."""

def entered_elsewhere(known: int) -> list[int] | None:
    """The functions entered in other threads or forked children; None where there are no more of them than `known`."""

# -- the journal ---------------------------------------------------------------------------------------------------------

@final
class Checkpoint:
    """A checkpoint that is durable."""

    @property
    def block(self) -> str:
        """The block, or the loop with `@`."""
    @property
    def key(self) -> str:
        """The execution of it."""
    @property
    def places(self) -> list[str]:
        """What it holds."""
    @property
    def gradients(self) -> bool:
        """Whether it holds gradients."""
    @property
    def leaves_gradients(self) -> bool:
        """Whether some tensor had a gradient that is not in it."""
    @property
    def alone(self) -> list[tuple[int, int]]:
        """Nodes of objects that nothing else referred to, as runs: the first, how many."""
    @property
    def lapsed(self) -> list[str]:
        """The classes of the iterators that it does not hold, although they were under way (`state.lapsed`)."""

    @property
    def lone_memory(self) -> list[tuple[int, int]]:
        """The same of tensors whose memory no other tensor had."""
    @property
    def chunks(self) -> list[str]:
        """The hashes of its chunks; the first is the object graph, the others are its leaves."""
    @property
    def nbytes(self) -> int:
        """Bytes of its chunks."""
    @property
    def seq(self) -> int:
        """Its number."""
    @property
    def witness(self) -> dict[str, str]:
        """Digests of what the program's names led to (`Witness`); none in runs of earlier versions."""
    @property
    def names(self) -> list[str]:
        """Names outside the block that held objects of its places."""
    @property
    def origins(self) -> dict[str, str | None]:
        """Places whose object is not the one that was there before the block: the place where it was then, if any."""
    @property
    def dead(self) -> set[str]:
        """Of the places, those that the recorded script read no more."""
    @property
    def forms(self) -> dict[str, tuple[str, list[int], str]]:
        """Further such names, of which only library, shape and dtype are known."""

@final
class Planned:
    """What is done to the loops of a file."""

    @property
    def file(self) -> str:
        """The file, where it was."""
    @property
    def plan(self) -> Plan:
        """The plan."""

@final
class Source:
    """A text that ran."""

    @property
    def file(self) -> str:
        """Its file."""
    @property
    def kept(self) -> str:
        """Its name in the folder `source`."""
    @property
    def module(self) -> str:
        """Its name as a module."""
    @property
    def package(self) -> str:
        """Its package."""
    @property
    def hash(self) -> str:
        """BLAKE2b of the text."""

@final
class Generator:
    """The state of a generator at the start of the run."""

    @property
    def name(self) -> str:
        """`random`, `numpy.random`, `torch`."""
    @property
    def state(self) -> str:
        """Its state."""

@final
class Clocks:
    """What a clock showed when the run began, the number of its process, and since when `logging` counts."""

    @property
    def perf_counter(self) -> float:
        """What that clock showed."""
    @property
    def pid(self) -> int | None:
        """The number of the process."""
    @property
    def logging(self) -> int | None:
        """Since when `logging` counts, in nanoseconds since 1970."""

@final
class Circumstances:
    """Versions, processor, threads, settings."""

    @property
    def found(self) -> dict[str, Any]:
        """By name."""

@final
class Distributions:
    """The distributions that modules were loaded from, and hashes of their files."""

    @property
    def found(self) -> dict[str, str]:
        """Name and version -> hash."""

@final
class Variables:
    """Environment variables that the user's files name, and hashes of their values."""

    @property
    def found(self) -> dict[str, str | None]:
        """Name -> hash; None where it is not set."""

@final
class LeftAlone:
    """A file runs as it is."""

    @property
    def file(self) -> str:
        """The file."""

@final
class Iteration:
    """An iteration begins, so many seconds after the run."""

    @property
    def path(self) -> str:
        """The iteration."""
    @property
    def at(self) -> float:
        """Seconds since the run began."""
    @property
    def memory(self) -> list[int]:
        """Bytes that the process holds, and held at most; then those on its device. Nothing where they were not looked up."""

@final
class Value:
    """The whole number that is the item of an iteration."""

    @property
    def path(self) -> str:
        """The iteration."""
    @property
    def number(self) -> int:
        """The number."""

@final
class NoNumbers:
    """The items of the loop of an iteration are no numbers, or follow no rule."""

    @property
    def path(self) -> str:
        """The iteration."""

@final
class NoIteration:
    """The iterator had no more."""

    @property
    def path(self) -> str:
        """The iteration that there is not."""
    @property
    def memory(self) -> list[int]:
        """As of `Iteration`."""

@final
class Line:
    """A line of standard output, and the statement that wrote it."""

    @property
    def path(self) -> str:
        """The iteration that wrote it."""
    @property
    def text(self) -> str:
        """Its text."""
    @property
    def file(self) -> str | None:
        """The file of the statement."""
    @property
    def line(self) -> int:
        """The line of the statement; below 0 where a library wrote it."""
    @property
    def parts(self) -> list[tuple[str, str]]:
        """Places and what was written there, where that is more than one."""
    @property
    def message(self) -> tuple[int, int] | None:
        """Where in the text stands what a logger was told: the first character, and how many there are."""
    @property
    def begun(self) -> int | None:
        """The line of the statement that began it, where that is another one; 0: of another file."""

@final
class Lines:
    """Lines of standard output."""

    @property
    def lines(self) -> list[Line]:
        """The lines."""

@final
class Errors:
    """Lines of standard error that the project's statements and loggers wrote, or those that loggers wrote to a file."""

    @property
    def lines(self) -> list[Line]:
        """The lines."""

    @property
    def log(self) -> int:
        """The number of the file, from 1; 0 for standard error."""

@final
class ChildLines:
    """Lines that a process printed which the script forked. Their place in the loop nest is where it was forked."""

    @property
    def child(self) -> str:
        """`2`: the second process that the script forked; `2.1`: the first one that this forked."""

    @property
    def is_error(self) -> bool:
        """Whether they went to standard error."""

    @property
    def lines(self) -> list[Line]:
        """The lines."""

@final
class Block:
    """How long a block ran."""

    @property
    def key(self) -> str:
        """The key of its execution."""
    @property
    def seconds(self) -> float:
        """Seconds; 0 where an exception left it."""
    @property
    def left(self) -> bool:
        """Whether an exception left it, so that nothing of it was kept."""

@final
class Dropped:
    """Checkpoints that exist no more."""

    @property
    def seqs(self) -> list[int]:
        """Their numbers."""

@final
class Entered:
    """The functions that a block with a checkpoint entered; a set is listed once."""

    @property
    def key(self) -> str:
        """The key of the checkpoint."""
    @property
    def number(self) -> int:
        """The number of the set of functions."""
    @property
    def functions(self) -> list[int] | None:
        """The numbers of the functions, where the set is new."""

@final
class EnteredElsewhere:
    """The functions that were entered in other threads and processes; None: any may have been."""

    @property
    def functions(self) -> list[int] | None:
        """Their numbers; None: any may have been."""

@final
class Inputs:
    """Values from outside: place, function, differences of numbers, texts."""

    @property
    def taken(self) -> list[tuple[str, str, list[int], list[str]]]:
        """Place, function, differences of numbers, texts."""

@final
class Names:
    """What names held where an iteration began, a loop or the script was over."""

    @property
    def path(self) -> str:
        """Which iteration; `end`: the script."""
    @property
    def found(self) -> dict[str, str]:
        """A digest of each that held something else than before."""

@final
class InputsEnd:
    """No more of them are kept."""

@final
class Interrupted:
    """The first Ctrl-C."""

    @property
    def path(self) -> str:
        """Where it arrived."""

@final
class Spawned:
    """What was sent to this process by the script that spawned it."""

    @property
    def sent(self) -> str | None:
        """In hexadecimal; None where it cannot be sent again."""

@final
class Lost:
    """How many records could not be written so far."""

    @property
    def records(self) -> int:
        """How many."""

@final
class File:
    """The run is about to change a file."""

    @property
    def path(self) -> str:
        """The file."""
    @property
    def at(self) -> str:
        """The place in the loop nest."""
    @property
    def was(self) -> str | None:
        """What was there: `none`, `file`, `folder`, `link`, `other`; None of a further record of it."""
    @property
    def size(self) -> int:
        """Bytes."""
    @property
    def mode(self) -> int:
        """Permission bits."""
    @property
    def mtime_ns(self) -> int:
        """When it was last changed, in ns."""
    @property
    def target(self) -> str:
        """Of a link."""
    @property
    def ends(self) -> str | None:
        """A hash of both ends of a file that the run appends to."""
    @property
    def kept(self) -> str | None:
        """The name of the old content in the folder `files`."""
    @property
    def kept_size(self) -> int:
        """Bytes of that."""
    @property
    def kept_mtime_ns(self) -> int:
        """When that was last changed, in ns."""
    @property
    def kept_hash(self) -> str | None:
        """A hash of that."""
    @property
    def gone(self) -> str | None:
        """`briefly` or `later`, where the run removes or renames it."""

@final
class Read:
    """The run opens a file to read it."""

    @property
    def path(self) -> str:
        """The file."""
    @property
    def size(self) -> int:
        """Bytes."""
    @property
    def mtime_ns(self) -> int:
        """When it was last changed, in ns."""
    @property
    def hash(self) -> str | None:
        """A hash of it; None of a large one."""
    @property
    def at(self) -> str | None:
        """Where it is read, if the run has changed it before."""
    @property
    def time(self) -> int:
        """How often it was read there before."""

@final
class Folder:
    """What was in a folder before the run changed something there."""

    @property
    def path(self) -> str:
        """The folder."""
    @property
    def names(self) -> set[str]:
        """What was in it."""

@final
class Tracked:
    """A run of a tracker that the script began."""

    @property
    def tracker(self) -> str:
        """Of which (`florc.trackers.known`)."""
    @property
    def found(self) -> dict[str, Any]:
        """By what it is found again."""

@final
class Argument:
    """A setting of the script, from `florc.arg`."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def value(self) -> Any:
        """What the script got: a bool, int, float or str."""

@final
class Bins:
    """Edges of the bins of a histogram."""

    def __init__(self, edges: Sequence[float]) -> None:
        """`edges`: in ascending order, at least two, at most 60,000, no NaN. Raises ValueError for others."""
    def counts(self, address: int, len: int) -> bytes | None:
        """The counts of `len` numbers of 64 bits at an address, as `numpy.histogram` counts: whole numbers of 64 bits, one for
        each bin; None where one of the numbers is NaN. The memory must stay as it is meanwhile."""

@final
class NotKept:
    """Why a block has no checkpoint."""

    @property
    def block(self) -> str:
        """The block."""
    @property
    def why(self) -> str:
        """Why."""

@final
class End:
    """The run is over."""

    @property
    def status(self) -> str:
        """`ok`, `exception`, `interrupted`, `exit N`."""
    @property
    def seconds(self) -> float:
        """How long it went on."""
    @property
    def memory(self) -> list[int]:
        """As of `Iteration`."""

_Record = (
    Checkpoint
    | Planned
    | Source
    | Generator
    | Clocks
    | Circumstances
    | Distributions
    | Variables
    | LeftAlone
    | Iteration
    | Value
    | NoNumbers
    | NoIteration
    | Line
    | Lines
    | Errors
    | Block
    | Dropped
    | Entered
    | EnteredElsewhere
    | Inputs
    | InputsEnd
    | Names
    | Interrupted
    | Lost
    | File
    | Read
    | Folder
    | Tracked
    | Argument
    | NotKept
    | End
)

_RecordKind = Literal[
    "checkpoint",
    "dropped",
    "line",
    "lines",
    "errors",
    "child lines",
    "iteration",
    "value",
    "no numbers",
    "no iteration",
    "block",
    "entered",
    "entered elsewhere",
    "inputs",
    "inputs end",
    "names",
    "file",
    "folder",
    "read",
    "source",
    "plan",
    "left alone",
    "generator",
    "clocks",
    "circumstances",
    "distributions",
    "variables",
    "interrupted",
    "spawned",
    "lost",
    "tracked",
    "argument",
    "not kept",
    "end",
    "run",
    "stopped",
    "lost checkpoint",
]

class _Note(Protocol):
    """Adds a record to the journal."""

    def __call__(self, kind: _RecordKind, **payload: Any) -> None: ...

def read_record(kind: str, payload: str) -> _Record | None:
    """An entry of a journal; None for a kind that nothing reads. Raises ValueError where the text is not one of this kind."""

# -- what the script takes from outside ----------------------------------------------------------------------------------

def observe(
    known: Callable[..., Any],
    encode: Callable[..., Any],
    decode: Callable[..., Any],
    given: Sequence[tuple[Any, ...]] | None = None,
) -> None:
    """From now on values are kept, or, where `given` is there, given back."""

def observe_no_more() -> None:
    """Values are neither kept nor given any more."""

def observed(callee: _T) -> _T:
    """What is to be called in the place of `callee`."""

def watch_sources(
    wanted: Sequence[tuple[str, str, str, str, int, bool]],
    modules: tuple[set[str], set[str], set[str]],
    how: tuple[Callable[..., str], Callable[..., Any], dict[str, Any]],
) -> None:
    """Looks from now on at these functions of C: module, name, what it is called, form, with how many arguments its value comes
    from outside, whether it is looked at for libraries, too."""

def taken_elsewhere() -> int:
    """How many values other threads of the script, and processes that it forked, took from outside so far."""

def took_elsewhere() -> None:
    """One more, or a process began that florc does not see into."""

def is_the_scripts(module: str) -> None:
    """A module of the script's: what it takes from outside is kept."""

def scripts_modules() -> set[str]:
    """The modules of the script's, by name."""

def plain_digests(
    names: dict[str, Any], spans: Sequence[tuple[float, float]], processes: Sequence[int], is_scripts: set[str]
) -> list[tuple[str, str]]:
    """Of each name, a digest of the numbers and texts that it holds, followed by `*` where an object of the script's is in it,
    and for a whole number by what the system may have counted: `>` files, `^` processes and ports."""

def is_of_system(was: str, here: str, processes: tuple[int, int]) -> bool:
    """Whether two whole numbers, told as they are, may be those of files, of which a replay has more open, of processes that this
    one started, or of ports that the kernel chose. `processes`: numbers of this process, now and then."""

def is_process_told() -> bool:
    """Whether a text that was looked at has the number of a process in it."""

def shows_address(texts: list[str]) -> bool:
    """Whether one of these texts shows where an object of this process lies, or the hash that is made of that."""

def unseen_sources() -> list[str]:
    """Functions that this Python does not let florc look at."""

def in_added(change: int) -> None:
    """An added statement begins (1) or is over (-1)."""

def referent(proxy: Any) -> Any:
    """The object that a `weakref.proxy` stands for, None when it is gone. Raises TypeError for anything else."""

def inline_bytes(object: object, start: int, length: int) -> bytes:
    """`length` bytes of what an object itself holds, `start` bytes from its address. Raises ValueError for others."""

def inputs_taken() -> tuple[str | None, bool]:
    """What was taken since the last call, as JSON; and whether no more will be kept."""

def inputs_spent() -> float:
    """Seconds that keeping values took."""

def inputs_missing() -> dict[str, int]:
    """Of each function, how many values a replay asked for that the record does not have."""

def inputs_asked_now() -> list[str]:
    """Functions that added statements asked for what is now."""

# -- the process around the script -----------------------------------------------------------------------------------------

@final
class Seen:
    """A `write` in the place of a stream's, which also tells `sink` of each line."""

    def __init__(
        self,
        write: Callable[..., Any],
        sink: Callable[..., Any],
        project: object,
        batched: bool,
        is_error: bool = False,
        at_top: Callable[[], object] | None = None,
    ) -> None: ...
    def write(self, text: str = ..., /, *further: Any, **keywords: Any) -> Any:
        """Writes a text, as the stream does; what it is called with otherwise, the stream's own `write` refuses."""
    def pause(self, change: int) -> None:
        """While above zero, lines are a probe's own: those that `answers` tells of, and no others, are seen."""
    def answers(self) -> list[tuple[str, str | None]]:
        """What was written while paused, since this was last asked: lines, and in each what a logger was told. Of standard
        output, only those of loggers; of standard error, what the statements print there, too."""
    def flush(self) -> None:
        """Hand on the lines that wait."""
    def close(self, is_cut: bool) -> None:
        """Hand on what waits, an unfinished line too unless the script was cut off in it."""
    def fork(self, path: str, child: str, place: str) -> None:
        """In a child that the script forked: from now on each line of any thread is added to the file `path` at once, as the
        payload of a record `child lines`. `place`: where in the loop nest it was forked."""
    @property
    def spent(self) -> float:
        """Seconds that seeing took."""

@final
class Redirect:
    """A function that is called in the place of `original`, and shows in no traceback."""

    def __init__(
        self, original: Callable[..., Any], call: Callable[..., Any], name: str, module: str, own: str, binds: bool = False
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: object, owner: object = None, /) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __reduce__(self) -> str: ...
    def __repr__(self) -> str: ...
    @property
    def __name__(self) -> str: ...
    @property
    def __qualname__(self) -> str: ...
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...

def instances_of(objects: list[Any], classes: set[int]) -> list[Any]:
    """Those of the objects whose class is among these, given by their addresses."""

def run_main(prepare: Callable[[], Any], plainly: Callable[..., Any]) -> None:
    """Run the code that `prepare()` returns as `__main__`, with no frame of florc's Python between it and the interpreter."""

def listen(events: list[str], hear: Callable[[str, tuple[Any, ...]], object]) -> None:
    """Call `hear(event, args)` when Python announces one of the events (`sys.audit`). Once in a process; raises RuntimeError."""

def listen_no_more() -> None:
    """Listen no more."""

def distributions(installed: dict[str, set[str]]) -> dict[str, str]:
    """What `*.dist-info/RECORD` says of the distributions of modules, by the folder that they were loaded from: a hash by name
    and version."""

def leading_imports(text: str) -> list[tuple[str, list[str]]]:
    """The import statements of a script up to its first other statement or relative import, each with the packages that it names.
    Raises SyntaxError."""

def shown_at_end(text: str) -> tuple[int, int] | None:
    """Of a notebook's cell: the first byte of the expression that it ends with and shows, and one past its last byte. None where
    there is none, or `;` follows. Raises SyntaxError."""

def time_import(spec: ModuleSpec | None) -> None:
    """Take the time of an import that is about to happen, given what a finder found. Not inside another one."""

def memory_held() -> list[int]:
    """Bytes that the process holds in memory now, and the most that it held so far; nothing where the kernel does not tell."""

def import_seconds() -> list[tuple[str, float]]:
    """Each import of a library by the script and its modules so far: the module's name, and seconds."""

def watch_interrupts() -> None:
    """Watch for SIGINT, where Python handles it."""

def not_kept() -> list[str]:
    """What came from programs and servers and is not kept, in words."""

def is_order_of_addresses_used() -> bool:
    """Whether the script went over a set of objects that hash by their addresses."""

def world_begin() -> tuple[int, bool]:
    """Start a mount namespace of this process's own. Returns the user's tree as it is, as a descriptor that no other program
    gets, and whether the namespace is in a user namespace. Raises OSError where the kernel does not allow it."""

def world_cover(folder: str, lower: str, base: str, is_user: bool) -> None:
    """Put an overlay over a folder. `lower`: what it shows; `base`: a folder of the caller's, in which `upper` and `work` are.
    Raises OSError."""

def world_memory(folder: str) -> None:
    """Mount an empty file system in memory. Raises OSError."""

def world_hold(path: str, is_whole: bool) -> int:
    """A folder or a file of the user's tree, for `world_show`: to be called before it is covered. `is_whole`: with what is
    mounted below it. Raises OSError."""

def world_show(held: int, path: str) -> None:
    """Show the user's own at a path, over what covers it. Closes the descriptor. Raises OSError."""

def world_read_only(path: str, is_on: bool) -> None:
    """Make the mount at a path read-only, or no longer. Raises OSError."""

def world_settle() -> None:
    """All is covered: from here on the process may do no more than its user may. Raises OSError."""

def world_leave(real: int) -> None:
    """Go back to the user's tree (`world_begin`) with this thread: what else runs in the process, and its children, stay. Raises
    OSError."""

def world_undo(mounts: list[str], is_apart: bool) -> None:
    """Take mounts away, the last one first: what they cover comes to light for this thread, and for the program that it becomes.
    `is_apart`: for nobody else. Raises OSError."""

def world_join(process: int) -> None:
    """Go into the world of another process. Raises OSError."""

def stall_signal() -> int:
    """The number of the signal for which `faulthandler` is to be registered before `watch_progress`."""

def watch_progress(frames: int, said: int, seconds: int) -> None:
    """Say where the process is when no iteration began for so many seconds, then after twice as many, and so on; end it two
    seconds after a Ctrl-C if it has not ended by itself. `frames`: the descriptor to which `faulthandler` writes; `said`: that to
    speak to. Raises OSError."""

def hold_interrupts() -> None:
    """Work begins during which an interrupt waits; `release_interrupts` follows."""

def release_interrupts() -> None:
    """The end of what `hold_interrupts` began."""

def interrupted_at() -> str | None:
    """Where the program was when the first interrupt came; told once."""

def panic_at(n: int) -> int:
    """For tests: the n-th lock that native code takes from now on panics; none does below zero."""

# -- objects to a graph --------------------------------------------------------------------------------------------------------

@final
class Classes:
    """How objects are encoded, by class: `classify(class, object)` is asked once for each."""

    def __init__(self, classify: Callable[[type, object], tuple[str, Callable[..., Any], str, str]]) -> None: ...
    @property
    def walks(self) -> int:
        """How many walks there were so far."""

@final
class MemoryLeaf:
    """Bytes of host memory that an object owns, which this keeps. Only the readers of tensors and arrays make one."""

    @staticmethod
    def of_tensor(tensor: Any, start: int = 0, nbytes: int | None = None) -> MemoryLeaf:
        """The elements of a tensor, or `nbytes` bytes from the byte `start` on. Raises ValueError for one that is not in host
        memory, is not contiguous, or has fewer bytes."""
    @staticmethod
    def of_array(array: Any, owner: Any = None) -> MemoryLeaf:
        """The elements of a numpy array, whose memory lives as long as `owner` (by default the array). Raises ValueError for
        one that is not C-contiguous."""
    @staticmethod
    def of_storage(storage: Any) -> MemoryLeaf:
        """The bytes of a storage of torch. Raises ValueError for one that is not in host memory."""
    @property
    def address(self) -> int:
        """The address of the first byte."""
    @property
    def nbytes(self) -> int:
        """How many bytes there are."""

@final
class Leaves:
    """The leaves of one state, in index order: `MemoryLeaf`, `DeviceLeaf` or bytes."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Any: ...

class Walk:
    """Walks objects breadth first; an object's number is the order in which it was met."""

    def __init__(self, classes: Classes, hooks: frozenset[str], gradients: bool, since: int) -> None: ...
    @property
    def gradients(self) -> bool:
        """Whether gradients are kept."""
    @property
    def current(self) -> int:
        """The number of the node that is being filled; -1 before the first."""
    @current.setter
    def current(self, value: int) -> None: ...
    @property
    def light(self) -> bool:
        """Whether datasets and the like are being filled."""
    def value(self, obj: object) -> Any:
        """The encoded form of one object: an atom, or a reference to its node (made when new)."""
    def part(self, obj: object) -> Any:
        """The same of what the object at hand refers to, once for each time that this is called: who else does is counted."""
    def run(self) -> None:
        """Fill every node that was met and not yet filled."""
    def run_light(self) -> None:
        """Fill datasets and the like, then weak references."""
    def leaf(self, leaf: object) -> int:
        """A new leaf, `MemoryLeaf`, `DeviceLeaf` or bytes: its index."""
    def memory(self, address: int, len: int, owner: object) -> int:
        """A leaf of memory (bytes) that several nodes may be over: its index."""
    def span(self, device: str, address: int, len: int) -> None:
        """Note that the elements of the node at hand lie in this memory (bytes) of a device."""
    def spans(self) -> list[tuple[int, int]]:
        """Where the elements of tensors and arrays lie: (address, bytes)."""
    def counts(self) -> tuple[int, int]:
        """How many objects were met, and how many of them are light."""
    def objects(self) -> list[Any]:
        """The objects that were met, in order."""
    def object(self, number: int) -> Any:
        """The object with this number; None where there is none."""
    def parent(self, number: int) -> int | None:
        """The node that an object was first met in; -1 for a place."""
    def number(self, obj: Any) -> int | None:
        """The number of an object's node, None when it was not met."""
    def is_opaque(self, number: int) -> bool:
        """Whether an object was recorded by reference: the live one will stay."""
    def holds_addresses(self) -> bool:
        """Whether a whole number in the graph is the address of an object (`id`)."""
    def note_numbers(self, packed: bytes) -> None:
        """Take note of the numbers of a leaf: 64 bits each, little-endian."""
    def add_hooks(self, count: int) -> None:
        """The node at hand has so many hooks."""

    def hooked(self) -> list[tuple[int, int]]:
        """Nodes of objects with hooks, and how many they have."""

    @property
    def left_gradients(self) -> list[int]:
        """Nodes of tensors that have a gradient which is not in the graph."""

    def holders(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """After `finish`: the nodes of objects that nothing but the graph refers to, and of tensors whose memory no other tensor
        has, as runs: the first, how many."""

    def known_references(self, number: int) -> int:
        """How many references to the object of a node are the graph's and florc's."""

    def leaves_gradient(self) -> None:
        """A tensor has a gradient that is not in the graph."""

    def held(self) -> set[int]:
        """The addresses of the objects whose content is in the graph."""
    def finish(self, head: str) -> tuple[bytes, Leaves, int]:
        """The text: `head`, a JSON object, with what was found; the leaves; their bytes in all."""

@final
class Modules:
    """The user's modules: those of `sys.modules` whose `__file__` is in `files`."""

    def __init__(self, files: set[str]) -> None: ...
    def find(self) -> list[tuple[str, dict[str, Any]]]:
        """Name and namespace of each, in the order of `sys.modules`."""

@final
class Readings:
    """How objects are looked into, by class. `ask(class)` is (ways, slots, whether the class is the user's), asked once for each;
    `read(object)` reads what is not read natively."""

    def __init__(
        self,
        ask: Callable[[type], tuple[list[str], list[tuple[str, Any]], bool]],
        read: Callable[[Any], dict[Any, Any] | None],
        version: Callable[[Any], int],
        registered: Callable[[Any], int | None],
        files: set[str],
        limits: Any,
    ) -> None: ...
    def parts(self, obj: Any) -> dict[Any, Any] | None:
        """What an object holds, by key; None for one that is not looked into."""

@final
class Witness:
    """Takes digests of everything that names lead to. What it knows of large memory is kept from one to the next."""

    def __init__(
        self,
        ask: Callable[[type], tuple[str | Callable[[Any], Any], set[str], dict[str, Any]]],
        is_scripts: Container[str],
        most: int,
    ) -> None:
        """`ask`: what objects of a class are (`survey/witness.py`); `is_scripts`: contains the modules whose classes are the
        script's; `most`: of a name that leads to more objects so many are read."""
    def of_object(self, object: Any) -> str:
        """A digest of one object."""
    def of(
        self,
        roots: list[tuple[str, Any]],
        outside: tuple[list[tuple[float, float]], list[int]],
        gradients: bool,
        unread: set[tuple[int, int]],
        rebound: set[str],
        files: set[int],
    ) -> list[tuple[str, str]]:
        """Of each root a digest of what it leads to, and of objects of the script's one for each attribute, two levels deep."""
    @staticmethod
    def is_same(one: str, two: str) -> bool:
        """Whether two digests of one name say that it holds the same."""

class Sight:
    """The objects that a program reaches by its names, nearest first, as they were. `scopes`: dicts of names."""

    def __init__(self, readings: Readings, scopes: list[dict[str, Any]]) -> None: ...
    def __len__(self) -> int: ...
    def again(self, scopes: list[dict[str, Any] | None]) -> Again:
        """The same objects now. `scopes`: those of the same names, None for one that is gone."""
    def identity(self, index: int) -> int:
        """The address that an object had."""
    def way(self, index: int) -> tuple[int | None, Any]:
        """The first way to an object: the number of its holder and the key; of a scope, None and its number."""
    def content(self, index: int) -> list[tuple[Any, Any]]:
        """What an object held: (key, atom, number or address of the part)."""

@final
class Again:
    """The objects of a sight that were found again."""

    def count_references(self, addresses: list[int]) -> list[int]:
        """How many references are held here to the objects at these addresses."""
    def discount(self, walk: Walk) -> None:
        """Tell a walk which objects are held here: what nothing but its graph refers to is known by its references."""

    def changed(self, walk: Walk | None = None) -> list[int]:
        """The objects that hold something else now, without those whose content is in the graph of `walk`."""
    def held(self, walk: Walk) -> list[Any]:
        """The objects whose content is in the graph of `walk`."""
    def object(self, index: int) -> Any:
        """An object; None where it was not found again."""
    def parts(self, index: int) -> dict[Any, Any] | None:
        """What an object holds now."""
    def moved(self, walk: Walk) -> list[int]:
        """The numbers of objects of the graph of `walk` that were somewhere else before, and are at none of the places in the
        graph where they were."""
    def tell_new(self, walk: Walk) -> bool:
        """Tell a finished `walk` which objects of its graph are where others had been, or nothing, and were nowhere before.
        Whether it had not found some of that by counting references."""
    def paths(self, walk: Walk, scopes: list[int], names: set[str]) -> list[tuple[str, int]]:
        """Ways, as JSON, from these names of these scopes to objects of the graph of `walk`, and their numbers there; not where
        the content of the holder is in the graph."""

# -- the store -------------------------------------------------------------------------------------------------------------------

@final
class Policy:
    """When a block is materialized: the Joint Invariant, and a limit on all that florc adds. Times are in seconds."""

    def __init__(self, overhead_tolerance: float = ..., restore_ratio: float = 1.0) -> None: ...
    @property
    def overhead_tolerance(self) -> float:
        """ε, the fraction of the run's time that florc may add."""
    @property
    def restore_ratio(self) -> float:
        """c, the time to restore over the time to materialize."""
    @restore_ratio.setter
    def restore_ratio(self, value: float) -> None: ...
    @property
    def charged(self) -> float:
        """Everything charged so far, in seconds."""
    def observe_compute(self, block: _Block, seconds: float) -> None:
        """The block was computed in so many seconds."""
    def admits(self, block: _Block, predicted_materialize_seconds: float | None = None) -> bool:
        """Whether the block may be materialized now, after `observe_compute`."""
    def foresees(self, block: _Block, predicted_materialize_seconds: float | None = None) -> bool | None:
        """Whether it may be materialized after another execution like those before; None where there were none."""
    def observe_materialize(self, block: _Block, seconds: float) -> None:
        """A checkpoint of the block cost the run so many seconds."""
    def add_background(self, block: _Block, seconds: float) -> None:
        """Background work for the block's checkpoints took so many seconds from the run."""
    def charge(self, seconds: float) -> None:
        """What florc did cost the run so many seconds that belong to no block."""
    def charge_once(self, seconds: float) -> None:
        """Florc cost the run so long for what it does once in a run: that is paid for over time."""
    def elapsed(self, seconds: float) -> None:
        """The run went on for so many more seconds of wall time."""
    def times(self, block: _Block) -> tuple[int, float, int, float]:
        """Of a block: executions, seconds computed, checkpoints, seconds materialized."""

@final
class Done:
    """A checkpoint was dealt with."""

    @property
    def seq(self) -> int:
        """Its number."""
    @property
    def cpu_s(self) -> float:
        """Seconds of the processor that writing it took."""
    @property
    def bytes_written(self) -> int:
        """Bytes of packs that were written for it."""
    @property
    def error(self) -> str | None:
        """Why it does not exist."""
    @property
    def errno(self) -> int | None:
        """The number of the operating system's error, where that was the reason."""
    @property
    def refusal(self) -> Literal["now", "good", "elsewhere"] | None:
        """What the child that should have encoded it refused: this one, all of the block, or to do it itself."""
    @property
    def encode_s(self) -> float:
        """Seconds of the processor that the child took."""
    @property
    def faults(self) -> int:
        """Pages that the script touched above the usual number while the child lived."""

@final
class Recorder:
    """Records one rank of one run: checkpoints and log records."""

    def __init__(
        self,
        store: str,
        run_id: str,
        rank: int = 0,
        *,
        max_staging: int | None = None,
        engine: str = "writer",
        key: bytes | None = None,
        share_packs: bool = True,
    ) -> None: ...
    def submit(self, header: str, graph: bytes, leaves: Leaves | Iterable[Any]) -> _Staged | None:
        """Copy a checkpoint to staging memory: `seq`, `bytes`, `stall_s`; None when there is no room now."""
    def submit_in_pieces(
        self, header: str, graph: bytes, leaves: Leaves | Iterable[Any], fetch: Callable[[int, int, int, int], None] | None = None
    ) -> _Staged | None:
        """As `submit`, of a checkpoint that is larger than the memory it may take; waits for the disk.

        `fetch(leaf, start, nbytes, address)` copies bytes of a `DeviceLeaf`; without it there must be none. Its errors pass.
        """
    def fork(
        self, nbytes: int, encode: Callable[[], tuple[Any, ...]], deadline_s: float = 60.0, others: bool = True
    ) -> _Cloned | None:
        """Have a child of this process encode a checkpoint of at most `nbytes`: `seq`, `stall_s`; None where it cannot."""
    def prepare(self, nbytes: int) -> None:
        """Checkpoints of so many bytes are to be expected."""
    def log(self, kind: _RecordKind, payload: str) -> None:
        """Add a record to the journal. The kind has 1 to 255 bytes and is not `checkpoint`."""
    def poll(self) -> list[Done]:
        """The checkpoints finished since the last call."""
    def drop_checkpoints(self, seqs: list[int]) -> None:
        """Have checkpoints dropped, and packs removed that nothing else needs."""
    def freed(self) -> list[int]:
        """What each finished `drop_checkpoints` freed since the last call, in bytes."""
    def room(self) -> int:
        """The largest checkpoint that could be staged now, in bytes."""
    def whole(self) -> int:
        """The largest checkpoint that could be staged as a whole if nothing else were on its way, in bytes."""
    @property
    def engine(self) -> str:
        """The engine at work: `writer`, `thread` or `inline`."""
    @property
    def fallback(self) -> str | None:
        """Why it is not the engine that was asked for."""
    @property
    def dead(self) -> str | None:
        """Why nothing is recorded any more."""
    @property
    def pid(self) -> int | None:
        """The writer's process id; None when it is no process."""
    def close(self, timeout_s: float = 600.0) -> _Totals:
        """Wait until everything staged is durable, end the engine, and return the totals."""
    def abandon(self) -> None:
        """For a process forked from the recording one: close the pipes and do nothing ever after."""

@final
class RunReader:
    """Reads one rank of one run, also while it is being recorded."""

    def __init__(self, store: str, run_id: str, rank: int = 0, key: bytes | None = None) -> None: ...
    def first(self) -> tuple[str, str] | None:
        """The first record, kind and payload; None where there is none."""
    def records(self) -> list[tuple[str, str]]:
        """The whole records as pairs of kind and payload, in the order in which they were written."""
    def check_packs(self, reads_data: bool = True) -> list[tuple[str, str, bool]]:
        """What is wrong with packs of the store: name, reason, and whether a run needs what cannot be read. `reads_data`: of
        every chunk, else of what lists them."""
    def read_chunk(self, hash: str) -> bytes:
        """The bytes with this hash. Raises DamagedError when no pack holds them intact."""
    def fill(self, wanted: list[tuple[str, MemoryLeaf, bool]]) -> None:
        """Bring chunks to where they belong, on all cores: their hashes, and memory of their lengths that does not overlap; where
        the third is true, the memory may hold the chunk already, and nothing is read if it does. Raises DamagedError when no
        pack holds one intact, and the memory may hold anything then; ValueError for memory that overlaps."""
    def check_chunks(self, hashes: list[str]) -> None:
        """Read chunks and check their hashes. Raises DamagedError when no pack holds one intact."""
    def find_chunks(self, hashes: list[str]) -> None:
        """Look chunks up and read none. Raises DamagedError when no readable pack lists one, or only files that end before it."""
    @property
    def read_so_far(self) -> tuple[int, int, int]:
        """How many chunks were read, how many bytes they had, and how many chunks were where they belong."""
    def has_chunk(self, hash: str) -> bool:
        """Whether some readable pack lists the hash."""
    def damaged_packs(self) -> list[tuple[str, str]]:
        """The packs of the store that cannot be read, as pairs of name and reason."""
    @property
    def sealed(self) -> bool:
        """Whether every record that `records` returned was sealed with the key."""
    @property
    def version(self) -> int:
        """The version of the journal's format."""
    @property
    def torn(self) -> str | None:
        """Where and why the journal ends with an unfinished record."""
    @property
    def damaged(self) -> str | None:
        """Where and why the journal cannot be read to its end."""

@final
class Saver:
    """Writes zip archives in the background, as `torch.load` reads them."""

    def __init__(self, max_staging: int | None = None) -> None: ...
    def save(self, path: str, names: list[str], parts: list[Any]) -> int:
        """Copy entries, `MemoryLeaf` or bytes-like, and return a ticket. Raises OSError."""
    def wait(self, ticket: int | None = None, timeout_s: float | None = None) -> bool:
        """Wait until a save is durable (None: all of them): whether it is. Raises OSError when it failed."""

def create_store(path: str) -> None:
    """Open the store, creating what is missing of it. Raises StoreError."""

def gc(store: str) -> tuple[int, int]:
    """Remove what no run refers to: how many files, and their bytes. Raises StoreError while a recording goes on."""

def usage(store: str) -> tuple[dict[str, tuple[int, int]], int]:
    """Bytes in packs: per run those that it refers to, and those that no other run does; and what `gc` would free."""

def chunk_hashes(leaves: Leaves | Iterable[Any]) -> list[str]:
    """The hashes that a checkpoint's chunks would have: of each leaf, in order."""

def most_packed(nbytes: int, chunks: int) -> int:
    """Bytes on disk that so many chunks take at most, which have so many bytes together: a pack with its index."""

def most_staged(header: int, parts: int, nbytes: int) -> int:
    """Bytes of staging memory that a checkpoint takes at most: a header of so many bytes, and so many parts (the object graph and
    the leaves) that have so many bytes together."""

def diff_lines(recorded: list[str], replayed: list[str]) -> list[tuple[int, int, int, int]]:
    """Where two sequences of lines differ: recorded `i1..i2` against replayed `j1..j2`."""

def to_json(value: object, indent: int) -> str:
    """The text of a plain value, as `json.dumps` writes it. Raises TypeError for anything else."""

def from_json(text: str) -> Any:
    """The value of a text that the native half wrote. Raises ValueError."""
