"""What objects hold, by key, so that two states of one can be told apart: the readers of `survey/survey.py`."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]  # no stub names it
import _io
import gc
import itertools
import sys
import types
from _operator import length_hint
from itertools import islice

from .. import _native
from ..support.static import all_slots, attributes_of, defines, module_of, name_of
from ..support.weak_table import WeakTable
from . import files, hidden
from .limits import LIMITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import _lru_cache_wrapper, partial
    from typing import Any

    Parts = dict[Any, Any]
    """The parts of an object by key. A text that begins with a dot is an attribute, a pair ("item", key) is an item."""
else:
    from _functools import _lru_cache_wrapper, partial

ATOMS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis))
"""Classes whose objects hold nothing and never change."""
ATOM_IDS = frozenset(map(id, ATOMS))


def registered_with(cls: Any) -> int | None:
    """What tells two states of an abstract class apart: the interpreter keeps apart what is registered with it."""
    if module_of(type(attribute_of_class(cls, "_abc_impl"))) != "_abc":
        return None
    return hash(frozenset(id(one()) for one in _abc._get_dump(cls)[0]))


def attribute_of_class(cls: Any, name: str) -> Any:
    """What stands under a name in the class itself."""
    return type.__dict__["__dict__"].__get__(cls).get(name)


def of_instance(obj: Any) -> Parts:
    parts: Parts = {f".{name}": value for name, value in list(attributes_of(obj).items())}
    for name, slot in all_slots(type(obj)):
        try:
            parts[f".{name}"] = slot.__get__(obj, type(obj))
        except AttributeError:
            continue
    return parts


def registered(obj: Any) -> set[str]:
    """The keys of the parameters, buffers and modules of a torch module; empty for other objects."""
    kind: Any = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)
    if kind is None or not issubclass(type(obj), kind):
        return set()
    own = attributes_of(obj)
    return {f".{key}" for name in ("_parameters", "_buffers", "_modules") for key in own.get(name, ())}


asks_caches = False
"""Whether the script asks caches how often they served it: then that is part of what it computes with."""


def of_lru_cache(obj: Any) -> Parts:
    """Numbers and texts that are computed again instead of remembered are the same ones; another object would be another one."""
    own, parts = attributes_of(obj), gc.get_referents(obj)
    given: Parts = {f".{name}": value for name, value in own.items() if not name.startswith("__") or name == "__wrapped__"}
    if _lru_cache_wrapper.cache_info(obj).maxsize is None:
        held = [
            value for part in parts if type(part) is dict and part is not own for value in islice(part.values(), LIMITS.items + 1)
        ]
    else:  # what is remembered and what it was computed from, side by side
        held = [part for part in parts if type(part) not in (dict, type, object, types.FunctionType)]
    if not asks_caches and len(held) <= LIMITS.items and all(id(type(value)) in ATOM_IDS for value in held):
        return given
    return {**given, ".cache_info()": hash(_lru_cache_wrapper.cache_info(obj))}


def of_tensor(obj: Any) -> Parts:
    return {"(data)": version(obj)}


def version(value: Any) -> Any:
    """What tells two states of a tensor apart: torch counts its changes."""
    if id(type(value)) in ATOM_IDS:
        return value
    torch: Any = sys.modules.get("torch")
    base = getattr(torch, "Tensor", None)
    if base is None or not issubclass(type(value), base):
        return 0
    try:
        with torch._C.DisableTorchFunctionSubclass():  # a class of the user's may see each of these calls
            return hash((base._version.__get__(value), base.data_ptr(value)))
    except Exception:  # an inference tensor counts no versions, others have no storage
        return 0


def of_torch_generator(obj: Any) -> Parts:
    return {"(state)": hash(obj.get_state().numpy().tobytes())}


def of_numpy(obj: Any) -> Parts | None:
    numpy = sys.modules["numpy"]
    if issubclass(type(obj), numpy.ndarray):
        data = numpy.ndarray.view(obj, numpy.ndarray)  # without the methods of its class: those of a masked array change it
        if data.dtype.hasobject:
            return {("item", number): item for number, item in enumerate(data.flat[: LIMITS.items]) if data.dtype.kind == "O"}
        sample = data if data.nbytes <= LIMITS.array_bytes else data.flat[:: data.size // LIMITS.array_samples or 1]
        parts: Parts = {"(data)": hash((data.shape, sample.tobytes()))}
        if module_of(type(obj)).startswith("numpy"):  # of its attributes some are caches
            mask = attributes_of(obj).get("_mask")
            return {**parts, "._mask": mask} if mask is not None else parts
        return {**parts, **of_instance(obj)}
    if issubclass(type(obj), numpy.random.Generator):
        bits = obj.bit_generator
        return {"(state)": hash((repr(bits.state), repr(getattr(bits, "_seed_seq", None))))}
    if issubclass(type(obj), numpy.random.RandomState):
        state = obj.get_state()
        return {"(state)": hash((state[1].tobytes(), *state[2:]))}
    return None


_OF_LOGGING = ("handlers", "parent", "target", "buffer", "queue", "level", "disabled", "propagate", "unfinished_tasks")


def of_logging(obj: Any) -> Parts:
    """A logger, a handler that collects records, a queue: what a line that is logged may change, and what decides who gets it."""
    own = attributes_of(obj)
    return {f".{name}": own[name] for name in _OF_LOGGING if name in own}


def is_iterator(kind: type) -> bool:
    """Whether objects of a class are iterators whose position can be told."""
    return defines(kind, "__next__") and (
        module_of(kind) in ("builtins", "itertools", "torch.utils.data.dataloader") and kind is not types.CoroutineType
    )


def of_iterator(obj: Any) -> Parts:
    """Where an iterator is: what it takes from, and how far it is where it says so. It is not moved."""
    parts: Parts = {"(position)": _position(obj)}
    if module_of(type(obj)).startswith("torch"):
        parts["._sampler_iter"] = getattr(obj, "_sampler_iter", None)
    elif not issubclass(type(obj), types.GeneratorType) or not obj.gi_running:
        # before 3.11 a generator holds its frame, and only the frame what the generator works with
        frame = obj.gi_frame if sys.version_info < (3, 11) and issubclass(type(obj), types.GeneratorType) else None
        held = [
            part
            for part in gc.get_referents(obj, frame)
            if not issubclass(type(part), (types.CodeType, types.FrameType, type, dict))
        ]
        parts.update((("item", n), part) for n, part in enumerate(held[: LIMITS.items]))
    return parts


def _position(obj: Any) -> Any:
    if issubclass(type(obj), types.GeneratorType):
        if obj.gi_running:
            return "running"  # it moves while it is looked at
        return obj.gi_frame.f_lasti if obj.gi_frame is not None else "over"
    if issubclass(type(obj), itertools.count):
        return repr(obj)
    if module_of(type(obj)).startswith("torch"):
        return getattr(obj, "_num_yielded", None)
    if issubclass(type(obj), (enumerate, itertools.cycle)):
        import warnings

        with warnings.catch_warnings():  # to be taken from the iterators of itertools in Python 3.14
            warnings.simplefilter("ignore")
            state = obj.__reduce__()[1] if defines(type(obj), "__reduce__") else (None, None)
        return length_hint(state[0], -1) if issubclass(type(obj), itertools.cycle) else state[1]
    left = length_hint(obj, -1)
    return left if left >= 0 else _native.hash_of_memory(obj)


def _buffer(obj: Any) -> Parts:
    """A file in memory: what was written to it."""
    return {} if obj.closed else {"(content)": hash(obj.getvalue()), "(position)": obj.tell()}


def _of_builtin(obj: Any) -> Parts:
    """A method of Python's own, bound to an object: `seen.append`, `count().__next__`, `file.read`. The generators of `random`,
    NumPy and torch that all share are in every checkpoint."""
    bound_to = obj.__self__
    kind = type(bound_to)
    if kind is list or kind is dict or kind is set:  # most are
        return {".__self__": bound_to}
    if kind is types.ModuleType or issubclass(kind, type) or id(kind) in ATOM_IDS:
        return {}
    called = module_of(kind), name_of(kind)
    if called == ("torch._C", "Generator") or called in _SHARED and bound_to is _shared(*_SHARED[called]):
        return {}
    return hidden.of_rows(bound_to) if called == hidden.CURSOR else {".__self__": bound_to}


_SHARED = {("random", "Random"): ("random", "_inst"), ("numpy.random.mtrand", "RandomState"): ("numpy.random.mtrand", "_rand")}
"""Classes of generators -> the module and the name of the one that all share."""


def _shared(module: str, name: str) -> Any:
    return attributes_of(sys.modules.get(module)).get(name)


READERS = WeakTable(
    {
        _io.StringIO: _buffer,
        _io.BytesIO: _buffer,
        types.MethodType: lambda obj: {".__self__": obj.__self__, ".__func__": obj.__func__},
        types.BuiltinFunctionType: _of_builtin,
        types.MethodWrapperType: _of_builtin,
        partial: lambda obj: {".func": obj.func, ".args": obj.args, ".keywords": obj.keywords},
        _lru_cache_wrapper: of_lru_cache,
        property: lambda obj: {".fget": obj.fget, ".fset": obj.fset},
        classmethod: lambda obj: {".__func__": obj.__func__},
        staticmethod: lambda obj: {".__func__": obj.__func__},
    }.items()
)
"""Those in Python, by exact class; `src/survey/parts.rs` reads what most programs consist of."""
READERS.update(files.READERS)


def reader(kind: type) -> Callable[[Any], Parts] | None:
    """How objects of exactly this class are read; a method that is told which class defined it is of a class without a name."""
    found: Callable[[Any], Parts] | None = READERS.get(kind)
    return _of_builtin if found is None and issubclass(kind, types.BuiltinFunctionType) else found
