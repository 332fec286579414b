"""Where a survey begins, and how it goes on: the names that the program has, and the parts of each object."""

from __future__ import annotations

import sys
import types
from types import FrameType

from ..plan import places
from ..support.light import NamedTuple
from ..support.static import attributes_of, module_of
from ..support.weak_table import WeakTable
from . import readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Container
    from typing import Any
else:
    from _collections import deque

_OWN = "_florc"


class Scope(NamedTuple):
    """The names of a function that is running, or of a file. `own`: the block's own names, but for those that its statements
    bind: these are left to its plan. Others change by what it calls, by handlers of signals, or behind the back of its names."""

    names: dict[str, Any]
    own: bool
    label: str

    def place(self, name: str) -> str:
        """A name of it as changesets spell it."""
        return f"{self.label[:-1]}:{name}" if self.label else name


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

    def parts(self, obj: Any) -> readers.Parts | None:
        """What an object holds, by key; None for objects that are not looked into."""
        kind = type(obj)
        reader: Callable[[Any], readers.Parts | None] | None = readers.READERS.get(kind)
        if reader is not None:
            return reader(obj)
        if readers.is_iterator(kind):
            return readers.of_iterator(obj)
        if kind is Scope:
            return {
                k: v for k, v in list(obj.names.items()) if not k.startswith(("__", _OWN)) and type(v) is not types.ModuleType
            }
        if kind is types.FunctionType:
            return readers.of_function(obj) if self._is_project(obj.__code__.co_filename) else None
        if issubclass(kind, type):
            return readers.of_class(obj) if self._is_ours(obj) else None
        torch: Any = sys.modules.get("torch")
        if hasattr(torch, "nn") and hasattr(torch, "optim"):
            for base, reader in (
                (torch.Tensor, readers.of_tensor),
                (torch.nn.Module, readers.of_module),
                (torch.optim.Optimizer, readers.of_optimizer),
                (torch.Generator, readers.of_torch_generator),
            ):
                if issubclass(kind, base):
                    return reader(obj)
        if kind is getattr(sys.modules.get("argparse"), "Namespace", None):
            return readers.of_instance(obj)
        if kind is getattr(sys.modules.get("random"), "Random", None):
            return {"(state)": hash(obj.getstate())}
        array = getattr(sys.modules.get("numpy"), "ndarray", ())
        if issubclass(kind, array) or module_of(kind).startswith("numpy"):
            return readers.of_numpy(obj)
        if module_of(kind) in ("logging", "logging.handlers", "queue"):
            return readers.of_logging(obj)
        if self._is_ours(kind):
            parts = readers.of_instance(obj)
            for base in (dict, list, deque, set):
                if issubclass(kind, base):
                    parts.update(readers.READERS[base](obj))
            return parts
        for base in (dict, list, tuple, deque):  # Counter, defaultdict, named tuples
            if issubclass(kind, base) and module_of(kind) in ("collections", "typing"):
                found: readers.Parts = readers.READERS[base](obj)
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


def _without(names: dict[str, Any], left_out: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in names.items() if name not in left_out}
