"""Small values that a block leaves in names which the script reads no more: kept beside its state, so that a statement that is
added after the block (`print(epoch_loss, i, outputs.shape)`) is answered from the checkpoint.

Only what nothing else can change is kept: numbers, short texts, flat tuples of them, and tensors and arrays that own their few
bytes. Of larger tensors and arrays the form is kept, which is all that `outputs.shape` asks for.
"""

from __future__ import annotations

import sys
from types import FrameType

from .. import _native
from ..plan import places
from ..support.light import suppress
from ..support.static import same_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .. import _native

    Form = list[Any]
    """`["torch", shape, dtype]` or `["numpy", shape, dtype]`."""

MOST_BYTES = 1000
"""So many bytes of them a checkpoint keeps."""
_MOST_NAMES = 64
_ATOMS = (bool, int, float, complex, type(None))
_MAYBE_ADDRESSES = range(1 << 40, 1 << 48)
"""A checkpoint that holds an address (src/encode/addresses.rs), or its hash, is none: a name that nobody reads is not worth
that."""
_MOST_DIGITS = 12
"""Texts with more of them may hold one."""
_ATOM_BYTES = 8
_FORM_BYTES = 32
_HOLDERS = 3
"""References to an object that only the script's name holds: that one, the one here, the question's. Of a function, its names are
in a dict here that holds another."""
_STORAGE_HOLDERS = 2
"""Of the memory of a tensor: the tensor, and what is asked here."""


def of_block(loop: _native.Loop, frame: FrameType) -> tuple[dict[str, Any], dict[str, Form]]:
    """Of the names that a block bound and nothing reads: the small values, and the forms of larger ones."""
    values: dict[str, Any] = {}
    forms: dict[str, Form] = {}
    room = MOST_BYTES
    taken = {place.name for place in loop.places}
    own = _native.names_of(frame)
    holders = _HOLDERS + (own is not frame.f_globals)
    for name in [name for name in loop.binds if name not in taken][:_MOST_NAMES]:
        value = places.read(frame, name, False, own)
        if value is places.unbound:
            continue
        with suppress(Exception):  # what a wrapper of torch refuses to tell
            size, form = _nbytes(value), _form_of(value)
            is_kept = size is not None and size <= room
            if is_kept and form is not None:
                is_kept = sys.getrefcount(value) <= holders and _is_alone(value)
            if is_kept and size is not None:
                values[name] = value
                room -= size
            elif form is not None and room >= _FORM_BYTES:
                forms[name] = form
                room -= _FORM_BYTES
    return values, forms


def known_by_place(loop: _native.Loop, found: dict[str, Any]) -> list[str]:
    """Names that are places for the sake of what their objects hold (`total += 1` may change a list), and hold a mere value."""
    names = set(loop.binds).intersection(place.name for place in loop.places if not place.bound and not place.iterated)
    return [name for name in sorted(names) if same_class(type(found.get(name, loop)), (*_ATOMS, str))]


def _nbytes(value: Any) -> int | None:
    """Bytes that a value takes in a checkpoint; None where it is none of those that are kept."""
    kind = type(value)
    if kind is int:
        return _ATOM_BYTES if abs(value) < _MAYBE_ADDRESSES.stop and abs(value) not in _MAYBE_ADDRESSES else None
    if same_class(kind, _ATOMS):
        return _ATOM_BYTES
    if kind is str:
        may_hold = "0x" in value or sum(map(str.isdigit, value)) > _MOST_DIGITS
        return None if may_hold else len(value) * 4
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if kind is tuple or kind is getattr(torch, "Size", None):
        sizes = [_nbytes(item) if same_class(type(item), (*_ATOMS, str)) else None for item in value[:_MOST_NAMES]]
        known = [size for size in sizes if size is not None]
        return sum(known) + _ATOM_BYTES if len(known) == len(value) else None
    if kind is getattr(torch, "Tensor", None):
        is_plain = value.layout is torch.strided and not value.is_quantized and value.is_contiguous() and not value.__dict__
        if not is_plain or value.is_neg() or value.is_complex() and value.is_conj() or value.device.type not in ("cpu", "cuda"):
            return None
        return int(value.untyped_storage().nbytes()) + _FORM_BYTES
    if kind is getattr(numpy, "ndarray", None):
        return value.nbytes + _FORM_BYTES if value.dtype.kind in "biufc" else None
    if numpy is not None and issubclass(kind, getattr(numpy, "generic", ())) and value.dtype.kind in "biufc":
        return int(value.nbytes) + _FORM_BYTES
    return None


def _is_alone(value: Any) -> bool:
    """Whether no other tensor or array lies in the same memory: what changes it later would not change a restored one."""
    if type(value).__module__ == "numpy":
        return value.base is None
    count = getattr(sys.modules["torch"]._C, "_storage_Use_Count", None)
    return count is not None and count(value.untyped_storage()._cdata) <= _STORAGE_HOLDERS


def _form_of(value: Any) -> Form | None:
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if type(value) is getattr(torch, "Tensor", None) and value.layout is torch.strided and not value.is_quantized:
        return ["torch", list(value.shape), str(value.dtype)[6:]]
    if type(value) is getattr(numpy, "ndarray", None) and value.dtype.kind in "biufc":
        return ["numpy", list(value.shape), value.dtype.str]
    return None
