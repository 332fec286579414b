"""What objects hold, by key, so that two states of one can be told apart: the readers of `unforeseen.py`."""

from __future__ import annotations

import collections
import functools
import gc
import itertools
import operator
import sys
import types
import warnings
from itertools import chain, islice
from typing import Any, Callable, Dict, Optional

MAX_ITEMS = 200
"""Of longer containers the length and both ends are looked at."""
MAX_ARRAY_BYTES = 1 << 16
"""Of larger arrays a sample is looked at."""

Parts = Dict[Any, Any]
"""The parts of an object by key. A text that begins with a dot is an attribute, a pair ("item", key) is an item."""

ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), type(Ellipsis)})
"""Classes whose objects hold nothing and never change."""



def _list(obj: Any) -> Parts:
    count = len(obj)
    if count <= MAX_ITEMS:
        items = enumerate(obj)
    else:
        items = chain(enumerate(islice(obj, MAX_ITEMS // 2)), ((i - count, obj[i - count]) for i in range(count - MAX_ITEMS // 2, count)))
    parts: Parts = {("item", i): item for i, item in items}
    parts["(length)"] = count
    return parts


def _dict(obj: Any) -> Parts:
    parts: Parts = {"(length)": len(obj)}
    items = list(islice(dict.items(obj), MAX_ITEMS))
    for n, (key, value) in enumerate(items):
        parts["item", key if type(key) in ATOMS else ("key", n)] = value
    if len(obj) > MAX_ITEMS:
        for n, key in enumerate(islice(reversed(obj), MAX_ITEMS // 2)):
            parts["item", key if type(key) in ATOMS else ("key", -1 - n)] = dict.__getitem__(obj, key)
    return parts


def _set(obj: Any) -> Parts:
    atoms = [item for item in islice(obj, MAX_ITEMS) if type(item) in ATOMS]
    return {"(length)": len(obj), "(elements)": hash(frozenset(atoms))}


def of_function(obj: Any) -> Parts:
    parts: Parts = {f".__defaults__[{n}]": value for n, value in enumerate(obj.__defaults__ or ())}
    parts.update((f".{name}", value) for name, value in (obj.__kwdefaults__ or {}).items())
    for name, cell in zip(obj.__code__.co_freevars, obj.__closure__ or ()):
        try:
            parts[f".{name}"] = cell.cell_contents
        except ValueError:
            continue
    parts.update((f".{name}", value) for name, value in obj.__dict__.items())
    return parts


def of_class(obj: Any) -> Parts:
    skipped = (types.MemberDescriptorType, types.GetSetDescriptorType)
    return {f".{name}": value for name, value in list(type.__dict__["__dict__"].__get__(obj).items())
            if not name.startswith("__") and not isinstance(value, skipped)}


def of_instance(obj: Any) -> Parts:
    names = getattr(type(obj), "__dictoffset__", 0) and object.__getattribute__(obj, "__dict__") or {}
    parts: Parts = {f".{name}": value for name, value in list(names.items())}
    for cls in type(obj).__mro__:
        for name, slot in list(vars(cls).items()):
            if isinstance(slot, types.MemberDescriptorType):
                try:
                    parts[f".{name}"] = slot.__get__(obj, type(obj))
                except AttributeError:
                    continue
    return parts


def of_module(obj: Any) -> Parts:
    parts: Parts = {}
    for name, value in list(obj.__dict__.items()):
        if name in ("_parameters", "_buffers", "_modules"):
            parts.update((f".{key}", part) for key, part in list(value.items()))
        elif "hooks" not in name and name not in ("_compiled_call_impl", "_non_persistent_buffers_set"):
            parts[f".{name}"] = value
    return parts


def of_optimizer(obj: Any) -> Parts:
    values = [v for group in obj.param_groups for v in group.values() if type(v) in ATOMS]
    state = [value for held in list(obj.state.values()) if isinstance(held, dict) for value in held.values()]
    values += [version(value) for value in islice(state, MAX_ITEMS)]
    return {".state": hash(tuple(values))}


def of_tensor(obj: Any) -> Parts:
    return {"(data)": version(obj)}


def version(value: Any) -> Any:
    """What tells two states of a tensor apart: torch counts its changes."""
    try:
        return hash((value._version, value.data_ptr()))
    except Exception:  # an inference tensor counts no versions, others have no storage
        return value if type(value) in ATOMS else 0


def of_torch_generator(obj: Any) -> Parts:
    return {"(state)": hash(obj.get_state().numpy().tobytes())}


def of_numpy(obj: Any) -> Optional[Parts]:
    numpy = sys.modules["numpy"]
    if isinstance(obj, numpy.ndarray):
        if obj.dtype.hasobject:
            return None
        sample = obj if obj.nbytes <= MAX_ARRAY_BYTES else obj.flat[:: obj.size // 4096 or 1]
        return {"(data)": hash((obj.shape, sample.tobytes()))}
    if isinstance(obj, numpy.random.Generator):
        return {"(state)": hash(repr(obj.bit_generator.state))}
    if isinstance(obj, numpy.random.RandomState):
        state = obj.get_state()
        return {"(state)": hash((state[1].tobytes(), *state[2:]))}
    return None


def is_iterator(kind: type) -> bool:
    """Whether objects of a class are iterators whose position can be told."""
    return hasattr(kind, "__next__") and (
        kind.__module__ in ("builtins", "itertools", "torch.utils.data.dataloader") and kind is not types.CoroutineType)


def of_iterator(obj: Any) -> Parts:
    """Where an iterator is: what it takes from, and how far it is where it says so. It is not moved."""
    parts: Parts = {"(position)": _position(obj)}
    if type(obj).__module__.startswith("torch"):
        parts["._sampler_iter"] = getattr(obj, "_sampler_iter", None)
    elif not isinstance(obj, types.GeneratorType) or not obj.gi_running:
        held = [part for part in gc.get_referents(obj) if not isinstance(part, (types.CodeType, types.FrameType, type, dict))]
        parts.update((("item", n), part) for n, part in enumerate(held[:MAX_ITEMS]))
    return parts


def _position(obj: Any) -> Any:
    if isinstance(obj, types.GeneratorType):
        if obj.gi_running:
            return "running"  # it moves while it is looked at
        return obj.gi_frame.f_lasti if obj.gi_frame is not None else "over"
    if isinstance(obj, itertools.count):
        return repr(obj)
    if type(obj).__module__.startswith("torch"):
        return getattr(obj, "_num_yielded", None)
    if isinstance(obj, (enumerate, itertools.cycle)):
        with warnings.catch_warnings():  # to be taken from the iterators of itertools in Python 3.14
            warnings.simplefilter("ignore")
            state = obj.__reduce__()[1] if hasattr(type(obj), "__reduce__") else (None, None)
        return operator.length_hint(state[0], -1) if isinstance(obj, itertools.cycle) else state[1]
    return operator.length_hint(obj, -1)


READERS: Dict[type, Callable[[Any], Optional[Parts]]] = {
    list: _list,
    tuple: _list,
    collections.deque: _list,
    dict: _dict,
    set: _set,
    types.MethodType: lambda obj: {".__self__": obj.__self__, ".__func__": obj.__func__},
    types.SimpleNamespace: of_instance,
    functools.partial: lambda obj: {".func": obj.func, ".args": obj.args, ".keywords": obj.keywords},
    functools._lru_cache_wrapper: lambda obj: {".cache_info()": hash(obj.cache_info())},
    property: lambda obj: {".fget": obj.fget, ".fset": obj.fset},
    classmethod: lambda obj: {".__func__": obj.__func__},
    staticmethod: lambda obj: {".__func__": obj.__func__},
}
