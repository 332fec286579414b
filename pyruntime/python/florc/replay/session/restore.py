"""From a checkpoint in the store to the objects of the running script."""

from __future__ import annotations

import json
import time
import types
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from ... import _native, state
from ...adapters import persistent
from ...plan import forms, of_functions, places
from ...process import streams
from ...runs.holding import Holding
from ...runs.journal import History
from ...support import mishaps, static
from ...survey.scopes import Reader
from .leaves import Leaves
from .speeds import Speeds
from .witnessed import Witnessed


class CannotRestore(Exception):
    """A checkpoint cannot be restored; the objects of the script may hold a part of it. `whatever_asked`: nor could it be if
    something else was asked for."""

    def __init__(self, why: str, whatever_asked: bool = False):
        super().__init__(why)
        self.whatever_asked = whatever_asked


class Damaged(Exception):
    """A large chunk turned out to be damaged when it was needed; the objects of the script may hold a part of a checkpoint."""


class Restorer:
    """Restores checkpoints in place. Between `take` and `put_back` it holds one of them."""

    def __init__(
        self,
        history: History,
        files: set[str],
        checks_first: bool = False,
        may_wait: Callable[[], bool] = lambda: False,
        holding: Callable[[], Holding] = Holding,
        witnessed: Callable[[], Witnessed | None] = lambda: None,
    ):
        """`checks_first`: a chunk is known to be damaged, so all of a checkpoint are checked before it is used. `may_wait`:
        whether the state of optimizers may be read when it is needed (`state.deferred`). `holding`: where added
        statements may hold objects; `witnessed`: what tells whether a block was restored wholly."""
        self._witnessed = witnessed
        self._history, self._files = history, files
        self._reader, self._modules = Reader(files), _native.Modules(files)
        self._holding = holding
        self.checks_first, self._may_wait = checks_first, may_wait
        self._pending: _native.Checkpoint | None = None
        self._graph: dict[str, Any] = {}
        self._leaves: Leaves | None = None
        self._held: dict[int, str] = {}
        """By the address of a tensor, the chunk that was last read to it."""
        self.without_history: set[str] = set()
        """Blocks that left tensors whose autograd history is gone."""
        self.without_gradients = False
        """Whether a block was restored whose checkpoint lacks gradients that nobody reads."""
        self.seconds = 0.0
        """Seconds that reading and restoring took."""
        self._before = 0.0
        """Of those, what was taken before the block at hand."""
        self.speeds = Speeds(history)

    def take(self, checkpoint: _native.Checkpoint) -> str | None:
        """Read a checkpoint's graph and small leaves, and see that the large ones are there. Returns why that is impossible, or
        None."""
        begun, self._before = time.perf_counter(), self.seconds
        reader = self._history.reader
        graph, *hashes = checkpoint.chunks
        try:
            self._graph = json.loads(reader.read_chunk(graph))
            self._leaves = Leaves(reader, hashes, self._graph.get("leaves", ()), self._held, self._may_wait())
            if self.checks_first:
                reader.check_chunks(hashes)
            else:
                reader.find_chunks(hashes)
        except _native.StoreError as error:
            return str(error)
        self._pending = checkpoint
        self.seconds += time.perf_counter() - begun
        return None

    @property
    def is_about_to(self) -> bool:
        """Whether it holds a checkpoint that is not put back yet."""
        return self._pending is not None

    def has_at_hand(self, key: str) -> bool:
        """Whether the restorer holds this checkpoint."""
        return self._pending is not None and self._pending.key == key

    def put_back(self, loop: _native.Loop, objects: Sequence[Any], maybe: Sequence[str], frame: FrameType) -> list[Any]:
        """Restore the state of a loop's places. Returns a value for each place that gets a new object; `maybe`: for those that
        may be unbound, `places.unbound`. Raises CannotRestore, and Damaged."""
        begun = time.perf_counter()
        checkpoint, leaves, graph = self._pending, self._leaves, self._graph
        self._pending, self._leaves, self._graph = None, None, {}
        if checkpoint is None or leaves is None:
            raise RuntimeError(f"florc: {loop.id} was not skipped")
        planned = {place.name for place in loop.places}
        unforeseen = [name for name in checkpoint.places if ":" in name and name not in planned]
        there = places.named(frame, unforeseen)
        live = self._live(loop, objects, checkpoint.origins, frame, unforeseen, there)
        uncounted = [name for name in live if name.endswith(places.BAR) and name not in checkpoint.places]
        if uncounted:
            raise CannotRestore(f"what {uncounted[0]} counts is not in its checkpoint")
        outside = places.outside(loop, frame)
        with state.unnoticed():
            named = self.named(checkpoint, recorded_outside(loop, checkpoint, frame))
        added = self._holding().names  # in the recorded run, they held nothing, or something else
        live.update((name, value) for name, value in named.items() if _root(name) not in added)
        lost = self._history.lost_names(loop.file, loop.function) | self._history.lost_names(loop.file, "")
        # and those that it binds, where nobody reads what they hold at this instant
        lost |= set(loop.binds).difference(planned)
        lost |= added
        named_here = (name.partition(":") for name in unforeseen)  # they are bound anew, or are what is restored
        lost |= {path for module, _, path in named_here if module in ("", places.OF_FUNCTION)}
        foreign = [value for name, value in outside.items() if name not in live and name not in lost]
        del outside, named  # who holds an object is counted
        histories = state.History.made
        streams.synchronize()
        try:
            values = state.restore(graph, leaves, live, foreign=foreign, holders=self._holders(checkpoint, frame))
        except state.CannotRestore as error:
            if leaves.damage:
                raise Damaged(leaves.damage) from None
            raise CannotRestore(f"it cannot be restored: {error}", not error.by_added) from None
        except Exception as error:  # a fault of florc's is not the script's; what it left half done is left behind
            if leaves.damage:
                raise Damaged(leaves.damage) from None
            raise CannotRestore(f"it cannot be restored: {type(error).__name__}: {error}") from error
        finally:
            streams.synchronize()
            leaves.let_go()
            self.seconds += time.perf_counter() - begun
        self.speeds.restored(checkpoint, self.seconds - self._before)
        for place in loop.places:
            if state.is_lapsed(values.get(place.name)) and not place.bound and places.is_global(frame, place.name):
                frame.f_globals[place.name] = values[place.name]
                continue
            if place.mutated and not place.bound and place.name in live and place.name in values:
                _hold(frame, place, live[place.name], values[place.name])
        for name in filter(persistent.is_name, checkpoint.lapsed):
            for loader in persistent.named(name):
                state.lapse_workers(loader, name)
        self.without_gradients |= not checkpoint.gradients
        if state.History.made > histories:
            self.without_history.add(loop.id)
        for place in loop.places:
            if place.bound and place.in_globals:
                _bind_global(frame, place.name, values)
        for name in unforeseen:
            if name in values and values[name] is not there.get(name):
                try:
                    _bind_global(frame, name, values)
                except Exception as error:
                    raise CannotRestore(f"{name} cannot be bound: {type(error).__name__}: {error}") from error
        bound = [place.name for place in loop.places if place.bound and not place.in_globals]
        attributes = [name for name in bound if "." in name and name in maybe]  # emitted code leaves these to the runtime
        bound = [name for name in bound if name not in attributes]
        known = checkpoint.forms
        values.update((name, forms.stand_in(known[name])) for name in bound if name in known and name not in values)
        missing = [name for name in bound if name not in values and name not in maybe and name.isidentifier()]
        if missing:
            raise CannotRestore(f"its checkpoint does not hold {', '.join(missing)}")
        for name in attributes:
            _bind_attribute(frame, name, values)
        self._see(checkpoint, loop, frame, {name: values.get(name, places.unbound) for name in bound})
        return [values.get(name, places.unbound) for name in bound]

    def _see(self, checkpoint: _native.Checkpoint, loop: _native.Loop, frame: FrameType, bound: dict[str, Any]) -> None:
        """See that the program holds now what it held then. `bound`: what emitted code binds next. Raises CannotRestore."""
        witnessed = self._witnessed() if checkpoint.witness else None
        if witnessed is None:
            return
        attributes = [name for name in bound if "." in name]
        if any(_runs_code(frame, name) for name in attributes):
            return  # to bind them twice might be two things
        begun, different = time.perf_counter(), list[str]()
        for name in attributes:
            _bind_attribute(frame, name, {} if bound[name] is places.unbound else bound)
        names = {name: value for name, value in bound.items() if "." not in name}
        with mishaps.Swallow(f"comparing what {checkpoint.block} left behind"):
            different = witnessed.differing(checkpoint, loop, frame, names, self._holding().names)
        self.seconds += time.perf_counter() - begun
        if different:
            raise CannotRestore(witnessed.why(different))

    def _holders(self, checkpoint: _native.Checkpoint, frame: FrameType) -> state.Holders:
        """Who held what when it was recorded, and what added statements hold now."""
        _, names, otherwise = self._holding()
        found: list[Any] = []
        at: FrameType | None = frame if names else None
        while at is not None:
            if at.f_code.co_filename in self._files and not places.is_module_level(at):
                found += [value for name, value in _native.names_of(at).items() if name in names]
            at = at.f_back
        modules = self._modules.find() if names else ()
        for held in {id(held): held for _, held in modules}.values():  # `__main__` may have two names
            found += [value for name, value in held.items() if name in names]
        return state.Holders(checkpoint.alone, checkpoint.lone_memory, found, otherwise)

    def named(self, checkpoint: _native.Checkpoint, outside: dict[str, Any]) -> dict[str, Any]:
        """The objects outside the block that are part of its checkpoint, found by name or by path."""
        found = {
            name: self._reader.follow(outside, name) if name.startswith("[") else outside.get(name) for name in checkpoint.names
        }
        return {name: value for name, value in found.items() if value is not None}

    def _live(
        self,
        loop: _native.Loop,
        objects: Sequence[Any],
        origins: dict[str, str | None],
        frame: FrameType,
        unforeseen: list[str],
        there: dict[str, Any],
    ) -> dict[str, Any]:
        """The present objects of places; not of those that got another object while the block ran. `unforeseen`: further places,
        and what is `there`."""
        present = {name: value for name, value in places.gather(loop, objects, frame).items() if value is not None}
        for place in loop.places:  # a name that may be unbound is not handed over
            value = (
                places.unbound if place.iterated or place.name in present else places.read(frame, place.name, place.in_globals)
            )
            if value is not places.unbound:
                present[place.name] = value
        present.update(there)
        origin = {name: origins.get(name, name) for name in (*(place.name for place in loop.places), *unforeseen)}
        bars = {name: value for name, value in present.items() if name.endswith(places.BAR)}
        return {**{name: present[held] for name, held in origin.items() if held in present}, **bars}


def _root(name: str) -> str:
    """The name that a name, or a path of `Survey.paths`, begins with."""
    return str(json.loads(name)[0]) if name.startswith("[") else name


def recorded_outside(loop: _native.Loop, checkpoint: _native.Checkpoint, frame: FrameType) -> dict[str, Any]:
    """The objects outside the block as recorded: an added statement may have made more names places of it."""
    held = set(checkpoint.places)
    return places.outside(loop, frame, [place for place in loop.places if place.name in held])


def _hold(frame: FrameType, place: _native.Place, live: Any, value: Any) -> None:
    """See that a place holds what it held, though nothing in the block binds it. Raises CannotRestore where others may hold the
    object that is there, and what it held was rebuilt as another one: a sparse matrix, a masked array."""
    if state.same_value(live, value) or state.same_value(places.read(frame, place.name, place.in_globals), value):
        return
    if not state.is_value(value) or not state.is_value(live):
        raise CannotRestore(f"{place.name}: a {static.name_of(type(live))} cannot be restored in place", True)
    if "." in place.name.rpartition(":")[2] and not place.in_globals:
        _bind_attribute(frame, place.name, {place.name: value})
    elif places.is_global(frame, place.name) or place.in_globals:
        _bind_global(frame, place.name, {place.name: value})
    else:
        raise CannotRestore(f"{place.name}: nothing in the block is known to bind it, and it was another one", True)


def _bind_attribute(frame: FrameType, name: str, values: dict[str, Any]) -> None:
    """Give an attribute the value of a checkpoint, or none. What holds it may be restored, too. Raises CannotRestore."""
    path, _, attribute = name.rpartition(".")
    known, between = path, list[str]()
    while known and known not in values:
        known, _, last = known.rpartition(".")
        between.insert(0, last)
    try:
        holder = values[known] if known else places.read(frame, path, False)
        for step in between if known else ():
            holder = static.read_attribute(holder, step)
    except (AttributeError, static.RunsCode):
        holder = places.unbound
    if holder is places.unbound and name in values:
        raise CannotRestore(f"nothing that florc finds holds {name}")
    if holder is places.unbound or name not in values and not _has(holder, attribute):
        return
    try:
        # what is deleted may be hidden by an attribute of the class
        setattr(holder, attribute, values.get(name, places.unbound))
        if name not in values:
            delattr(holder, attribute)
    except Exception as error:
        raise CannotRestore(f"{name} cannot be bound: {type(error).__name__}: {error}") from error


def _runs_code(frame: FrameType, name: str) -> bool:
    """Whether to bind an attribute runs code of the user's, or of a descriptor."""
    path, _, attribute = name.rpartition(".")
    kind = type(places.read(frame, path, False))
    held = static.static(kind, attribute)
    is_descriptor = hasattr(type(held), "__set__") and not isinstance(held, types.MemberDescriptorType)
    return is_descriptor or static.is_users_code(static.static(kind, "__setattr__"))


def _has(holder: Any, attribute: str) -> bool:
    try:
        static.read_attribute(holder, attribute)
    except AttributeError:
        return False
    except static.RunsCode:
        return True
    return True


def _bind_global(frame: FrameType, name: str, values: dict[str, Any]) -> None:
    module, _, path = name.rpartition(":")
    root, *between = path.split(".")
    if not between:
        names = places.globals_of(frame, module)
        if name in values:
            names[root] = values[name]
        else:
            names.pop(root, None)
        return
    holder = places.globals_of(frame, module)[root]
    for step in between[:-1]:
        holder = of_functions.read(holder, step) if of_functions.is_step(step) else getattr(holder, step)
    if of_functions.is_step(between[-1]):  # never of a place that is gone: such a block has no checkpoint
        of_functions.bind(holder, between[-1], values[name])
    elif name in values:
        setattr(holder, between[-1], values[name])
    elif hasattr(holder, between[-1]):
        delattr(holder, between[-1])
