"""The places of a block: from the arguments of `end` and `restore` to a dict of name and object."""

from __future__ import annotations

import _io
import itertools
import sys
import types
from types import FrameType

from .. import _native
from ..adapters import tqdm
from ..support import static
from ..support.light import NamedTuple
from ..support.static import defines
from . import of_functions
from .loops import BAR, BOUNDARY, is_call, is_in_use, loops, of_libraries, register, registered, unbound, want

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

__all__ = ["BAR", "BOUNDARY", "is_call", "is_in_use", "loops", "of_libraries", "register", "unbound", "want"]


_OPTIMIZED = 1
"""`inspect.CO_OPTIMIZED`: code of a function."""


OF_FUNCTION = "(own)"
"""Stands for the module in the name of a place to which a name of the block's own function leads."""


class Consumed(Exception):
    """A block advances an iterator that was made outside it: no checkpoint can put that back."""


def gather(loop: _native.Loop, objects: Sequence[Any], frame: FrameType) -> dict[str, Any]:
    """What each place of the loop holds now; unbound places are missing.

    An object that the loop only iterates over is left out if it has neither a position nor a generator: a list, a
    tensor, a range. Raises Consumed for an iterator that was made outside the loop.
    """
    from .. import state

    given = iter(objects)
    found: dict[str, Any] = {}
    own = _native.names_of(frame) if any(place.by_name for place in loop.places) else {}
    for place in loop.places:
        value = read(frame, place.name, place.in_globals, own, is_state=True) if place.by_name else next(given)
        if value is unbound:
            continue
        if value is sys.modules:
            raise state.Unsupported(place.name, "the table of modules cannot be put back")
        if place.iterated:
            if tqdm.is_bar(value) and place.name not in loop.counting:
                found[place.name + BAR] = value
            value = tqdm.unwrapped(value)
            if _is_output(value):
                continue
            if defines(type(value), "__next__"):
                raise Consumed(place.name)
            if _is_plain_data(place.name, value):
                continue
        found[place.name] = value
    return found


def is_global(frame: FrameType, name: str) -> bool:
    """Whether a name of a block is one of its file's globals."""
    code = frame.f_code
    is_own = not is_module_level(frame) and name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    return not is_own and name in frame.f_globals


class Before(NamedTuple):
    """Which objects were where when a block began, by address."""

    places: dict[str, int]
    names: dict[str, int]
    data: Any
    """Which data datasets hold (`state.held_by`)."""


def before(loop: _native.Loop, frame: FrameType, unforeseen: list[str]) -> Before:
    """What a block finds. `unforeseen`: further places that its checkpoints hold."""
    own = _native.names_of(frame)
    held = {place.name: read(frame, place.name, place.in_globals, own) for place in loop.places}
    held.update(named(frame, unforeseen))
    kept = _data({name: tqdm.unwrapped(value) for name, value in held.items() if value is not unbound})
    iterated = {place.name for place in loop.places if place.iterated}
    return Before(
        {name: id(value) for name, value in held.items() if value is not unbound and name not in iterated},
        {name: id(value) for name, value in outside(loop, frame).items()},
        kept,
    )


def _data(values: dict[str, Any]) -> Any:
    """Which data the datasets among the values hold: there are none without torch, and looking takes much to be imported."""
    if not hasattr(sys.modules.get("torch"), "utils"):
        return None
    from ..state import held_by

    return held_by(values)


def origins(loop: _native.Loop, before: Before, after: dict[str, Any]) -> dict[str, str | None]:
    """The places that hold another object than before: the place that held it then; None for an object that is new."""
    by_address = {address: name for name, address in before.places.items()}
    iterated = {place.name for place in loop.places if place.iterated}
    return {
        name: by_address.get(id(value))
        for name, value in after.items()
        if name not in iterated and not name.endswith(BAR) and before.places.get(name) != id(value)
    }


def outside(loop: _native.Loop, frame: FrameType, held: Iterable[_native.Place] | None = None) -> dict[str, Any]:
    """The objects of the names that the block's function sees and that are not places of the block.

    `held`: the places, if they are not those of the plan. Names are left out if some block binds them without restoring
    them: what they hold depends on which blocks were skipped.
    """
    found: dict[str, Any] = {}
    # what is only iterated over may be in no checkpoint, and what a place holds may still refer to it
    held = loop.places if held is None else held
    taken = {place.name for place in held if "." not in place.name and not place.iterated}
    scopes = [(frame.f_globals, "")]
    if not is_module_level(frame):
        scopes.append((_native.names_of(frame), loop.function))
    for names, function in scopes:
        lost = _lost_names(loop.file, function)
        found.update(
            (name, value)
            for name, value in list(names.items())
            if name not in taken and name not in lost and not name.startswith(("__", "_florc")) and _is_shared(value)
        )
    return found


_lost: dict[tuple[str, str], tuple[int, set[str]]] = {}


def _lost_names(file: str, function: str) -> set[str]:
    count, lost = _lost.get((file, function), (0, set()))
    if count != registered[0]:
        lost = set()
        for loop in loops.values():
            if is_in_use(loop) and loop.file == file and loop.function == function:
                lost.update(set(loop.binds).difference(place.name for place in loop.places))
        _lost[file, function] = registered[0], lost
    return lost


def _is_shared(value: Any) -> bool:
    """Whether it matters which names hold the very same object."""
    return not issubclass(type(value), (*_VALUES, type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType))


_VALUES = (int, float, complex, str, bytes, tuple, frozenset, range, type(None), type(Ellipsis))


def is_module_level(frame: FrameType) -> bool:
    """Whether a frame's names are the globals that it sees. (To ask any frame for `f_locals` brings that up to date.)"""
    return not frame.f_code.co_flags & _OPTIMIZED and frame.f_locals is frame.f_globals


def read(frame: FrameType, name: str, in_globals: bool, own: dict[str, Any] | None = None, is_state: bool = False) -> Any:
    """What a place holds, found by its name; `unbound` where only code of the user's could tell. Where it `is_state`, that is
    refused instead (state.Unsupported). `own`: the names of the frame, where more than one place is read."""
    module, _, path = name.rpartition(":")
    root, *attributes = path.split(".")
    names = globals_of(frame, module) if in_globals else _native.names_of(frame) if own is None else own
    value = names.get(root, unbound)
    if value is unbound and not in_globals:
        value = frame.f_globals.get(root, unbound)
    for attribute in attributes:
        if value is unbound:
            break
        try:
            is_step = of_functions.is_step(attribute)
            value = of_functions.read(value, attribute) if is_step else static.read_attribute(value, attribute)
        except AttributeError:
            return unbound
        except static.RunsCode:
            if is_state:
                from ..state import Unsupported

                raise Unsupported(name, "to read it would run code of the script (a property, __getattr__)") from None
            return unbound
    return value


def named(frame: FrameType, names: list[str]) -> dict[str, Any]:
    """What places hold that are known by their names only; those that are unbound are missing."""
    own = _native.names_of(frame) if names else {}
    held = {name: read(frame, name, ":" in name, own) for name in names}
    return {name: value for name, value in held.items() if value is not unbound}


def globals_of(frame: FrameType, module: str) -> dict[str, Any]:
    """The globals of a module of the project; with an empty name, those that the frame sees; the names of its function, where it
    is `OF_FUNCTION`."""
    if not module:
        return frame.f_globals
    if module == OF_FUNCTION:
        return _native.names_of(frame)
    found = sys.modules.get(module)
    return {} if found is None else found.__dict__


def _is_output(value: Any) -> bool:
    """`tqdm(loader, file=sys.stderr)` iterates over the loader, and writes to the file."""
    is_closed = not issubclass(type(value), _io._IOBase) or value.closed
    return value is sys.stdout or value is sys.stderr or not is_closed and value.writable() and not value.readable()


_CONTAINERS: tuple[type, ...] = (list, tuple, dict, set, frozenset, type({}.keys()), type({}.values()), type({}.items()))
_LOOKED_AT = 1000
"""Items of a container that are looked at: containers of loaders are small, and those of samples of one kind."""
_DEEPEST = 3
"""Containers inside containers that are looked into."""


def _is_plain_data(name: str, value: Any, depth: int = 0) -> bool:
    """Whether iterating over it, or over what it holds, moves nothing. Raises Consumed where it holds an iterator."""
    if issubclass(type(value), (range, str, bytes)):
        return True
    if issubclass(type(value), _CONTAINERS):
        items = value.values() if issubclass(type(value), dict) else value
        return all(_is_data_in(name, item, depth + 1) for item in itertools.islice(items, _LOOKED_AT))
    for module, kind in (("torch", "Tensor"), ("numpy", "ndarray")):
        cls = getattr(sys.modules.get(module), kind, None)
        if cls is not None and issubclass(type(value), cls):
            return True
    return False


def _is_data_in(name: str, item: Any, depth: int) -> bool:
    """The same of an item of a container: `for x in loaders["train"]`, `next(streams[0])`."""
    if issubclass(type(item), _VALUES) and not issubclass(type(item), (tuple, frozenset)) or depth > _DEEPEST:
        return True
    if defines(type(item), "__next__"):
        raise Consumed(name)
    return not defines(type(item), "__iter__") or _is_plain_data(name, item, depth)
