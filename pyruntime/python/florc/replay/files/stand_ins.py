"""How other functions take the place of Python's own, wherever they are held when a replay begins."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from functools import partial
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from ... import _native
from ...support import static

_Made = dict[int, tuple[Any, Any]]
"""The number of a function (`id`) -> the function and what stands in its place."""


def replace_everywhere(made: _Made) -> None:
    """Replace these functions in every module that has one under its own name, in the classes of `pathlib` and `glob` that hold
    some, in the sets that list them, and in what else holds them (`_replace_held`)."""
    left: set[int] = set()
    """The namespaces of modules that keep their functions."""
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None) or {}
        if name in ("posix", "_io", "_imp") or name.startswith(("importlib._bootstrap", "florc")):
            left.add(id(names))
            continue
        holders: list[Any] = [module]
        if name.partition(".")[0] in ("pathlib", "glob"):
            holders += [held for held in names.values() if isinstance(held, type)]
        for holder in holders:
            for key, value in list(vars(holder).items()) if names else ():
                known = made.get(id(value.__func__ if isinstance(value, staticmethod) else value))
                if known is not None:
                    setattr(holder, key, known[1])
    for listed in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        listed |= {there for original, there in made.values() if not isinstance(original, type) and original in listed}
    _replace_held(made, left)


def _replace_held(made: _Made, left: set[int]) -> None:
    """Replace them in the containers, attributes, defaults, closures and partial calls that exist. A library that was imported
    before florc began (by `sitecustomize` or a `.pth` file) may have kept one, as numpy keeps `open` in a table of openers. What
    cannot be changed, a tuple, is itself replaced where it is held.

    What `gc.freeze` took out of sight is not seen, nor what only a library in C holds. Only tuples that existed before this began
    are replaced, so it ends: `get_referrers` may answer with the tuple of its own arguments (Python 3.13 does), for ever a new
    one.
    """
    existing = _native.instances_of(gc.get_objects(), {id(tuple), id(staticmethod)})
    known = set(map(id, existing))
    left |= {id(existing), id(made), *(id(pair) for pair in made.values())}
    now = made
    while now:
        originals = [original for original, _ in now.values()]
        later: _Made = {}
        cells: list[CellType] = []
        left |= {id(now), id(originals), id(later), id(cells)}
        for holder in gc.get_referrers(*originals):
            kind = type(holder)
            if id(holder) in left or kind is FrameType or isinstance(holder, type) or _is_florcs(kind):
                continue
            if kind in (tuple, staticmethod):
                if id(holder) not in known:
                    continue
                known.discard(id(holder))
                changed = (
                    staticmethod(_of(now, holder.__func__)) if kind is staticmethod else tuple(_of(now, one) for one in holder)
                )
                later[id(holder)] = (holder, changed)
            elif kind is CellType:
                cells.append(holder)
            else:
                _change(holder, kind, now)
        _change_cells(cells, now)
        now = later


def _of(made: _Made, value: Any) -> Any:
    """What stands in the place of a value; itself where nothing does."""
    known = made.get(id(value))
    return known[1] if known is not None and known[0] is value else value


def _change(holder: Any, kind: type, made: _Made) -> None:
    """Replace them in one object, without running code of its class."""
    if isinstance(holder, dict):
        owners = [one for one in gc.get_referrers(holder) if isinstance(one, type) or static.attributes_of(one) is holder]
        if any(_is_florcs(one if isinstance(one, type) else type(one)) for one in owners):
            return
        classes = [one for one in owners if isinstance(one, type)]
        for key, value in list(dict.items(holder)):
            there = _of(made, value)
            if there is not value and classes:
                type.__setattr__(classes[0], key, there)  # the interpreter remembers where it found what
            elif there is not value:
                dict.__setitem__(holder, key, there)
    elif isinstance(holder, list):
        for at, value in enumerate(list.copy(holder)):
            if _of(made, value) is not value:
                list.__setitem__(holder, at, _of(made, value))
    elif kind is FunctionType:
        if holder.__defaults__ is not None and not _is_florcs(holder):
            holder.__defaults__ = _of(made, holder.__defaults__)
    elif kind is partial:
        holder.__setstate__((_of(made, holder.func), _of(made, holder.args), holder.keywords, static.attributes_of(holder)))
    elif kind is not ModuleType:
        names = static.attributes_of(holder)
        for name, value in list(names.items()):
            if _of(made, value) is not value:
                names[name] = _of(made, value)
        for _, slot in static.all_slots(kind):
            with suppress(AttributeError):  # it has no value
                slot.__set__(holder, _of(made, slot.__get__(holder)))


def _change_cells(cells: list[CellType], made: _Made) -> None:
    """Replace them in variables of closures, but for those of florc's functions. All at once: to ask who refers to an object
    looks at every other."""
    closures = [one for one in gc.get_referrers(*cells) if type(one) is tuple]
    functions = [one for one in gc.get_referrers(*closures) if type(one) is FunctionType]
    users: dict[int, list[FunctionType]] = {}
    for function in functions:
        for cell in function.__closure__ or ():
            users.setdefault(id(cell), []).append(function)
    for cell in cells:
        using = users.get(id(cell))
        if using and not any(map(_is_florcs, using)):
            cell.cell_contents = _of(made, cell.cell_contents)


def _is_florcs(owner: Any) -> bool:
    """Whether a class or a function is florc's own, which calls what it has put aside."""
    module = static.module_of(owner) if isinstance(owner, type) else owner.__module__
    return str(module).partition(".")[0] == "florc"
