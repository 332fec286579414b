"""Which encoder an object of a given class gets; decided once per class."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

from ..adapters import torch_data, torch_optim, tqdm
from ..adapters.libraries import library_of
from ..support.static import module_of, name_of, static
from ..support.weak_table import WeakTable
from . import (
    arrays,
    boosters,
    by_name,
    data,
    ddp,
    dtensor,
    equal,
    files,
    fsdp,
    generators,
    loading,
    mappings,
    modules,
    objects,
    partials,
    progress,
    references,
    sequences,
    sets,
    tensors,
    thread_local,
    tracked,
)
from .kinds import CONTENT_BASES, VALUE_BASES, layout_base, type_name
from .registry import ENCODERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .encode import Encoder
    from .kinds import Encode, Node

HANDLERS = WeakTable()
"""Exact class -> encoder(enc, object) -> node."""
HANDLERS.update(ENCODERS)


def encode_light_object(enc: Encoder, obj: Any) -> Node:
    """A dataset or sampler: small plain values and generators only."""
    return objects.encode_object(enc, obj)


def encode_light_derived(enc: Encoder, obj: Any) -> Node:
    return objects.encode_derived(enc, obj)


LIGHT = frozenset({encode_light_object, encode_light_derived, modules.encode_loader, modules.encode_combined})
"""Walked last; tensors, arrays and long containers first met there stay as they are."""
BULK = frozenset(
    {
        tensors.encode_tensor,
        tensors.encode_unknown_tensor,
        dtensor.encode_dtensor,
        arrays.encode_array,
        references.encode_opaque,
        loading.encode_loading,
        data.encode_pickled,
        boosters.encode_booster,
        references.encode_weakref,
        references.encode_proxy,
        references.encode_named,
        references.encode_method,
        by_name.encode_member,
        files.encode_file,
        modules.encode_module,
        modules.encode_metric,
        tracked.encode_tracked_module,
        ddp.encode_ddp,
        fsdp.encode_fsdp,
        sequences.encode_bytearray,
        sequences.encode_array,
        sequences.encode_bytes,
    }
)
SIZED = frozenset(
    {
        sequences.encode_list,
        sequences.encode_tuple,
        mappings.encode_dict,
        sets.encode_set,
        sets.encode_frozenset,
        mappings.encode_ordered,
        mappings.encode_defaultdict,
        sequences.encode_deque,
        sequences.encode_namedtuple,
        objects.encode_derived,
    }
)
_LIKE_LOADERS = (
    ("lightning.pytorch.utilities.combined_loader", "CombinedLoader"),
    ("pytorch_lightning.utilities.combined_loader", "CombinedLoader"),
)
"""Their live iterators are made anew when a loop over them begins. (No replay goes on within an epoch: see `followed.toml`.)"""
_LIMIT = 10000


def learn(kind: type, obj: Any) -> Encode:
    """The encoder of a class met for the first time, which is none of atoms."""
    if len(HANDLERS) > _LIMIT:  # a program that makes classes in a loop
        HANDLERS.clear()
        HANDLERS.update(ENCODERS)
    handler: Encode = _torch_handler(kind) or _numpy_handler(kind) or _plain_handler(kind)
    HANDLERS[kind] = handler
    return handler


def _torch_handler(kind: type) -> Encode | None:
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "optim") or not hasattr(torch, "utils"):
        return None
    if dtensor.is_dtensor(kind):
        return dtensor.encode_dtensor
    if issubclass(kind, torch.Tensor):
        plain = kind is torch.Tensor or kind is torch.nn.Parameter
        return tensors.encode_tensor if plain else tensors.encode_unknown_tensor
    if issubclass(kind, torch.Generator):
        return generators.encode_torch
    if issubclass(kind, torch.nn.Module):
        if tracked.is_tracked(kind):
            return tracked.encode_tracked_module
        if ddp.is_ddp(kind):
            return ddp.encode_ddp
        if fsdp.is_fsdp(kind):
            return fsdp.encode_fsdp
        return modules.encode_metric if modules.is_metric(kind) else modules.encode_module
    if issubclass(kind, torch.optim.Optimizer):
        return modules.encode_optimizer
    of_data = getattr(torch.utils, "data", None)
    if of_data is not None and issubclass(kind, of_data.DataLoader):
        return modules.encode_loader
    if of_data is not None and issubclass(kind, (of_data.Dataset, of_data.Sampler)):
        return encode_light_derived if layout_base(kind) in CONTENT_BASES else encode_light_object
    if torch_data.is_iterator_class(kind):
        return loading.encode_loading
    if torch_optim.is_grad_scaler(kind):
        return modules.encode_scaler
    return None


def _numpy_handler(kind: type) -> Encode | None:
    numpy: Any = sys.modules.get("numpy")
    if not hasattr(numpy, "ndarray") or not hasattr(numpy, "random"):
        return None
    if kind is numpy.ndarray:
        return arrays.encode_array
    if kind is numpy.random.Generator:
        return generators.encode_generator
    if kind is numpy.random.RandomState:
        return generators.encode_random_state
    if issubclass(kind, numpy.random.BitGenerator) and module_of(kind).startswith("numpy."):
        return generators.encode_bits
    if issubclass(kind, numpy.memmap):
        return references.encode_opaque
    if issubclass(kind, numpy.ndarray) and static(kind, "__reduce__") is static(numpy.ndarray, "__reduce__"):
        return arrays.encode_subclass
    return None


def _plain_handler(kind: type) -> Encode:
    if equal.is_data(kind):
        return data.encode_data
    if issubclass(kind, functools.partial):
        return partials.encode_partial
    if equal.is_enumeration(kind):
        return by_name.encode_member
    if issubclass(kind, references.FUNCTIONS):
        return references.encode_named
    if issubclass(kind, types.ModuleType):
        return references.encode_module
    if tqdm.is_bar_class(kind):
        return progress.encode_bar
    if thread_local.is_local(kind):
        return thread_local.encode_local
    library = library_of(module_of(kind))
    if type_name(kind) in _LIKE_LOADERS:
        return modules.encode_combined
    if type_name(kind) in by_name.CLASSES:
        return by_name.encode_logger
    if tracked.is_tracked(kind):
        return tracked.encode_tracked
    if library is not None and library.pickles_handles and name_of(kind) == "Booster":
        return boosters.encode_booster
    if issubclass(kind, references.BY_REFERENCE) or references.in_opaque_module(kind):
        return references.encode_opaque
    if library is not None and library.is_pickled:
        return data.encode_pickled
    base = layout_base(kind)
    if base is object and library is not None and library.handles and _has_dict(kind):
        return objects.encode_without_handles
    if base is object:
        return objects.encode_object
    if base is tuple and type(static(kind, "_fields")) is tuple and not _has_dict(kind):
        return sequences.encode_namedtuple
    if base in CONTENT_BASES:
        return objects.encode_derived
    if base in VALUE_BASES:
        return objects.encode_derived_value
    if references.is_iterator(kind):
        return references.encode_opaque
    return data.encode_pickled


_dictoffset_of = type.__dict__["__dictoffset__"].__get__


def _has_dict(kind: type) -> bool:
    return bool(_dictoffset_of(kind) != 0)
