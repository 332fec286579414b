"""Where a survey begins, and how it goes on: the names that the program has, and the parts of each object."""

from __future__ import annotations

import sys
import types
from types import FrameType

from .. import _native
from ..plan import places
from ..support.light import NamedTuple
from ..support.static import all_slots, attributes_of, module_of
from . import classes, foreign, handles, readers
from .limits import LIMITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import defaultdict, deque
    from collections.abc import Callable, Container
    from typing import Any
else:
    from _collections import defaultdict, deque

_CONTAINERS: tuple[tuple[type, str], ...] = ((dict, "dict"), (list, "list"), (tuple, "tuple"), (deque, "deque"), (set, "set"))
CONTENT = "(content)"
"""The key of all that an object of a library's holds."""
_LOGGING = ("logging", "logging.handlers", "queue")


class Scope(NamedTuple):
    """The names of a function that is running, or of a file. `own`: the block's own names, but for those that its statements
    bind: these are left to its plan. Others change by what it calls, by handlers of signals, or behind the back of its names."""

    names: dict[str, Any]
    own: bool
    label: str
    is_file: bool = False
    """Whether these are the names of the block's own file."""

    def place(self, name: str) -> str:
        """A name of it as changesets spell it."""
        return f"{self.label[:-1]}:{name}" if self.label else name


class Reader:
    """What objects hold. `files`: the user's."""

    leaves_own_names = False
    """Whether it is not looked at what the function's own names are bound to, only at the objects."""

    def __init__(self, files: set[str]):
        self._modules, self._is_project = _native.Modules(files), files.__contains__
        self.tried: set[str] = set()
        """Places of objects of libraries that were added to a checkpoint,"""
        self.hopeless: set[str] = set()
        """and those that none could hold."""
        self._witness = _native.Witness(self._what_is, classes.SCRIPTS, LIMITS.objects)
        self.readings = _native.Readings(self._ask, self.read, readers.version, readers.registered_with, files, LIMITS)

    def scopes(self, frame: FrameType, rebound: frozenset[str]) -> list[Scope]:
        """The block's own names but for those in `rebound`, those of the project functions that called it, the globals of
        the project's files."""
        classes.SCRIPTS.update(_native.scripts_modules())
        found: list[Scope] = []
        at: FrameType | None = frame
        module_level = places.is_module_level(frame)
        while at is not None and not places.is_module_level(at):
            if self._is_project(at.f_code.co_filename):
                own = at is frame
                found.append(Scope(_without(_native.names_of(at), rebound if own else ()), own, ""))
            at = at.f_back
        for name, names in self.files():
            is_file = names is frame.f_globals
            names = _without_compiled(names)
            own = module_level and is_file
            found.append(Scope(_without(names, rebound) if own else names, own, "" if is_file else f"{name}.", is_file))
        root = attributes_of(sys.modules.get("logging")).get("root")
        # an object of the script's may stand in the place of standard output
        streams = Scope({name: sys.__dict__.get(name) for name in ("stdout", "stderr")}, False, "sys.")
        found += [Scope(names, False, f"{module}.") for module, names in foreign.of_modules(found)]
        return [*found, streams, *([] if root is None else [Scope({"root": root}, False, "logging.")])]

    def files(self) -> list[tuple[str, dict[str, Any]]]:
        """The globals of the project's files, by the names of their modules."""
        return self._modules.find()

    def parts(self, obj: Any) -> readers.Parts | None:
        """What an object holds, by key; None for objects that are not looked into."""
        return self.readings.parts(obj)

    def _ask(self, kind: type) -> tuple[list[str], list[tuple[str, Any]], bool]:
        """How objects of a class are read (`_native.Readings`): the ways, the slots, whether it is the user's."""
        ways = self.ways(kind)
        return ways, all_slots(kind) if "instance" in ways else [], self.is_ours(kind)

    def ways(self, kind: type) -> list[str]:
        """The ways in which objects of a class are read, one after the other; none for those that are not looked into."""
        for base, way in _CONTAINERS:
            if kind is base:
                return [way]
        if kind is getattr(sys.modules.get("collections"), "OrderedDict", None) or kind is defaultdict:
            return ["dict", "python"]
        if readers.reader(kind) is not None or handles.reader(kind) is not None or readers.is_iterator(kind):
            return ["python"]
        if kind is types.FunctionType:
            return ["function"]
        if kind is types.ModuleType or issubclass(kind, BaseException) or handles.is_of_ctypes(kind):
            return ["python"]
        if kind is types.SimpleNamespace or kind is getattr(sys.modules.get("argparse"), "Namespace", None):
            return ["instance"]
        if issubclass(kind, type):
            return ["class"]
        torch: Any = sys.modules.get("torch")
        if hasattr(torch, "nn") and hasattr(torch, "optim"):
            if kind is torch.Tensor or kind is torch.nn.Parameter:
                return ["tensor"]
            if issubclass(kind, torch.nn.Module):
                return ["module"]
            if issubclass(kind, torch.optim.Optimizer):
                return ["optimizer"]
            if issubclass(kind, (torch.Tensor, torch.Generator)):
                return ["python"]
        array = getattr(sys.modules.get("numpy"), "ndarray", ())
        if array and issubclass(kind, array) or module_of(kind).startswith("numpy"):
            return ["python"]
        if kind is getattr(sys.modules.get("random"), "Random", None) or module_of(kind) in _LOGGING:
            return ["python"]
        if self.is_ours(kind):
            if issubclass(kind, getattr(sys.modules.get("random"), "Random", ())):
                return ["instance", "python"]
            return ["instance", *(way for base, way in _CONTAINERS if issubclass(kind, base))]
        if module_of(kind) in ("collections", "typing"):  # Counter, defaultdict, named tuples; UserDict, ChainMap
            return [way for base, way in _CONTAINERS if base is not set and issubclass(kind, base)] or ["instance"]
        return ["python"] if classes.is_of_library(kind) else []

    def _what_is(self, kind: type) -> classes.Asked:
        """What `_native.Witness` asks of a class, where a library's object holds them: what is looked into by itself is known by
        where it is."""
        found = classes.what_is(kind)
        is_seen = found == "object" and self.ways(kind) not in (["python"], []) or found == "tensor"
        return "same" if is_seen else found, classes.caches_of(kind), classes.constants_of(kind)

    def read(self, obj: Any) -> readers.Parts | None:
        """What an object holds that Python reads."""
        kind = type(obj)
        if kind is getattr(sys.modules.get("collections"), "OrderedDict", None):  # its order is one of its own
            return {"(order)": hash(tuple(map(id, kind.keys(obj))))}
        if kind is defaultdict:
            return {".default_factory": obj.default_factory}
        reader: Callable[[Any], readers.Parts | None] | None = readers.reader(kind) or handles.reader(kind)
        if reader is not None:
            return reader(obj)
        if readers.is_iterator(kind):
            return readers.of_iterator(obj)
        if kind is types.ModuleType:
            return handles.of_module(obj)
        if issubclass(kind, BaseException):
            return handles.of_exception(obj)
        if handles.is_of_ctypes(kind):
            return handles.of_ctypes(obj)
        torch: Any = sys.modules.get("torch")
        if hasattr(torch, "Generator") and issubclass(kind, torch.Generator):
            return readers.of_torch_generator(obj)
        if hasattr(torch, "Tensor") and issubclass(kind, torch.Tensor):
            return readers.of_tensor(obj)
        plain = getattr(sys.modules.get("random"), "Random", None)
        if plain is not None and issubclass(kind, plain):
            return {"(state)": hash(plain.__base__.getstate(obj))}  # in C: that of Python asks the object for attributes
        if module_of(kind) in _LOGGING:
            return readers.of_logging(obj)
        array = getattr(sys.modules.get("numpy"), "ndarray", ())
        if array and issubclass(kind, array) or module_of(kind).startswith("numpy"):
            return readers.of_numpy(obj)
        return {CONTENT: self._witness.of_object(obj)}

    def is_ours(self, cls: type) -> bool:
        """Whether a class is the project's."""
        file: Any = attributes_of(sys.modules.get(module_of(cls))).get("__file__")
        return issubclass(type(file), str) and self._is_project(file)

    def follow(self, names: dict[str, Any], path: str) -> Any:
        """The object at the end of a path that `Survey.paths` gave; None when the path is broken."""
        import json

        name, *keys = json.loads(path)
        obj = names.get(name)
        for key in keys:
            obj = (self.parts(obj) or {}).get(tuple(key) if issubclass(type(key), list) else key) if obj is not None else None
        return obj


_COMPILED = (
    "__compiled_fn_", "__resume_at_", "__builtins_dict__", "__import_", "__gen_rand_values_", "__warnings_warn_wrapper_",
)  # fmt: skip
"""What `torch.compile` puts into the globals of a file whose functions it compiles (`OutputGraph.install_global`), together with
names that end in the address of an object and the number of a compilation. It makes them in each process, under numbers of its
own: they are nobody's state. A script that binds such a name itself has a global that florc does not see change."""


def _is_compiled(name: str) -> bool:
    if name.startswith(_COMPILED):
        return True
    front, _, number = name.rpartition("_c")
    return number.isdecimal() and front[-9:].isdecimal()


def _without_compiled(names: dict[str, Any]) -> dict[str, Any]:
    """The names of a file, without those that a compiler made."""
    if "torch._dynamo" not in sys.modules:
        return names
    made = [name for name in list(names) if type(name) is str and _is_compiled(name)]
    return _without(names, made) if made else names


def _without(names: dict[str, Any], left_out: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in names.items() if name not in left_out}
