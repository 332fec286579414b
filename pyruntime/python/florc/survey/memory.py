"""Which memory tensors and arrays lie in: if memory is restored, all views of it change."""

from __future__ import annotations

import sys

from ..support.light import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Span(NamedTuple):
    """The bytes from the first to the last element of a tensor or an array."""

    device: str
    start: int
    stop: int
    is_dense: bool
    """Whether writing its elements writes all of them."""


def memory_of(objects: Iterable[Any]) -> list[Span]:
    """The memory that restoring these objects writes, where it is."""
    spans = (_span(obj) for obj in objects if _is_restored_in_place(obj))
    return [span for span in spans if span is not None and span.is_dense]


def lies_in(obj: Any, restored: list[Span]) -> bool:
    """Whether an object is another view of memory that is restored: a tensor, or an array over one."""
    span = _span(obj) if restored else None
    return span is not None and any(
        span.device == other.device and other.start <= span.start and span.stop <= other.stop for other in restored
    )


def _is_restored_in_place(obj: Any) -> bool:
    """Others get new memory, which no view shares (see `match` in `state.tensors` and `state.arrays`)."""
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if hasattr(numpy, "ndarray") and type(obj) is numpy.ndarray:
        return bool(obj.flags.writeable)
    known = hasattr(torch, "nn") and type(obj) in (torch.Tensor, torch.nn.Parameter)
    return known and obj.is_leaf and not obj.is_inference()


def _span(obj: Any) -> Span | None:
    """The memory of a tensor or an array; None for other objects, and for those without elements."""
    from ..state.arrays import bounds
    from ..state.tensors import extent

    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if hasattr(numpy, "ndarray") and issubclass(type(obj), numpy.ndarray):
        data = numpy.ndarray.view(obj, numpy.ndarray)
        start = data.__array_interface__["data"][0] if data.nbytes else 0
        low, high = bounds(data.shape, data.strides, data.itemsize)
        return Span("cpu", start + low, start + high, data.flags.forc) if data.nbytes else None
    if hasattr(torch, "Tensor") and issubclass(type(obj), torch.Tensor):
        base = torch.Tensor
        try:
            with torch._C.DisableTorchFunctionSubclass():  # a class of the user's may see each of these calls
                start, count = base.data_ptr(obj), extent(base.size(obj), base.stride(obj))
                # what is dense is restored with all that lies between its elements
                stop, is_dense = start + count * base.element_size(obj), count <= base.numel(obj)
                return Span(str(base.device.__get__(obj)), start, stop, is_dense) if start else None
        except Exception:  # some tensors have no storage
            return None
    return None
