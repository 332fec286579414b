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

from ..plan import places
from ..support.light import NamedTuple, dumps
from ..support.static import attributes_of, module_of, same_class
from ..support.weak_table import WeakTable
from . import readers as contents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Container, Iterable, Iterator
    from typing import Any

    from .. import _native

    Way = tuple[int, Any]
    """The number of the object that holds another, and under which key."""
else:
    from _collections import deque

MAX_OBJECTS = 4000
"""A program that holds more is looked at in part."""
MAX_WAYS = 4

_OWN = "_florc"


_SHORT = 24
"""Characters of a value that is told."""


class Scope(NamedTuple):
    """The names of a function that is running, or of a file. `own`: the block's own names, but for those that its statements
    bind: these are left to its plan. Others change by what it calls, by handlers of signals, or behind the back of its names."""

    names: dict[str, Any]
    own: bool
    label: str

    def place(self, name: str) -> str:
        """A name of it as changesets spell it."""
        return f"{self.label[:-1]}:{name}" if self.label else name


class Seen:
    """One object as it was. `content` tells two states apart; `parts` are looked at in turn."""

    def __init__(self, obj: Any, way: Way, content: Any):
        self.identity = id(obj)
        self.ways = [way]
        self.content = content


class Reader:
    """What objects hold. `is_project(file)` says whether a file is the user's."""

    leaves_own_names = False
    """Whether it is not looked at what the function's own names are bound to, only at the objects."""

    def __init__(self, is_project: Callable[[str], bool]):
        self._classes = WeakTable()
        self._is_project = is_project

    def scopes(self, frame: FrameType, rebound: frozenset[str]) -> list[Scope]:
        """The block's own names but for those in `rebound`, those of the project functions that called it, the globals of
        the project's files."""
        found: list[Scope] = []
        at: FrameType | None = frame
        module_level = frame.f_globals is frame.f_locals
        while at is not None and at.f_locals is not at.f_globals:
            if self._is_project(at.f_code.co_filename):
                own = at is frame
                found.append(Scope(_without(at.f_locals, rebound if own else ()), own, ""))
            places.release(at)
            at = at.f_back
        for name, module in list(sys.modules.items()):
            file = module.__dict__.get("__file__") if type(module) is types.ModuleType else None
            if type(file) is str and self._is_project(file):
                names = module.__dict__
                label = "" if names is frame.f_globals else f"{name}."
                own = module_level and names is frame.f_globals
                found.append(Scope(_without(names, rebound) if own else names, own, label))
        root = attributes_of(sys.modules.get("logging")).get("root")
        # an object of the script's may stand in the place of standard output
        streams = Scope({name: sys.__dict__.get(name) for name in ("stdout", "stderr")}, False, "sys.")
        return [*found, streams, *([] if root is None else [Scope({"root": root}, False, "logging.")])]

    def parts(self, obj: Any) -> contents.Parts | None:
        """What an object holds, by key; None for objects that are not looked into."""
        kind = type(obj)
        reader: Callable[[Any], contents.Parts | None] | None = contents.READERS.get(kind)
        if reader is not None:
            return reader(obj)
        if contents.is_iterator(kind):
            return contents.of_iterator(obj)
        if kind is Scope:
            return {
                k: v for k, v in list(obj.names.items()) if not k.startswith(("__", _OWN)) and type(v) is not types.ModuleType
            }
        if kind is types.FunctionType:
            return contents.of_function(obj) if self._is_project(obj.__code__.co_filename) else None
        if issubclass(kind, type):
            return contents.of_class(obj) if self._is_ours(obj) else None
        torch: Any = sys.modules.get("torch")
        if hasattr(torch, "nn") and hasattr(torch, "optim"):
            for base, reader in (
                (torch.Tensor, contents.of_tensor),
                (torch.nn.Module, contents.of_module),
                (torch.optim.Optimizer, contents.of_optimizer),
                (torch.Generator, contents.of_torch_generator),
            ):
                if issubclass(kind, base):
                    return reader(obj)
        if kind is getattr(sys.modules.get("argparse"), "Namespace", None):
            return contents.of_instance(obj)
        if kind is getattr(sys.modules.get("random"), "Random", None):
            return {"(state)": hash(obj.getstate())}
        array = getattr(sys.modules.get("numpy"), "ndarray", ())
        if issubclass(kind, array) or module_of(kind).startswith("numpy"):
            return contents.of_numpy(obj)
        if module_of(kind) in ("logging", "logging.handlers", "queue"):
            return contents.of_logging(obj)
        if self._is_ours(kind):
            parts = contents.of_instance(obj)
            for base in (dict, list, deque, set):
                if issubclass(kind, base):
                    parts.update(contents.READERS[base](obj))
            return parts
        for base in (dict, list, tuple, deque):  # Counter, defaultdict, named tuples
            if issubclass(kind, base) and module_of(kind) in ("collections", "typing"):
                found: contents.Parts = contents.READERS[base](obj)
                return found
        return None

    def _is_ours(self, cls: type) -> bool:
        """Whether a class is the project's."""
        known: bool | None = self._classes.get(cls)
        if known is None:
            file: Any = attributes_of(sys.modules.get(module_of(cls))).get("__file__")
            known = self._classes[cls] = issubclass(type(file), str) and self._is_project(file)
        return known

    def follow(self, names: dict[str, Any], path: str) -> Any:
        """The object at the end of a path that `Survey.paths` gave; None when the path is broken."""
        import json

        name, *keys = json.loads(path)
        obj = names.get(name)
        for key in keys:
            obj = (self.parts(obj) or {}).get(tuple(key) if issubclass(type(key), list) else key) if obj is not None else None
        return obj


class Survey:
    """What a program holds when a block begins."""

    def __init__(self, frame: FrameType, loop: _native.Loop | None, reader: Reader):
        self._reader = reader
        # What these names hold now is not what they will hold: the block binds them anew. An old value that is gone by
        # then may have left its address to a new one.
        self._rebound = frozenset(loop.binds if loop is not None else ())
        self._seen: list[Seen] = []
        self._look(reader.scopes(frame, self._rebound))

    def _look(self, scopes: list[Scope]) -> None:
        met: dict[int, int] = {}
        todo = deque((obj, (-1, n)) for n, obj in enumerate(scopes))
        while todo and len(self._seen) < MAX_OBJECTS:
            obj, way = todo.popleft()
            known = met.get(id(obj))
            if known is not None:
                ways = self._seen[known].ways
                if len(ways) < MAX_WAYS:
                    ways.append(way)
                continue
            parts = self._reader.parts(obj)
            if parts is None:
                continue
            index = met[id(obj)] = len(self._seen)
            self._seen.append(Seen(obj, way, _content(parts)))
            todo.extend((part, (index, key)) for key, part in parts.items() if id(type(part)) not in contents.ATOM_IDS)

    def change(self, frame: FrameType, loop: _native.Loop | None, held: set[int], slots: set[tuple[int, str]]) -> str | None:
        """The first change that the plan does not foresee, in words.

        `held`: the objects (by address) whose content is in the checkpoint. `slots`: attributes that are places.
        """
        bound = {place.name for place in (loop.places if loop is not None else ()) if place.bound}
        scopes = self._reader.scopes(frame, self._rebound)
        found = self._find_again(scopes)
        restored: list[_Span] | None = None
        for index, seen in enumerate(self._seen):
            obj = found.get(index)
            if obj is None or seen.identity in held:
                continue
            if self._reader.leaves_own_names and issubclass(type(obj), Scope) and obj.own:
                continue
            parts = self._reader.parts(obj)
            now = None if parts is None else _content(parts)
            if now == seen.content or now is None:
                continue
            if restored is None:
                restored = _memory_of(obj for index, obj in found.items() if self._seen[index].identity in held)
            if _lies_in(obj, restored):
                continue
            for key in _changed(seen.content, now):
                if issubclass(type(obj), Scope) and obj.own and key == "(their order)":
                    continue
                if _is_own_cell(obj, key, parts, frame, bound):
                    continue
                is_place = obj.place(key) in bound if issubclass(type(obj), Scope) else (seen.identity, key) in slots
                if not is_place:
                    return self._name(index, key, scopes) + _now(parts, key)
        return None

    def _find_again(self, scopes: list[Scope]) -> dict[int, Any]:
        found: dict[int, Any] = {}
        parts: dict[int, contents.Parts | None] = {}
        for _ in range(2):  # a way may lead through an object that was met later
            for index, seen in enumerate(self._seen):
                if index in found:
                    continue
                for holder, key in seen.ways:
                    if holder < 0:
                        if key < len(scopes):
                            found[index] = scopes[key]
                        break
                    if holder not in found:
                        continue
                    if holder not in parts:
                        parts[holder] = self._reader.parts(found[holder])
                    obj = (parts[holder] or {}).get(key)
                    if id(obj) == seen.identity:
                        found[index] = obj
                        break
        return found

    def paths(self, frame: FrameType, names: Container[str]) -> dict[str, Any]:
        """The objects that are still where they were, below these names of the block's function or its file, by path."""
        scopes = self._reader.scopes(frame, self._rebound)
        found = {}
        for index, obj in self._find_again(scopes).items():
            keys = []
            while index >= 0:
                index, key = self._seen[index].ways[0]
                keys.append(key)
            scope, *path = reversed(keys)
            own = not scopes[scope].label and (scopes[scope].own or scopes[scope].names is frame.f_globals)
            if own and len(path) > 1 and path[0] in names and all(map(_is_spelled, path)):
                found[dumps(path)] = obj
        return found

    def _name(self, index: int, key: Any, scopes: list[Scope]) -> str:
        """Where the change is, in the user's words."""
        words = [_shown(key)]
        while index >= 0:
            index, key = self._seen[index].ways[0]
            words.append(_shown(key) if index >= 0 else scopes[key].label)
        return "".join(reversed(words)).lstrip(".")


def _is_own_cell(obj: Any, key: Any, parts: contents.Parts | None, frame: FrameType, bound: set[str]) -> bool:
    """Whether a function reads there a name of the block's own function, which the plan puts back: the two share a cell."""
    name = key[1:] if type(obj) is types.FunctionType and type(key) is str else ""
    if name not in bound or name not in obj.__code__.co_freevars or parts is None:
        return False
    value = frame.f_locals.get(name)
    places.release(frame)
    return name in (*frame.f_code.co_cellvars, *frame.f_code.co_freevars) and value is parts.get(key)


def _without(names: dict[str, Any], left_out: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in names.items() if name not in left_out}


class _Span(NamedTuple):
    """The bytes from the first to the last element of a tensor or an array."""

    device: str
    start: int
    stop: int
    is_dense: bool
    """Whether writing its elements writes all of them."""


def _memory_of(objects: Iterable[Any]) -> list[_Span]:
    """The memory that restoring these objects writes, where it is."""
    spans = (_span(obj) for obj in objects if _is_restored_in_place(obj))
    return [span for span in spans if span is not None and span.is_dense]


def _lies_in(obj: Any, restored: list[_Span]) -> bool:
    """Whether an object is another view of memory that is restored: a tensor, or an array over one."""
    span = _span(obj) if restored else None
    return span is not None and any(
        span.device == other.device and other.start <= span.start and span.stop <= other.stop for other in restored
    )


def _is_restored_in_place(obj: Any) -> bool:
    """Others get new memory, which no view shares (see `match` in `state.tensors` and `state.arrays`)."""
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if hasattr(numpy, "ndarray") and type(obj) is numpy.ndarray:
        return bool(obj.flags.writeable)
    known = hasattr(torch, "nn") and type(obj) in (torch.Tensor, torch.nn.Parameter)
    return known and obj.is_leaf and not obj.is_inference()


def _span(obj: Any) -> _Span | None:
    """The memory of a tensor or an array; None for other objects, and for those without elements."""
    from ..state.arrays import bounds
    from ..state.tensors import extent

    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if hasattr(numpy, "ndarray") and issubclass(type(obj), numpy.ndarray):
        data = numpy.ndarray.view(obj, numpy.ndarray)
        start = data.__array_interface__["data"][0] if data.nbytes else 0
        low, high = bounds(data.shape, data.strides, data.itemsize)
        return _Span("cpu", start + low, start + high, data.flags.forc) if data.nbytes else None
    if hasattr(torch, "Tensor") and issubclass(type(obj), torch.Tensor):
        base = torch.Tensor
        try:
            with torch._C.DisableTorchFunctionSubclass():  # a class of the user's may see each of these calls
                start, count = base.data_ptr(obj), extent(base.size(obj), base.stride(obj))
                # what is dense is restored with all that lies between its elements
                stop, is_dense = start + count * base.element_size(obj), count <= base.numel(obj)
                return _Span(str(base.device.__get__(obj)), start, stop, is_dense) if start else None
        except Exception:  # some tensors have no storage
            return None
    return None


def slots_of(loop: _native.Loop, frame: FrameType) -> set[tuple[int, str]]:
    """(address of the object, attribute) of the places that are attributes."""
    found = set()
    for place in loop.places:
        whole, _, attribute = place.name.rpartition(".")
        if whole:
            holder = places.read(frame, whole, place.in_globals)
            found.add((id(holder), f".{attribute}"))
    places.release(frame)
    return found


def _content(parts: contents.Parts) -> list[tuple[Any, Any]]:
    return [
        (key, part if id(type(part)) in contents.ATOM_IDS and not (type(part) is float and part != part) else id(part))
        for key, part in parts.items()
    ]


def _changed(before: list[tuple[Any, Any]], now: list[tuple[Any, Any]]) -> Iterator[Any]:
    old, new = dict(before), dict(now)
    different = False
    for key in chain(new, (key for key in old if key not in new)):
        missing = object()
        a, b = old.get(key, missing), new.get(key, missing)
        if type(a) is not type(b) or a != b:
            different = True
            yield key
    if not different:
        yield "(their order)"


def _now(parts: contents.Parts | None, key: Any) -> str:
    """What is there now, where that is short. What florc makes of an object itself (`(data)`) is none of the script's."""
    if issubclass(type(key), str) and key.startswith("("):
        return ""
    value = (parts or {}).get(key)
    text = repr(value) if same_class(type(value), (bool, int, float, str)) else ""
    return f" (now {text})" if 0 < len(text) <= _SHORT else ""


def _is_spelled(key: Any) -> bool:
    """Whether a key reads back from JSON as it is."""
    return issubclass(type(key), str) or type(key[1]) in (str, int, bool, type(None))


def _shown(key: Any) -> str:
    return key if issubclass(type(key), str) else f"[{key[1]!r}]" if issubclass(type(key), tuple) else f".{key}"
