"""numpy arrays: both directions.

Nodes: `["ndarray", leaf, dtype descr, shape, strides in bytes, writeable, "C" | "F"]`, the leaf holding the elements in
C order, or in Fortran order when that is how they lie; `["objects", [values], shape]` for object arrays.
"""

from __future__ import annotations

import sys

from .. import _native
from ..support.static import attributes_of, name_of
from .atoms import dtype_descr, dtype_from
from .kind import Kind
from .kinds import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

_FEW = 1 << 16
"""Arrays of more whole numbers are not looked through for addresses of objects."""


def encode_array(enc: Encoder, a: Any) -> Node:
    numpy = sys.modules["numpy"]
    descr = dtype_descr(a.dtype)
    if descr == "O":
        return ["objects", [enc.value(x) for x in a.ravel().tolist()], list(a.shape)]
    if descr is None:
        raise Refused(f"an array of dtype {a.dtype} cannot be stored as plain bytes")
    fortran = a.flags.f_contiguous and not a.flags.c_contiguous
    flat = a.T if fortran else numpy.ascontiguousarray(_whole(a))
    is_copy = flat is not a and flat.base is None
    leaf = None
    if a.size and a.itemsize:
        leaf = enc.leaf(_native.MemoryLeaf.of_array(flat, flat if is_copy else a))
        if a.dtype.kind in "iu" and a.itemsize == 8 and a.size <= _FEW:
            enc.note_numbers(flat.tobytes())
        low, high = bounds(a.shape, a.strides, a.itemsize)
        enc.span("cpu", a.__array_interface__["data"][0] + low, high - low)
    return ["ndarray", leaf, descr, list(a.shape), list(a.strides), a.flags.writeable, "F" if fortran else "C"]


def encode_subclass(enc: Encoder, a: Any) -> Node:
    """An array of a class of the script's, pickled. numpy pickles no attributes."""
    if attributes_of(a):
        raise Refused(f"the attributes of a {name_of(type(a))}, which is an array, cannot be stored")
    from .data import encode_pickled

    return encode_pickled(enc, a)


def _whole(a: Any) -> Any:
    """Records as items without fields: numpy copies field by field, and what lies between would be anything."""
    return a.view(f"V{a.itemsize}") if a.dtype.names and a.itemsize else a


def bounds(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """Bytes before and after the first element that the elements of a non-empty array reach."""
    low, high = 0, itemsize
    for size, step in zip(shape, strides):
        if step < 0:
            low += (size - 1) * step
        else:
            high += (size - 1) * step
    return low, high


def numpy_module() -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        raise Refused("numpy is not imported")
    return numpy


def source(r: Restorer, node: Node) -> Any:
    """A read-only array over the leaf's bytes. Not to be kept."""
    numpy = numpy_module()
    dtype = dtype_from(node[2])
    if node[1] is None:
        return numpy.empty(node[3], dtype)
    flat = numpy.frombuffer(r.leaf(node[1]), dtype=dtype)
    return flat.reshape(node[3][::-1]).T if node[6] == "F" else flat.reshape(node[3])


def put(r: Restorer, node: Node, target: Any) -> None:
    """Copy the leaf into `target`, of the recorded shape and dtype."""
    _whole(target)[...] = _whole(source(r, node))


class Array(Kind):
    order = 0

    def check(self, m: Matcher, node: Node, index: int) -> None:
        count = 1
        for size in node[3]:
            count *= size
        numpy_module()
        if node[1] is not None:
            m.expect_bytes(node[1], count * dtype_from(node[2]).itemsize)

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        numpy = sys.modules.get("numpy")
        return (
            numpy is not None
            and type(live) is numpy.ndarray
            and live.dtype == dtype_from(node[2])
            and list(live.shape) == node[3]
            and list(live.strides) == node[4]
            and live.flags.writeable
            and node[5]
        )

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        numpy = numpy_module()
        dtype = dtype_from(node[2])
        array = r.memory.get(index)
        if array is None:
            low, high = bounds(node[3], node[4], dtype.itemsize) if node[1] is not None else (0, 0)
            memory = numpy.empty(high - low, numpy.uint8)
            array = numpy.ndarray(node[3], dtype, memory, -low, node[4])
            put(r, node, array)
        array.flags.writeable = node[5]
        return array

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        if r.live_of(index) is not None:
            put(r, node, obj)


class Objects(Kind):
    order = 1

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        numpy = sys.modules.get("numpy")
        if numpy is None or type(live) is not numpy.ndarray or not live.dtype.hasobject or list(live.shape) != node[2]:
            return False
        for value, item in zip(node[1], live.ravel().tolist()):
            m.pair(value, item)
        return True

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        return numpy_module().empty(node[2], object)

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        flat = numpy_module().empty(len(node[1]), object)
        for i, value in enumerate(node[1]):
            flat[i] = r.value(value)
        obj[...] = flat.reshape(node[2])


KINDS = {"ndarray": Array(), "objects": Objects()}
