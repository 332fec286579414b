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

import types
from itertools import chain
from types import FrameType

from ..plan import places
from ..support.light import dumps
from ..support.static import same_class
from . import readers
from .limits import LIMITS
from .memory import Span, lies_in, memory_of
from .scopes import Reader, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Container, Iterator
    from typing import Any

    from .. import _native

    Way = tuple[int, Any]
    """The number of the object that holds another, and under which key."""
else:
    from _collections import deque


class Seen:
    """One object as it was. `content` tells two states apart; `parts` are looked at in turn."""

    def __init__(self, obj: Any, way: Way, content: Any):
        self.identity = id(obj)
        self.ways = [way]
        self.content = content


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
        while todo and len(self._seen) < LIMITS.objects:
            obj, way = todo.popleft()
            known = met.get(id(obj))
            if known is not None:
                ways = self._seen[known].ways
                if len(ways) < LIMITS.ways:
                    ways.append(way)
                continue
            parts = self._reader.parts(obj)
            if parts is None:
                continue
            index = met[id(obj)] = len(self._seen)
            self._seen.append(Seen(obj, way, _content(parts)))
            todo.extend((part, (index, key)) for key, part in parts.items() if id(type(part)) not in readers.ATOM_IDS)

    def change(self, frame: FrameType, loop: _native.Loop | None, held: set[int], slots: set[tuple[int, str]]) -> str | None:
        """The first change that the plan does not foresee, in words.

        `held`: the objects (by address) whose content is in the checkpoint. `slots`: attributes that are places.
        """
        bound = {place.name for place in (loop.places if loop is not None else ()) if place.bound}
        scopes = self._reader.scopes(frame, self._rebound)
        found = self._find_again(scopes)
        restored: list[Span] | None = None
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
                restored = memory_of(obj for index, obj in found.items() if self._seen[index].identity in held)
            if lies_in(obj, restored):
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
        parts: dict[int, readers.Parts | None] = {}
        for _ in range(LIMITS.passes):  # a way may lead through an object that was met later
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


def _is_own_cell(obj: Any, key: Any, parts: readers.Parts | None, frame: FrameType, bound: set[str]) -> bool:
    """Whether a function reads there a name of the block's own function, which the plan puts back: the two share a cell."""
    name = key[1:] if type(obj) is types.FunctionType and type(key) is str else ""
    if name not in bound or name not in obj.__code__.co_freevars or parts is None:
        return False
    value = frame.f_locals.get(name)
    places.release(frame)
    return name in (*frame.f_code.co_cellvars, *frame.f_code.co_freevars) and value is parts.get(key)


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
        if type(a) is not type(b) or a != b:
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


def _is_spelled(key: Any) -> bool:
    """Whether a key reads back from JSON as it is."""
    return issubclass(type(key), str) or type(key[1]) in (str, int, bool, type(None))


def _shown(key: Any) -> str:
    return key if issubclass(type(key), str) else f"[{key[1]!r}]" if issubclass(type(key), tuple) else f".{key}"
