"""Arguments of a call as bytes: tensors and arrays as they are now, everything else pickled.

A record is a table (how many pieces; offset and bytes of each), a pickle, and the pieces. Tensors and arrays in the pickle are
numbers of pieces, so a large one is copied once, from where it lies to where the other side reads it.
"""

from __future__ import annotations

import ctypes
import io
import pickle
import struct
import sys
import threading
from collections.abc import Sequence
from typing import Any

from .memory import aligned

_KNOWN = frozenset(
    ("builtins", "collections", "copyreg", "datetime", "decimal", "fractions", "google", "numpy", "pathlib", "PIL", "tensorboard")
    + ("tensorboardX", "torch", "uuid")
)
"""Packages whose objects the other process can make again: a class of the script's own is not there."""
_reading = threading.local()
"""While this thread reads a record: its `pieces`."""


class NotCopied(Exception):
    """Something among the arguments has to be seen to by the caller's own thread."""


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, leaves: list[Any]):
        super().__init__(file, protocol=5)
        self._leaves = leaves
        self._torch: Any = getattr(sys.modules.get("torch"), "Tensor", None)
        self._numpy: Any = getattr(sys.modules.get("numpy"), "ndarray", None)

    def reducer_override(self, given: Any) -> Any:
        kind = type(given)
        if self._torch is not None and isinstance(given, self._torch):
            leaf = _plain_tensor(given)
            self._leaves.append(leaf)
            about = (len(self._leaves) - 1, str(leaf.dtype).rpartition(".")[2], tuple(leaf.shape), given.requires_grad)
            return _tensor, about
        if kind is self._numpy and not given.dtype.hasobject and given.dtype.names is None:
            self._leaves.append(given)
            return _array, (len(self._leaves) - 1, given.dtype.str, given.shape)
        named = given if isinstance(given, type) or callable(given) else kind
        if str(getattr(named, "__module__", None)).partition(".")[0] not in _KNOWN and named not in (_tensor, _array):
            raise NotCopied(f"{kind.__module__}.{kind.__qualname__}")
        return NotImplemented


class Record:
    """A call on its way. `nbytes`: what it needs; `devices`: of its tensors that are not in host memory."""

    def __init__(self, call: Any):
        """Raises NotCopied."""
        self.leaves: list[Any] = []
        out = io.BytesIO()
        try:
            _Pickler(out, self.leaves).dump(call)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
            raise NotCopied(str(error)) from None
        self._pickled = out.getbuffer()
        self._table = [_SIZE.size * (1 + 2 + 2 * len(self.leaves)), len(self._pickled)]
        end = aligned(sum(self._table))
        for leaf in self.leaves:
            self._table += (end, leaf.nbytes)
            end = aligned(end + leaf.nbytes)
        self.nbytes = end
        self.on_device = [at for at, leaf in enumerate(self.leaves) if getattr(leaf, "is_cuda", False)]

    def offset(self, leaf: int) -> int:
        """Where a tensor or array lies in the record."""
        return self._table[2 + 2 * leaf]

    def write(self, target: memoryview, address: int) -> None:
        """Copy everything that is in host memory to where `target` begins, at this address."""
        struct.pack_into(f"<{1 + len(self._table)}Q", target, 0, len(self.leaves), *self._table)
        start = self._table[0]
        target[start : start + len(self._pickled)] = self._pickled
        for at, leaf in enumerate(self.leaves):
            if leaf.nbytes and at not in self.on_device:
                offset = self.offset(at)
                _copy(leaf, target[offset : offset + leaf.nbytes], address + offset)


_SIZE = struct.Struct("<Q")


def read(record: memoryview) -> Any:
    """The call of a record. Its tensors and arrays are the record's own memory: it has to stay until the call is over."""
    (count,) = _SIZE.unpack_from(record)
    table = struct.unpack_from(f"<{2 * count + 2}Q", record, _SIZE.size)
    pieces = [record[start : start + size] for start, size in zip(table[::2], table[1::2])]
    _reading.pieces = pieces[1:]
    try:
        return pickle.loads(pieces[0])
    finally:
        del _reading.pieces


def _plain_tensor(tensor: Any) -> Any:
    """A tensor of which the bytes are all that there is to it, without its gradient's history. Raises NotCopied."""
    torch: Any = sys.modules["torch"]
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise NotCopied(type(tensor).__qualname__)
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        raise NotCopied(f"a tensor of {tensor.layout} on {tensor.device}")
    tensor = tensor.detach()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    return tensor if tensor.device.type in ("cpu", "cuda") else tensor.cpu()


def _copy(leaf: Any, target: memoryview, address: int) -> None:
    """The elements of a tensor or an array, in the order of its indices."""
    if hasattr(leaf, "data_ptr"):
        if leaf.is_contiguous():
            ctypes.memmove(address, leaf.data_ptr(), leaf.nbytes)
        else:
            sys.modules["torch"].frombuffer(target, dtype=leaf.dtype).view(leaf.shape).copy_(leaf)
    elif leaf.flags.c_contiguous:
        ctypes.memmove(address, leaf.__array_interface__["data"][0], leaf.nbytes)
    else:
        numpy: Any = sys.modules["numpy"]
        numpy.copyto(numpy.frombuffer(target, dtype=leaf.dtype).reshape(leaf.shape), leaf)


def _tensor(piece: int, dtype: str, shape: Sequence[int], requires_grad: bool) -> Any:
    torch: Any = sys.modules["torch"]
    kind = getattr(torch, dtype)
    data = _reading.pieces[piece]
    made = torch.frombuffer(data, dtype=kind).view(shape) if len(data) else torch.empty(shape, dtype=kind)
    return made.requires_grad_() if requires_grad else made


def _array(piece: int, dtype: str, shape: Sequence[int]) -> Any:
    numpy: Any = sys.modules["numpy"]
    return numpy.frombuffer(_reading.pieces[piece], dtype=dtype).reshape(shape)


Call = tuple[str, tuple[Any, ...], dict[str, Any]]
"""Name of a method, and what it is given."""
