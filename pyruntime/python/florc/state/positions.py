"""Iterators that are under way, where what they will give out is there already: those of lists, tuples and ranges, and the
indices that torch's samplers have drawn. Both directions.

Nodes: `["at", list, index]`, both null for one that has nothing more to give; `["batches", sampler, indices]`, a
`BatchSampler` that goes on with these; `["drawn", sampler, generator, indices]`, a `RandomSampler` or `WeightedRandomSampler` in
the middle of what it drew: the first draws once more from its generator when that is over.

An iterator of Python's own is moved in place, whoever holds it. A generator cannot be put into the middle of its code: another
one, of the functions below, gives out the same. Only an iterator over a data loader may hold such a one (`loading`)."""

from __future__ import annotations

import sys
import types

from .. import _native
from ..support.static import defines, is_begun
from . import suspended
from .equal import same_value
from .kind import Kind
from .kinds import OF_PYTHON, Refused
from .references import encode_opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer

_END = sys.maxsize


def encode_position(enc: Encoder, obj: Any) -> Node:
    reduced: Any = obj.__reduce__()
    of = reduced[1][0]
    if len(reduced) < 3 and not of:  # it has let go of what it was over; one at the end of a list goes on when that grows
        return ["at", None, None]
    return ["at", enc.value(of), reduced[2] or 0 if len(reduced) > 2 else 0]  # of a range, Python 3.12 tells only what is left


class Position(Kind):
    """An iterator of Python's own."""

    order = 3

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if type(live) not in OF_PYTHON:
            return False
        if node[1] is not None:
            m.pair(node[1], live.__reduce__()[1][0])
        return True

    def check(self, m: Matcher, node: Node, index: int) -> None:
        if node[2] is not None and type(node[2]) is not int:
            raise Refused("the checkpoint is damaged: an iterator is nowhere")

    immutable = True

    def parts(self, node: Node) -> Iterable[Any]:
        return (node[1],)

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        live, of, at = r.live_of(index), r.value(node[1]), node[2]
        if live is not None and at is not None:
            own = live.__reduce__()[1][0]
            if not _is_same(own, of):
                at = _further(own, of, at) if type(own) is type(of) is range else None
                if at is None:
                    raise Refused("an iterator cannot be moved: it is one of another list here")
        made = live if live is not None else iter([] if node[1] is None else of)  # a list, which is filled later
        r.last(lambda: _move(made, at))
        return made


def _is_same(own: Any, of: Any) -> bool:
    """Whether it makes no difference over which of two objects an iterator is. A tuple may have been made anew."""
    return bool(own == of) if type(own) is range else same_value(own, of)


def _further(own: range, of: range, at: int) -> int | None:
    """How far to move an iterator that has `own` left, until it has what follows the first `at` of `of`. None where that is no
    part of `own`: from Python 3.12 on, an iterator over a range knows only what is left of it, and cannot go back."""
    rest = of[at:]
    found = len(own) - len(rest)
    return found if found >= 0 and own[found:] == rest else None


def _move(iterator: Any, index: int | None) -> None:
    iterator.__setstate__(_END if index is None else index)
    if index is None:
        next(iterator, None)


# -- samplers of torch ---------------------------------------------------------------------------------------------------


def _batches(sampler: Any, indices: Iterator[int]) -> Iterator[Any]:
    """What a `BatchSampler` gives out that has taken so many indices."""
    rest = object.__new__(type(sampler))
    rest.__dict__.update(sampler.__dict__, sampler=indices)
    yield from type(sampler).__iter__(rest)


def _drawn(sampler: Any, generator: Any, indices: Iterator[int]) -> Iterator[int]:
    """What a sampler gives out that has drawn these indices."""
    yield from indices
    if generator is not None:  # whether or not anything is left to be drawn
        sys.modules["torch"].randperm(len(sampler.data_source), generator=generator)


def _frame_of(generator: Any, cls: Any) -> Any:
    """The names in a generator of a sampler's class; None where it is another one."""
    frame = generator.gi_frame
    is_own = frame is not None and frame.f_code is getattr(cls.__dict__.get("__iter__"), "__code__", None)
    return _native.names_of(frame) if is_own else None


def encode_generator(enc: Encoder, obj: Any) -> Node:
    found = _of_florc(obj) or (_of_torch(obj) if is_begun(obj) else None)
    if found is None:
        return suspended.encode_suspended(enc, obj) or encode_opaque(enc, obj)
    enc.rebuilt.append(enc.current)
    kind, *parts = found
    return [kind, *map(enc.value, parts)]


def _of_florc(obj: Any) -> tuple[Any, ...] | None:
    frame = obj.gi_frame
    if frame is None or frame.f_code not in (_batches.__code__, _drawn.__code__):
        return None
    own = _native.names_of(frame)
    if frame.f_code is _drawn.__code__:
        return "drawn", own["sampler"], own["generator"], own["indices"]
    return "batches", own["sampler"], own["indices"]


def is_known(source: Any) -> bool:
    """Whether an iterator that gives out indices can be put back: else what takes from it cannot, either."""
    if type(source) is types.GeneratorType:
        return bool(_of_florc(source) or is_begun(source) and _of_torch(source))
    return defines(type(source), "__next__")


def _of_torch(obj: Any) -> tuple[Any, ...] | None:
    samplers: Any = sys.modules.get("torch.utils.data.sampler")
    if samplers is None:
        return None
    own = _frame_of(obj, samplers.BatchSampler)
    if own is not None and is_known(own["sampler_iter"]):
        return "batches", own["self"], own["sampler_iter"]
    own = _frame_of(obj, samplers.RandomSampler)
    if own is not None and type(obj.gi_yieldfrom) is OF_PYTHON[0]:
        sampler = own["self"]
        if sampler.replacement or sampler.num_samples != own["n"]:
            return None
        return "drawn", sampler, own["generator"], obj.gi_yieldfrom
    own = _frame_of(obj, samplers.WeightedRandomSampler)
    if own is not None and type(obj.gi_yieldfrom) is OF_PYTHON[0]:
        return "drawn", own["self"], None, obj.gi_yieldfrom
    return None


class Drawing(Kind):
    """A generator of a sampler: always another one."""

    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        found = _of_florc(live) or (_of_torch(live) if type(live) is types.GeneratorType and is_begun(live) else None)
        if found is None or found[0] != node[0]:
            return False
        for encoded, part in zip(node[1:], found[1:]):
            m.pair(encoded, part)
        return False

    def parts(self, node: Node) -> Iterable[Any]:
        return node[1:]

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        made: Any = {"batches": _batches, "drawn": _drawn}[node[0]]
        return made(*map(r.value, node[1:]))


ENCODERS: dict[type, Encode] = {**dict.fromkeys(OF_PYTHON, encode_position), types.GeneratorType: encode_generator}
KINDS = {**suspended.KINDS, "at": Position(), "batches": Drawing(), "drawn": Drawing()}
