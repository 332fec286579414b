"""Which modules own the parameters of an optimizer: what a training step changes without naming it."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

from .. import _native
from ..support.static import attributes_of
from ..support.weak_table import WeakTable
from . import once
from .kinds import dotted
from .objects import instance_dict

_CACHE = WeakTable()


def owners_of(optimizer: Any, family: Family | None = None) -> list[Any]:
    """Outermost modules, in a fixed order, that own at least one of the optimizer's parameters.

    Finding them looks at every object the collector knows (tens of milliseconds), so the answer is remembered until the
    parameters change or a module dies. `family`: what is found of modules on the way, for the next optimizer.
    """
    parameters = [p for group in attributes_of(optimizer).get("param_groups", ()) for p in group["params"]]
    key = tuple(map(id, parameters))
    known = _CACHE.get(optimizer)
    if known is not None and known[0] == key:
        modules = [ref() for ref in known[1]]
        if all(module is not None for module in modules):
            return modules
    with once.timed():
        modules = (family or Family()).owners(key)
    _CACHE[optimizer] = (key, [weakref.ref(module) for module in modules])
    return modules


class Family:
    """The modules alive at an instant, and which of them hold which: searched when first asked for."""

    def __init__(self) -> None:
        self._owning: dict[int, list[Any]] | None = None
        self._parents: dict[int, list[Any]] = {}

    def owners(self, parameter_ids: tuple[int, ...]) -> list[Any]:
        """The outermost modules that own at least one of the parameters, in a fixed order."""
        owning = self._search() if self._owning is None else self._owning
        found: dict[int, object] = {}
        rank: dict[int, tuple[str, int]] = {}
        for parameter_id in parameter_ids:
            roots = [root for module in owning.get(parameter_id, ()) for root in _roots(module, self._parents)]
            for root in roots:
                if id(root) not in rank:
                    rank[id(root)] = (dotted(type(root)), _size(root))
            for root in sorted(roots, key=lambda root: rank[id(root)]):
                found.setdefault(id(root), root)
        return list(found.values())

    def _search(self) -> dict[int, list[Any]]:
        owning = self._owning = {}
        for module, attributes in _all_modules():
            for parameter in (attributes.get("_parameters") or {}).values():
                if parameter is not None:
                    owning.setdefault(id(parameter), []).append(module)
            for child in (attributes.get("_modules") or {}).values():
                self._parents.setdefault(id(child), []).append(module)
        return owning


def _size(module: Any) -> int:
    """How many modules it consists of."""
    seen, work = {id(module)}, [module]
    while work:
        for child in (attributes_of(work.pop()).get("_modules") or {}).values():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                work.append(child)
    return len(seen)


def subclasses(base: type) -> set[int]:
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
    """(module, its attributes) for every module alive, in one pass."""
    found = []
    for obj in _native.instances_of(gc.get_objects(), subclasses(sys.modules["torch"].nn.Module)):
        attributes = instance_dict(obj)
        if attributes and issubclass(type(attributes.get("_parameters")), dict) and not _is_compiled(attributes):
            found.append((obj, attributes))
    return found


def _is_compiled(attributes: dict[str, Any]) -> bool:
    """Whether `torch.compile` made a module of what it read (an optimizer's step): what it holds is another's."""
    meta = attributes.get("meta")
    return type(meta) is dict and ("backend_id" in meta or "dynamo_compile_id" in meta)


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
