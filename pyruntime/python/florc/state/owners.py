"""Which modules own the parameters of an optimizer: what a training step changes without naming it."""

from __future__ import annotations

import gc
import sys
import weakref
from itertools import compress
from typing import Any

from ..support.static import attributes_of
from ..support.weak_table import WeakTable
from .kinds import dotted
from .objects import instance_dict

_CACHE = WeakTable()


def owners_of(optimizer: Any) -> list[Any]:
    """Outermost modules, in a fixed order, that own at least one of the optimizer's parameters.

    Finding them looks at every object the collector knows (tens of milliseconds), so the answer is remembered until the
    parameters change or a module dies.
    """
    parameters = [p for group in attributes_of(optimizer).get("param_groups", ()) for p in group["params"]]
    key = tuple(map(id, parameters))
    known = _CACHE.get(optimizer)
    if known is not None and known[0] == key:
        modules = [ref() for ref in known[1]]
        if all(module is not None for module in modules):
            return modules
    modules = _search(key)
    _CACHE[optimizer] = (key, [weakref.ref(module) for module in modules])
    return modules


def _search(parameter_ids: tuple[Any, ...]) -> list[Any]:
    owning: dict[int, list[Any]] = {}
    parents: dict[int, list[Any]] = {}
    for module, attributes in _all_modules():
        for parameter in (attributes.get("_parameters") or {}).values():
            if parameter is not None:
                owning.setdefault(id(parameter), []).append(module)
        for child in (attributes.get("_modules") or {}).values():
            parents.setdefault(id(child), []).append(module)
    found: dict[int, object] = {}
    for parameter_id in parameter_ids:
        roots = [root for module in owning.get(parameter_id, ()) for root in _roots(module, parents)]
        for root in sorted(roots, key=lambda r: (dotted(type(r)), _size(r))):
            found.setdefault(id(root), root)
    return list(found.values())


def _size(module: Any) -> int:
    """How many modules it consists of."""
    seen, work = {id(module)}, [module]
    while work:
        for child in (attributes_of(work.pop()).get("_modules") or {}).values():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                work.append(child)
    return len(seen)


def _subclasses(base: type) -> set[int]:
    """The addresses of a class and of all that derive from it: a set of the classes would ask their metaclasses for hashes."""
    found, work = {id(base)}, [base]
    cls: type
    while work:
        for cls in type.__subclasses__(work.pop()):
            if id(cls) not in found:
                found.add(id(cls))
                work.append(cls)
    return found


def _all_modules() -> list[tuple[Any, ...]]:
    """(module, its attributes) for every module alive, in one pass at the speed of builtins."""
    base = sys.modules["torch"].nn.Module
    alive = gc.get_objects()
    wanted = _subclasses(base)
    found = []
    for obj in compress(alive, map(wanted.__contains__, map(id, map(type, alive)))):
        attributes = instance_dict(obj)
        if attributes and issubclass(type(attributes.get("_parameters")), dict):
            found.append((obj, attributes))
    return found


def _roots(module: Any, parents: dict[int, list[Any]]) -> list[Any]:
    roots, seen, work = [], {id(module)}, [module]
    while work:
        current = work.pop()
        above = parents.get(id(current))
        if not above:
            roots.append(current)
        for parent in above or ():
            if id(parent) not in seen:
                seen.add(id(parent))
                work.append(parent)
    return roots
