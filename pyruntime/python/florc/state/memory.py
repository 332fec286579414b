"""Tensors and arrays that overlap in memory: found when encoding, and kept or made again when restoring.

The graph's `"shared"` is a list of groups `[[node, offset in bytes from the lowest one], …]`. The members of a group
overlap, directly or through another member.
"""

from __future__ import annotations

import sys

from . import arrays, tensors
from .atoms import dtype_from
from .kinds import Refused, torch_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer

ALIGNMENT = 16


def _runs(spans: list[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    """Spans (device, address, bytes, node, item bytes) in runs that overlap."""
    runs: list[list[tuple[Any, ...]]] = []
    device, end = None, 0
    for span in sorted(spans):
        if span[0] == device and span[1] < end:
            runs[-1].append(span)
            end = max(end, span[1] + span[2])
        else:
            runs.append([span])
            device, end = span[0], span[1] + span[2]
    return runs


def _live_span(node: Node, index: int, live: Any) -> tuple[Any, ...]:
    if node[0] == "tensor":
        size = live.element_size()
        return str(live.device), live.data_ptr(), tensors.extent(live.shape, live.stride()) * size, index, size
    low, high = arrays.bounds(live.shape, live.strides, live.itemsize)
    return "cpu", live.__array_interface__["data"][0] + low, high - low, index, live.itemsize


def plan(m: Matcher) -> None:
    """Compare how live memory is shared with how it was; decide which objects get new memory.

    Fills `m.needs_memory` (tensors whose data is replaced), takes live arrays that cannot be re-pointed out of the
    match, and `m.anchors`: group -> a live tensor of it over whose storage missing members are laid.
    """
    groups = m.document["shared"]
    group_of = {index: number for number, group in enumerate(groups) for index, _ in group}
    spans: dict[int, tuple[Any, ...]] = {}
    for index, node in enumerate(m.nodes):
        if node[0] in ("tensor", "ndarray") and node[1] is not None and m.live[index] is not None:
            spans[index] = _live_span(node, index, m.live[index])
    apart = set(m.needs_memory)
    for run in _runs([span for span in spans.values() if span[2]]):
        if len({group_of.get(span[3], -1 - span[3]) for span in run}) > 1:
            apart.update(span[3] for span in run)
    for number, group in enumerate(groups):
        _plan_group(m, number, group, spans, apart)
    for index in apart:
        _replace(m, index)


def _plan_group(m: Matcher, number: int, group: list[Any], spans: dict[int, tuple[Any, ...]], apart: set[Any]) -> None:
    matched = [(index, offset) for index, offset in group if index in spans]
    bases = {(spans[index][0], spans[index][1] - offset) for index, offset in matched}
    broken = len(bases) > 1 or any(index in apart for index, _ in matched)
    if not broken and len(matched) < len(group):
        anchors = [pair for pair in matched if m.nodes[pair[0]][0] == "tensor"]
        if anchors and _fits(m, group, anchors[0]):
            m.anchors[number] = anchors[0]
        else:
            broken = True
    if broken:
        apart.update(index for index, _ in matched)


def _fits(m: Matcher, group: list[Any], anchor: tuple[int, int]) -> bool:
    """Whether every member lies inside the storage of the anchor."""
    live = m.live[anchor[0]]
    start = live.storage_offset() * live.element_size() - anchor[1]
    size = live.untyped_storage().nbytes()
    return all(
        start + offset >= 0 and start + offset + _bytes(m.nodes[index]) <= size and (start + offset) % _item(m.nodes[index]) == 0
        for index, offset in group
    )


def _replace(m: Matcher, index: int) -> None:
    if m.nodes[index][0] == "tensor":
        m.needs_memory.add(index)
    else:
        m.live[index] = None


def _item(node: Node) -> int:
    dtype = tensors.dtype_of(node) if node[0] == "tensor" else dtype_from(node[2])
    return int(dtype.itemsize)


def _bytes(node: Node) -> int:
    if node[0] == "tensor":
        return tensors.extent(node[3], node[4]) * _item(node)
    low, high = arrays.bounds(node[3], node[4], _item(node))
    return high - low


def build(r: Restorer, m: Matcher) -> None:
    """Make the new memory that `plan` asked for: `r.memory[node]` is a tensor or array over it. Changes nothing live."""
    grouped: set[int] = set()
    for number, group in enumerate(m.document["shared"]):
        missing = [pair for pair in group if m.live[pair[0]] is None or pair[0] in m.needs_memory]
        grouped.update(index for index, _ in group)
        if missing and number in m.anchors:
            _over_live(r, m, missing, m.anchors[number])
        elif missing:
            _over_new(r, m, group)
    for index in m.needs_memory - grouped:
        r.memory[index] = tensors.fresh(r, m.nodes[index], index)


def _over_new(r: Restorer, m: Matcher, group: list[Any]) -> None:
    items = [(offset, _item(m.nodes[index])) for index, offset in group]
    pads = [pad for pad in range(ALIGNMENT) if all((pad + offset) % item == 0 for offset, item in items)]
    if not pads:
        raise Refused("tensors of different types share memory in a way that cannot be made again")
    total = pads[0] + max(offset + _bytes(m.nodes[index]) for index, offset in group)
    on = [m.nodes[index][5] for index, _ in group if m.nodes[index][0] == "tensor"]
    if on:
        flat = torch_module().empty(total, dtype=torch_module().uint8, device=on[0])
    else:
        flat = arrays.numpy_module().empty(total, arrays.numpy_module().uint8)
    for index, offset in group:
        r.memory[index] = view = _view(m.nodes[index], flat, pads[0] + offset)
        _write(r, m.nodes[index], view)


def _over_live(r: Restorer, m: Matcher, missing: list[Any], anchor: tuple[int, int]) -> None:
    """Views over live storage; their bytes are written later, when filling begins."""
    live = m.live[anchor[0]]
    start = live.storage_offset() * live.element_size() - anchor[1]
    torch = torch_module()
    flat = torch.empty(0, dtype=torch.uint8, device=live.device).set_(live.untyped_storage())
    for index, offset in missing:
        node = m.nodes[index]
        r.memory[index] = view = _view(node, flat, start + offset)
        r.first.append(_writes(r, node, view))


def _writes(r: Restorer, node: Node, view: Any) -> Callable[[], None]:
    return lambda: _write(r, node, view)


def _view(node: Node, flat: Any, offset: int) -> Any:
    """An object of the node's shape over `flat` (bytes), its lowest element at byte `offset`."""
    if node[0] == "tensor":
        dtype = tensors.dtype_of(node)
        empty = torch_module().empty(0, dtype=dtype, device=flat.device)
        return empty.set_(flat.untyped_storage(), offset // dtype.itemsize, node[3], node[4])
    if "torch" in sys.modules and not issubclass(type(flat), arrays.numpy_module().ndarray):
        flat = flat.numpy()
    dtype = dtype_from(node[2])
    low, _ = arrays.bounds(node[3], node[4], dtype.itemsize)
    return arrays.numpy_module().ndarray(node[3], dtype, flat, offset - low, node[4])


def _write(r: Restorer, node: Node, view: Any) -> None:
    if node[0] == "tensor":
        tensors.put(r, node, view)
    else:
        arrays.put(r, node, view)
