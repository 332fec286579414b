"""torch tensors: both directions.

Node: `["tensor", leaf or null, dtype, shape, stride, device, flags, grad_fn, grad, attributes, raw]`
  flags    "p" a Parameter, "r" requires_grad
  grad_fn  class name of the autograd node of a non-leaf, else null
  grad     encoded `.grad`, null when absent or not asked for
  raw      true: the leaf is the memory from the first to the last element as it lies (dense in another order, or
           overlapping); false: the elements in C order
"""

from __future__ import annotations

import sys
from typing import Any

from .. import _native
from ..support.static import name_of
from . import hooks
from .autograd import with_history
from .kind import Kind
from .kinds import DeviceLeaf, Refused, torch_module, unguarded
from .objects import encode_attributes, fill_attributes, match_attributes
from .sparse import encode_sparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

HOST = "cpu"
DEFERRED = frozenset({"cuda"})
"""Types of devices whose memory is read later (`florc.staging`); that of others is copied at once."""


def extent(shape: Any, stride: Any) -> int:
    """Elements from the first to the last one in memory; 0 for an empty tensor."""
    span = 1
    for size, step in zip(shape, stride):
        if size == 0:
            return 0
        span += (size - 1) * step
    return span


def encode_unknown_tensor(enc: Encoder, t: Any) -> Node:
    raise Refused(f"a tensor of class {name_of(type(t))} cannot be stored as plain bytes")


def encode_tensor(enc: Encoder, t: Any) -> Node:
    torch = sys.modules["torch"]
    if t.layout is not torch.strided:
        return encode_sparse(enc, t)
    if t.is_quantized:
        raise Refused("a quantized tensor cannot be stored as plain bytes")
    grad_fn = t.grad_fn
    stored = t
    if t.is_neg() or t.is_complex() and t.is_conj():
        enc.copy()
        stored = t.detach().resolve_conj().resolve_neg()
    shape, stride, device = stored.shape, stored.stride(), str(stored.device)
    index, raw = (None, False) if device == "meta" else _stage(enc, stored, shape, stride, device)
    requires_grad = t.requires_grad
    flags = ("p" if type(t) is not torch.Tensor else "") + ("r" if requires_grad else "")
    grad = None
    if requires_grad and (grad_fn is None or t.retains_grad) and t.grad is not None:
        if not enc.gradients:
            enc.leaves_gradient()
        elif grad_fn is None:
            grad = enc.value(t.grad)
        else:
            raise Refused("it retains a gradient, which only its history could lead to")
    if requires_grad:
        enc.add_hooks(hooks.of_tensor(t))
    name = None if grad_fn is None else grad_fn.name().rsplit("::", 1)[-1]
    enc.histories += name is not None
    attributes = t.__dict__
    return [
        "tensor",
        index,
        str(t.dtype)[6:],
        list(shape),
        list(stride),
        device,
        flags,
        name,
        grad,
        encode_attributes(enc, attributes) if attributes else [],
        raw,
    ]


def _stage(enc: Encoder, t: Any, shape: Any, stride: Any, device: Any) -> Any:
    """The leaf of a tensor and whether it is raw memory. CPU memory that is dense is referred to, not copied."""
    size = t.element_size()
    count = t.numel()
    if count == 0:
        return None, False
    pointer = t.data_ptr()
    if not pointer:
        raise Refused("the memory of a tensor was given back, as FullyShardedDataParallel does between two passes")
    if t.is_contiguous():
        span, raw = count, False
    else:
        span = extent(shape, stride)
        raw = span <= count
    enc.span(device, pointer, span * size)
    if device != HOST:
        return _device_leaf(enc, t, raw, device, (device, pointer, span * size)), raw
    if not raw and span != count:
        enc.copy()
        return enc.leaf(_native.MemoryLeaf.of_tensor(t.detach().contiguous())), False
    return enc.memory(pointer, span * size, t), raw


def _device_leaf(enc: Encoder, t: Any, raw: Any, device: Any, key: Any) -> int:
    """The index of a leaf in a device's memory; dense tensors over the same memory have the same one.

    What is not dense is copied on the device, which waits for nothing.
    """
    enc.copy()
    dense = raw or t.is_contiguous()
    index = enc.device_leaves.get(key) if dense else None
    if index is None:
        size = t.element_size()
        flat = t.detach().as_strided((key[2] // size,), (1,)) if raw else t.detach().contiguous().reshape(-1)
        leaf: Any = DeviceLeaf(device, flat.view(torch_module().uint8), flat.numel() * size)
        if device.split(":", 1)[0] in DEFERRED:
            enc.device_bytes += leaf.nbytes
            index = enc.leaf(leaf)
        else:
            index = enc.leaf(leaf.read())
        if dense:
            enc.device_leaves[key] = index
    return index


def dtype_of(node: Node) -> Any:
    torch = torch_module()
    found = getattr(torch, node[2], None)
    return found if issubclass(type(found), torch.dtype) else None


def leaf_nbytes(node: Node) -> int:
    """Bytes the leaf of a tensor node must have."""
    count = 1
    for size in node[3]:
        count *= size
    return int((extent(node[3], node[4]) if node[10] else count) * dtype_of(node).itemsize)


def source(node: Node, data: Any) -> Any:
    """A CPU tensor over a leaf's bytes, with the recorded shape and, when raw, the recorded strides. Not to be kept."""
    torch = torch_module()
    dtype = dtype_of(node)
    flat = torch.frombuffer(unguarded(data), dtype=torch.uint8)
    if flat.data_ptr() % dtype.itemsize:
        flat = flat.clone()
    flat = flat.view(dtype)
    return flat.as_strided(node[3], node[4]) if node[10] else flat.reshape(node[3])


def fresh(r: Restorer, node: Node, index: int) -> Any:
    """New memory with the recorded values: dense tensors, overlapping ones, meta ones. No class, no gradient. Values that are
    read from the store are there when `r.bring` was called."""
    torch = torch_module()
    target = torch.empty_strided(node[3], node[4], dtype=dtype_of(node), device=torch.device(node[5]))
    return target if node[1] is None or index in r.waiting else put(r, node, target, is_apart=node[7] is None)


def put(r: Restorer, node: Node, target: Any, is_apart: bool = False, owner: Any = None) -> Any:
    """Copy the leaf into `target`, of the recorded shape and strides. `is_apart`: nothing else that is restored is in this
    memory, and nobody looks at it before `r.bring` was called: a large leaf may be read straight into it. `owner`: the program's
    tensor whose memory it is, where it had that before."""
    if node[1] is not None:
        memory = None if not is_apart or r.is_at_hand(node[1]) else memory_for(node, target)
        if memory is None:
            copy(node, r.leaf(node[1]), target)
        else:
            changes(target)
            r.brought.append((node[1], memory, id(owner)))
    return target


def memory_for(node: Node, target: Any) -> _native.MemoryLeaf | None:
    """The host memory of `target` into which the leaf's bytes go as they are; None where they do not."""
    if target.device.type != HOST or target.is_neg() or target.is_conj() or not _can_count(torch_module()):
        return None
    if node[10]:
        target = target.detach().as_strided((extent(node[3], node[4]),), (1,), target.storage_offset())
    elif not target.is_contiguous():
        return None
    return _native.MemoryLeaf.of_tensor(target, 0, leaf_nbytes(node))


def _can_count(torch: Any) -> bool:
    return hasattr(torch.autograd.graph, "increment_version")


def changes(tensor: Any) -> None:
    """Tell autograd that a tensor has other values, which torch did not write itself: a graph that needs the old ones says so."""
    torch_module().autograd.graph.increment_version(tensor)


def copy(node: Node, data: Any, target: Any) -> None:
    """Copy a leaf's bytes into `target`."""
    with torch_module().no_grad():
        value = source(node, data)
        if node[10]:
            span = (extent(node[3], node[4]),)
            target.as_strided(span, (1,), target.storage_offset()).copy_(value.as_strided(span, (1,), value.storage_offset()))
        else:
            target.copy_(value)


class Tensor(Kind):
    order = 0

    def check(self, m: Matcher, node: Node, index: int) -> None:
        torch = torch_module()
        if dtype_of(node) is None:
            raise Refused(f"this torch has no dtype {node[2]}")
        if node[5].startswith("cuda") and torch.device(node[5]).index >= torch.cuda.device_count():
            raise Refused(f"it was recorded on {node[5]}, which is not here")
        if node[1] is not None:
            m.expect_bytes(node[1], leaf_nbytes(node))

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        torch = sys.modules.get("torch")
        if torch is None or type(live) is not (torch.nn.Parameter if "p" in node[6] else torch.Tensor):
            return False
        if node[7] is not None or live.layout is not torch.strided or live.is_inference() or not live.is_leaf:
            return False
        fits = list(live.shape) == node[3] and str(live.dtype)[6:] == node[2] and str(live.device) == node[5]
        if not fits and "p" not in node[6]:
            return False
        if not fits or list(live.stride()) != node[4]:
            m.needs_memory.add(m.index)
        if node[8] is not None and live.requires_grad:
            m.pair(node[8], live.grad)
        match_attributes(m, node[9], live.__dict__)
        return True

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        torch = torch_module()
        data = r.memory.get(index)
        if data is None:
            data = fresh(r, node, index)
        if node[7] is not None:
            return with_history(data, node[7])
        if "p" in node[6]:
            return torch.nn.Parameter(data, requires_grad="r" in node[6])
        return data.requires_grad_() if "r" in node[6] else data

    @staticmethod
    def _repoint(obj: Any, data: Any) -> None:
        """Give a live tensor other memory; a gradient that does not fit it any more would stop the next step."""
        grad = obj.grad
        if grad is not None and (grad.shape, grad.dtype, grad.device) != (data.shape, data.dtype, data.device):
            obj.grad = None
        obj.data = data

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        if r.live_of(index) is not None:
            data = r.memory.get(index)
            if data is not None:
                self._repoint(obj, data)
            elif index in r.waiting:
                changes(obj)
            else:
                put(r, node, obj.detach(), is_apart=index not in r.shared, owner=obj)
            if node[7] is None and obj.requires_grad != ("r" in node[6]):
                obj.requires_grad_("r" in node[6])
        if node[9] or obj.__dict__:
            fill_attributes(r, node[9], obj.__dict__)
        if r.gradients and "r" in node[6] and node[7] is None:
            obj.grad = r.value(node[8])


KINDS = {"tensor": Tensor()}
