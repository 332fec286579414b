"""Side effects of a block that its plan does not foresee: what the program holds is looked at before and after.

No analysis of Python is complete: a callback in a table, a default argument, an attribute of a class, the globals of
another module may change without a word at the loop. So, where it costs little, the objects that the program reaches by
its names are looked at when a block begins and again when it ends. What changed and is not in the block's checkpoint
makes that checkpoint useless: the block runs again on replay.

Only objects whose content is Python's or the project's are looked into: containers, instances and classes of the project,
its functions (defaults, closures, attributes), modules and optimizers of torch. Looking keeps nothing alive: an object is
known by the ways to it, and found again on one of them.
"""

from __future__ import annotations

import sys
import types
from itertools import chain
from types import FrameType

from .. import _native
from ..plan import of_functions, places
from ..support import files_read
from ..support.light import NamedTuple
from ..support.static import is_users_code, module_of, mro_of, name_of, same_class, static
from . import classes, files, readers, scopes
from .limits import LIMITS
from .memory import lies_in, memory_of
from .scopes import Reader, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any


class Change(NamedTuple):
    """A change that the plan does not foresee."""

    words: str
    """Where it is, in the user's words, and what is there now."""
    place: str | None
    """By which name a checkpoint may hold what changed: `module:name.attribute`, of the block's own file `:name`; the nearest
    such place around it. None of what only a running function knows."""
    is_rebound: bool
    """Whether another object stands there now."""
    is_of_library: bool = False
    """Whether it is in an object of a library's, of which florc knows nothing else."""
    around: tuple[str, Any] | None = None
    """A place that has to hold this object, or the name of `place` leads elsewhere by now: of one that is rebound what is around
    it, if that is an object; else the place itself."""


class Survey:
    """What a program holds when a block begins."""

    def __init__(self, frame: FrameType, loop: _native.Loop | None, reader: Reader):
        self._reader = reader
        # What these names hold now is not what they will hold: the block binds them anew. An old value that is gone by
        # then may have left its address to a new one.
        self._rebound = frozenset(loop.binds if loop is not None else ())
        scopes = reader.scopes(frame, self._rebound)
        self._scopes = [_called(scope) for scope in scopes]
        self._sight = _native.Sight(reader.readings, [scope.names for scope in scopes])

    def tries(self, place: str) -> None:
        """A checkpoint is to hold this place, where an object of a library's changed."""
        self._reader.tried.add(place)

    def gives_up(self, unforeseen: list[str]) -> bool:
        """No checkpoint could be made: take such places out of the list. Whether there was one, and another try is worth it."""
        found = self._reader.tried.copy()
        self._reader.hopeless |= found
        self._reader.tried.clear()
        unforeseen[:] = [place for place in unforeseen if place not in found]
        return bool(found)

    def again(self, frame: FrameType) -> Again:
        """The same objects now."""
        scopes = self._reader.scopes(frame, self._rebound)
        left = list(scopes)
        found: list[Scope | None] = []
        for label in self._scopes:  # a module that was imported since is none of them
            found.append(next((scope for scope in left if _called(scope) == label), None))
            left = [scope for scope in left if scope is not found[-1]]
        return Again(self._reader, self._sight, found, frame)

    def change(self, frame: FrameType, loop: _native.Loop | None, walk: _native.Walk | None) -> str | None:
        """The first change that the plan does not foresee, in words. `walk`: the objects whose content is in the checkpoint."""
        found = self.again(frame).change(loop, walk)
        return None if found is None else found.words


class Again:
    """What a survey met, found again: nothing may run between this and what is asked of it."""

    def __init__(self, reader: Reader, sight: _native.Sight, scopes: list[Scope | None], frame: FrameType):
        self._reader, self._sight, self._scopes, self._frame = reader, sight, scopes, frame
        self._found = sight.again([scope and scope.names for scope in scopes])

    def change(
        self, loop: _native.Loop | None, walk: _native.Walk | None, gone: Collection[int] = (), others: Collection[str] = ()
    ) -> Change | None:
        """The first change that the plan does not foresee. `walk`: the objects whose content is in the checkpoint; `gone`: the
        addresses of those that nothing will lead to after a restore; `others`: what the checkpoint holds besides, as in
        `Change.place`."""
        changed = self._found.changed(walk)
        if not changed:
            return None
        bound = {place.name for place in (loop.places if loop is not None else ()) if place.bound}
        slots = slots_of(loop, self._frame) if loop is not None else set()
        restored = memory_of(self._found.held(walk)) if walk is not None else []
        for index in changed:
            scope = self._scopes[index] if index < len(self._scopes) else None
            if scope is not None and self._reader.leaves_own_names and scope.own:
                continue
            obj, parts = self._found.object(index), self._found.parts(index)
            if id(obj) in gone:
                continue
            if scope is None and lies_in(obj, restored):
                continue
            for key in _changed(self._sight.content(index), _content(parts or {})):
                if scope is not None and scope.own and key == "(their order)":
                    continue
                if key == ".cache_info()" and walk is not None and walk.number(obj) is not None:
                    continue  # what is remembered again is the same to those that hold the cache
                if scope is None and _is_own_cell(obj, key, parts, self._frame, bound):
                    continue
                if _is_place(scope, obj, key, bound, slots):
                    continue
                place, is_rebound = self._place(index, key)
                if key == scopes.CONTENT and (place is None or place in others or place in self._reader.hopeless):
                    continue  # of a library's: whether it is restored wholly is seen then
                if is_rebound and (key not in (parts or ()) or issubclass(type((parts or {})[key]), _BY_NAME)):
                    place = None  # it is gone, or what stands there now is another one that has the same name
                if not is_rebound or place not in others:
                    around = None if place is None else self._around(index, key, place, is_rebound)
                    return Change(self._name(index, key) + _now(parts, key), place, is_rebound, key == scopes.CONTENT, around)
        return None

    def references(self, addresses: list[int]) -> list[int]:
        """How many references are held here to the objects at these addresses."""
        return self._found.count_references(addresses)

    def moved(self, walk: _native.Walk) -> set[int]:
        """The nodes of objects that were elsewhere before, and that no place in the graph leads to as it did then."""
        return set(self._found.moved(walk))

    def tell_new(self, walk: _native.Walk) -> bool:
        """Tell the graph of `walk` which of its objects the block put where others had been. Whether it had not known of some."""
        return self._found.tell_new(walk)

    def is_ours(self, cls: type) -> bool:
        """Whether a class is the project's."""
        return self._reader.is_ours(cls)

    def copies(self) -> list[dict[str, Any]]:
        """The names that are held here, in dicts of florc's own."""
        found = {id(scope.names): scope.names for scope in self._scopes if scope is not None}
        for _, names in self._reader.files():
            found.pop(id(names), None)
        return list(found.values())

    def object(self, number: int) -> Any:
        """The object that was met as the so many-th one; None where it was not found again."""
        return self._found.object(number)

    def paths(self, walk: _native.Walk, names: set[str]) -> list[tuple[str, int]]:
        """The ways, as JSON, from these names of the block's function or its file to objects that the graph of `walk` has, and
        their numbers there. Not where the graph says it itself."""
        own = [
            number
            for number, scope in enumerate(self._scopes)
            if scope is not None and not scope.label and (scope.own or scope.is_file)
        ]
        self._found.discount(walk)
        return self._found.paths(walk, own, names)

    def _way(self, index: int, key: Any) -> tuple[Scope | None, list[Any]]:
        """From which names, and by which keys, one comes to the part `key` of an object."""
        keys, holder = [key], self._sight.way(index)
        while holder[0] is not None:
            keys.append(holder[1])
            holder = self._sight.way(holder[0])
        return self._scopes[holder[1]], keys[::-1]

    def _name(self, index: int, key: Any) -> str:
        """Where the change is, in the user's words."""
        scope, keys = self._way(index, key)
        return ((scope.label if scope is not None else "") + "".join(map(_shown, keys))).lstrip(".")

    def _place(self, index: int, key: Any) -> tuple[str | None, bool]:
        """As in `Change`."""
        scope, keys = self._way(index, key)
        is_of_function = scope is not None and scope.own and not scope.is_file
        if scope is None or not (scope.is_file or scope.label or is_of_function) or (scope.label, keys[0]) in _OF_PYTHON:
            return None, False
        path = _attributes(keys)
        is_rebound = len(path) == len(keys)
        if not path or is_rebound and is_of_function and len(path) == 1:  # a name of a function is bound by its own code alone
            return None, is_rebound
        holder = None if index < len(self._scopes) else self._found.object(index)
        is_alone = len(path) == len(keys) - 1
        if not (self._may_be_bound(holder) if is_rebound else self._is_kept_whole(holder) or self._may_move(index, is_alone)):
            return None, is_rebound
        return f"{places.OF_FUNCTION if is_of_function else scope.label[:-1]}:{'.'.join(path)}", is_rebound

    def _around(self, index: int, key: Any, place: str, is_rebound: bool) -> tuple[str, Any] | None:
        """As in `Change`."""
        module, _, path = place.partition(":")
        steps = path.split(".")[: -1 if is_rebound else None]
        on_way = [index]
        while (holder := self._sight.way(on_way[-1])[0]) is not None:
            on_way.append(holder)
        # the last of them is the scope, which the first step is a name of
        return (f"{module}:{'.'.join(steps)}", self._found.object(on_way[-1 - len(steps)])) if steps else None

    def _may_be_bound(self, holder: Any) -> bool:
        """Whether florc may bind an attribute of an object, and no more is to be done: not where code of the user's would run, or
        a library keeps account of it. None: a name of a file."""
        kind = type(holder)
        if holder is None or kind in (types.ModuleType, types.FunctionType, types.SimpleNamespace) or kind is type:
            return True
        changes = kind if issubclass(kind, type) else self._reader.is_ours(kind) and kind
        return bool(changes) and not any(is_users_code(static(kind, name)) for name in ("__setattr__", "__delattr__"))

    def _may_move(self, index: int, is_alone: bool) -> bool:
        """Whether an object is an iterator that a checkpoint may hold, and another one may be put in its place. `is_alone`: it is
        the place itself, and not in a container or an object there."""
        if not readers.is_iterator(type(self._found.object(index))):
            return False
        holder = self._sight.way(index)[0]
        if not is_alone:
            return True
        return self._may_be_bound(None if holder is None or holder < len(self._scopes) else self._found.object(holder))

    def _is_kept_whole(self, obj: Any) -> bool:
        """Whether a checkpoint that holds an object holds what is in it: of others it holds only a name."""
        kind = type(obj)
        if kind in _KEPT_WHOLE or kind in files.READERS and files_read.is_read(obj, or_written=False):
            return True
        if self._reader.is_ours(kind) and not issubclass(kind, type):  # a base of a library's may keep more than attributes
            return all(base in _PLAIN_BASES or self._reader.is_ours(base) for base in mro_of(kind))
        # of other libraries, whether it was is seen when it is restored
        return (module_of(kind), name_of(kind)) in _KEPT_WHOLE_OF_LIBRARIES or classes.is_of_library(kind)


_OF_PYTHON = {("sys.", "stdout"), ("sys.", "stderr"), ("logging.", "root")}
"""What is looked at of Python's own."""
_BY_NAME = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
"""What a checkpoint knows by a name."""
_KEPT_WHOLE = (bytearray, dict, list, set)
_PLAIN_BASES = (object, dict, list, set, tuple, str, int, float)
_KEPT_WHOLE_OF_LIBRARIES = {
    ("array", "array"),
    ("numpy", "ndarray"),
    ("torch", "Tensor"),
    ("torch.nn.parameter", "Parameter"),
    *(("collections", name) for name in ("Counter", "OrderedDict", "defaultdict", "deque")),
}


def _is_place(scope: Scope | None, obj: Any, key: Any, bound: set[str], slots: set[tuple[int, str]]) -> bool:
    """Whether the plan has a part as a place of its own."""
    if scope is None:
        return (id(obj), key) in slots
    module = sys.modules.get(scope.label[:-1])
    return scope.place(key) in bound or not scope.is_file and (id(module), f".{key}") in slots


def _attributes(keys: list[Any]) -> list[str]:
    """The name and the attributes that a way begins with; what only functions lead to is among them (`of_functions`)."""
    found: list[str] = []
    for key in keys:
        step = key.removeprefix(".") if type(key) is str else ""
        if not (step.isidentifier() or of_functions.is_step(step)) or key.startswith(".") is not bool(found):
            break
        found.append(step)
    return found


def _called(scope: Scope) -> tuple[bool, str]:
    return scope.own, scope.label


def _is_own_cell(obj: Any, key: Any, parts: readers.Parts | None, frame: FrameType, bound: set[str]) -> bool:
    """Whether a function reads there a name of the block's own function, which the plan puts back: the two share a cell."""
    name = of_functions.variable(key[1:]) if type(obj) is types.FunctionType and type(key) is str else ""
    if name not in bound or name not in obj.__code__.co_freevars or parts is None:
        return False
    is_cell = name in (*frame.f_code.co_cellvars, *frame.f_code.co_freevars)
    return is_cell and _native.names_of(frame).get(name) is parts.get(key)


def slots_of(loop: _native.Loop, frame: FrameType) -> set[tuple[int, str]]:
    """(address of the object, attribute) of the places that are attributes."""
    found = set()
    for place in loop.places:
        whole, _, attribute = place.name.rpartition(".")
        if whole:
            holder = places.read(frame, whole, place.in_globals)
            found.add((id(holder), f".{attribute}"))
    return found


def _content(parts: readers.Parts) -> list[tuple[Any, Any]]:
    return [
        (key, part if id(type(part)) in readers.ATOM_IDS and not (type(part) is float and part != part) else id(part))
        for key, part in parts.items()
    ]


def _changed(before: list[tuple[Any, Any]], now: list[tuple[Any, Any]]) -> Iterator[Any]:
    old, new = dict(before), dict(now)
    different = False
    for key in chain(new, (key for key in old if key not in new)):
        missing = object()
        a, b = old.get(key, missing), new.get(key, missing)
        if type(a) is not type(b) or a != b or type(a) is float and repr(a) != repr(b):  # 0.0 and -0.0 are two numbers
            different = True
            yield key
    if not different:
        yield "(their order)"


def _now(parts: readers.Parts | None, key: Any) -> str:
    """What is there now, where that is short. What florc makes of an object itself (`(data)`) is none of the script's."""
    if issubclass(type(key), str) and key.startswith("("):
        return ""
    value = (parts or {}).get(key)
    text = repr(value) if same_class(type(value), (bool, int, float, str)) else ""
    return f" (now {text})" if 0 < len(text) <= LIMITS.value_characters else ""


def _shown(key: Any) -> str:
    return key if issubclass(type(key), str) else f"[{key[1]!r}]" if issubclass(type(key), tuple) else f".{key}"
