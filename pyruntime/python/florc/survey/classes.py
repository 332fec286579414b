"""What the objects of a class are for a witness: what is read of them, and what is left out because it is noticed otherwise, or
computed again. Each line of the tables says why; a line too few costs time, and no truth.
"""

from __future__ import annotations

import sys
import time
import types

from ..support.static import defines, dict_of, module_of, mro_of, name_of, same_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import Callable
    from typing import Any

    Asked = tuple[str | Callable[[Any], Any], set[str], dict[str, Any]]
    """What objects of a class are, which of their attributes are caches, and what stands in the class."""

else:
    from _collections import OrderedDict

once = [0.0]
"""Seconds that it took so far to learn what the objects of classes are."""
SCRIPTS: set[str] = set()
"""The modules that are the script's, as far as they are known: their classes and functions are looked into."""
SENDING: set[str] = set()
"""Modules of experiment trackers that were imported: their objects send, and in a replay they do not."""
_LEAVES = {
    "logging": "a logger leads to all others; what is logged is compared",
    "threading": "whether a thread waits is chance",
    "_thread": "the same",
    "queue": "filled and emptied by threads",
    "concurrent": "the same",
    "multiprocessing": "lies in other processes",
    "_multiprocessing": "the same",
    "_io": "how far a file is, is part of the checkpoint or of the view of files",
    "tempfile": "the same",
    "socket": "another one in each process",
    "_socket": "the same",
    "select": "the same",
    "asyncio": "the same",
    "_asyncio": "the same",
    "sqlite3": "on the disk",
    "weakref": "holds nothing",
    "_weakref": "the same",
    "_weakrefset": "the same",
    "_ctypes": "addresses; what lies there, a library knows",
    "ctypes": "the same",
    "florc": "its own",
    "tqdm": "times; how far a bar is, is part of the checkpoint",
    "functools": "what a cache holds is computed again",
    "_abc": "what an abstract class remembers is computed again",
}
"""Top modules of classes whose objects are known by their class alone -> why."""
_CACHES = {
    "pandas": ("_cache", "_item_cache", "_cacher"),
    "numpy": ("_basedict", "_fill_value", "_isfield", "_sharedmask", "_hardmask", "_optinfo", "_baseclass"),
}
"""Packages whose objects keep such things otherwise than in a `cached_property`; what masked arrays make for themselves."""
_OWN = {
    (
        "lightgbm.basic",
        "Booster",
    ): "behind a handle: what it pickles is its checkpoint, and a survey compares what it says of itself",
    ("xgboost.core", "Booster"): "the same",
    ("lightgbm.basic", "Dataset"): "makes what is behind its handle when it is first used",
    ("xgboost.core", "DMatrix"): "the same",
    ("xgboost.core", "QuantileDMatrix"): "the same",
    ("pandas._libs.internals", "BlockValuesRefs"): "who else shows the same memory, by weak references",
}
"""Classes whose objects are known by their class alone -> why."""
_NAMED = (
    types.CodeType,
    types.FrameType,
    types.TracebackType,
    types.ModuleType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
)
_ITERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_HAVE_GC = 1 << 14
"""`Py_TPFLAGS_HAVE_GC`"""


def what_is(kind: type) -> str | Callable[[Any], Any]:
    """What objects of a class are, as `_native.Witness` has it."""
    if kind is types.FunctionType:
        return "function"
    if kind is types.MethodType:
        return "method"
    if kind is types.BuiltinFunctionType or kind is types.MethodWrapperType:
        return "builtin"
    if kind is types.CellType:
        return "cell"
    if issubclass(kind, type):
        return "class"
    module = module_of(kind)
    top = module.partition(".")[0]
    if top == "pathlib" and defines(kind, "__fspath__"):
        return "text"
    if defines(kind, "__next__") or issubclass(kind, _ITERATORS) or module == "florc.state.lapsed":
        return "iterator"  # where it is: restored, or it lapses
    if (module, name_of(kind)) in _OWN or module in SENDING:
        return "leaf"
    if top in _LEAVES and not (top == "functools" and name_of(kind) == "partial") or issubclass(kind, _NAMED):
        return "leaf"
    if issubclass(kind, (bytearray, memoryview)):
        return bytes
    if issubclass(kind, OrderedDict):
        return _order  # which is one of its own
    found = _of_library(kind, module, top)
    if found is not None:
        return found
    is_bare = not _flags_of(kind) & _HAVE_GC and not _dictoffset_of(kind)
    if module not in SCRIPTS and (is_bare or module in _VALUES):
        return "reduce"
    return "object"


def _order(known: OrderedDict[Any, Any]) -> list[Any]:
    return list(OrderedDict.items(known))


_flags_of = type.__dict__["__flags__"].__get__
_dictoffset_of = type.__dict__["__dictoffset__"].__get__
_VALUES = ("datetime", "decimal", "_decimal", "fractions", "uuid", "array")
"""Of these, `__reduce_ex__` says all that there is."""


def _of_library(kind: type, module: str, top: str) -> str | Callable[[Any], Any] | None:
    numpy: Any = sys.modules.get("numpy")
    if hasattr(numpy, "ndarray"):
        if issubclass(kind, numpy.memmap):
            return "leaf"  # the file may have been cut
        if issubclass(kind, numpy.ndarray):
            return "array"
        if issubclass(kind, numpy.generic):
            return "scalar"
        if issubclass(kind, numpy.dtype):
            return "text"
        if hasattr(numpy, "random") and issubclass(kind, (numpy.random.Generator, numpy.random.RandomState)):
            return lambda value: _plain((value.bit_generator if hasattr(value, "bit_generator") else value._bit_generator).state)
        if top == "numpy":
            return "leaf"
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "Tensor") and hasattr(torch, "nn"):
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            return "tensor"
        if issubclass(kind, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
            return "text"
        if issubclass(kind, torch.Generator):
            return lambda value: value.get_state().numpy().tobytes()
        if module.startswith(("torch._C", "torch.distributed", "torch._dynamo")):
            return "leaf"  # of several processes, or of the compiler
    random: Any = sys.modules.get("random")
    if hasattr(random, "Random") and issubclass(kind, random.Random):
        return lambda value: random.Random.__base__.getstate(value)
    return None


def _plain(state: Any) -> Any:
    """The state of a bit generator, without the order of its keys."""
    if type(state) is dict:
        return tuple((key, _plain(state[key])) for key in sorted(state))
    return state.tobytes() if hasattr(state, "tobytes") else state


def caches_of(kind: type) -> set[str]:
    """Attributes of its objects that hold what is computed again when it is asked for."""
    own = {name for base in mro_of(kind) for name, held in dict_of(base).items() if name_of(type(held)) == "cached_property"}
    return {*own, *_CACHES.get(module_of(kind).partition(".")[0], ())}


def constants_of(kind: type) -> dict[str, Any]:
    """The numbers and texts that stand in a class. What unpickling gives to an object may be there already."""
    own = {name: value for base in reversed(mro_of(kind)) for name, value in dict_of(base).items()}
    return {name: value for name, value in own.items() if same_class(type(value), (bool, int, float, str))}


def ask(kind: type) -> Asked:
    """What `_native.Witness` asks of a class."""
    begun = time.perf_counter()
    try:
        return what_is(kind), caches_of(kind), constants_of(kind)
    finally:
        once[0] += time.perf_counter() - begun


def is_of_library(kind: type) -> bool:
    """Whether objects of a class are a library's, and hold something that may be read; Python's own have readers of their own."""
    return module_of(kind).partition(".")[0] not in sys.stdlib_module_names and what_is(kind) == "object"
