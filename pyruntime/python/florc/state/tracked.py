"""Objects of libraries with attributes that no other process can have: addresses of objects that they hold, too, functions that
they make when they have none. Trackers of Keras's layers, its optimizers and models, modules of Lightning that log metrics.

Node: `["tracked", …]` as of an object, `["tracked.Module", …]` as of a module, without these attributes: what is restored finds
them again, or keeps its own.
"""

from __future__ import annotations

import sys

from .kinds import KEPT, Refused, type_name
from .modules import Module, encode_module, is_metric
from .objects import Object, encode_object, instance_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher
    from .restore import Restorer


def _in_stores(tracker: Any) -> dict[str, set[int]]:
    """`config`: name -> (predicate, list of objects)."""
    return {name: set(map(id, store)) for name, (_, store) in instance_dict(tracker)["config"].items()}


def _of_variables(optimizer: Any) -> dict[int, int]:
    return {id(variable): index for index, variable in enumerate(instance_dict(optimizer).get("_trainable_variables") or ())}


def _of_metrics(module: Any) -> dict[int, str]:
    parts = sys.modules["torch"].nn.Module.named_modules(module)
    return {id(part): name for name, part in parts if is_metric(type(part))}


def _own(name: str) -> Callable[[Any], Any]:
    return lambda obj: instance_dict(obj).get(name)


_MADE_WHEN_ASKED = ("train_function", "test_function", "predict_function")
_OF_EPOCH = ("keras.src.trainers.epoch_iterator", "EpochIterator")
_MADE_BY_EPOCH = ("_current_iterator", "_epoch_iterator")
"""Iterators that are made anew for each epoch, unless `steps_per_epoch` is given."""
THERE_OR_NOT = frozenset([*_MADE_WHEN_ASKED, *_MADE_BY_EPOCH, "_iterator"])
"""Attributes, and that of data loaders, that one process may have when another one has not."""
_APART: dict[tuple[str, str], dict[str, Callable[[Any], Any] | None]] = {
    ("keras.src.utils.tracking", "Tracker"): {"stored_ids": _in_stores},
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer"): {"_trainable_variables_indices": _of_variables},
    ("keras.src.ops.function", "Function"): {"_nodes": None},
    ("keras.src.trainers.trainer", "Trainer"): {name: _own(name) for name in _MADE_WHEN_ASKED},
    ("keras.src.callbacks.callback_list", "CallbackList"): {"_futures": lambda _: []},
    _OF_EPOCH: {name: _own(name) for name in _MADE_BY_EPOCH},
    ("lightning.pytorch.core.module", "LightningModule"): {"_metric_attributes": _of_metrics},
    ("pytorch_lightning.core.module", "LightningModule"): {"_metric_attributes": _of_metrics},
}
"""Class -> the attributes that no checkpoint holds, and how each is worked out of the object; None: there has to be one. Tried
with Keras 3.15 and Lightning 2.6."""


_MOST_S = 1.0
"""So long is waited for a callback. It may wait for something itself; what takes longer makes the block run again."""


def _of(kind: type) -> dict[str, Callable[[Any], Any] | None]:
    bases = type.__dict__["__mro__"].__get__(kind)
    return {name: again for base in bases for name, again in _APART.get(type_name(base), {}).items()}


def is_tracked(kind: type) -> bool:
    """Whether objects of a class have such attributes."""
    return bool(_of(kind))


def encode_tracked(enc: Encoder, obj: Any) -> Node:
    return _without(enc, obj, "tracked", encode_object)


def encode_tracked_module(enc: Encoder, obj: Any) -> Node:
    return _without(enc, obj, "tracked.Module", encode_module)


def _without(enc: Encoder, obj: Any, kind: str, encode: Callable[[Encoder, Any], Node]) -> Node:
    own, apart = instance_dict(obj), _of(type(obj))
    if own.get("steps_per_epoch") is not None and any(type_name(base) == _OF_EPOCH for base in type(obj).__mro__):
        apart = {}
    if "_futures" in apart:
        _wait_for(own.get("_futures", ()))
    # what is worked out of the object is None until somebody needs it
    hidden = {name for name, again in apart.items() if name in own and (again is None or own[name] is not None)}
    blind = _Blind(enc, {id(own[name]) for name in hidden if own[name] is not None})
    node = encode(blind, obj)  # type: ignore[arg-type]  # all that these ask for
    named = zip(node[3][0::2], node[3][1::2])
    return [kind, *node[1:3], [part for name, value in named for part in (name, KEPT if name in hidden else value)], *node[4:]]


def _wait_for(futures: Sequence[Any]) -> None:
    """Until the callbacks are done that Keras gave to a thread for a batch: it waits for them itself when the epoch ends."""
    running = [future for future in futures if not future.done()]
    if running:
        from concurrent.futures import wait

        if wait(running, timeout=_MOST_S).not_done:
            raise Refused("callbacks of Keras are still running in a thread")


class _Blind:
    """An encoder that does not see some objects."""

    def __init__(self, enc: Encoder, hidden: set[int]):
        self._enc, self._hidden, self.add_hooks = enc, hidden, enc.add_hooks

    def value(self, part: Any) -> Any:
        return KEPT if id(part) in self._hidden else self._enc.value(part)

    def part(self, part: Any) -> Any:
        return KEPT if id(part) in self._hidden else self._enc.part(part)


def _find_again(r: Restorer, node: Node, obj: Any) -> None:
    kept = {name for name, value in zip(node[3][0::2], node[3][1::2]) if value == KEPT}
    own: Any = instance_dict(obj)

    def find() -> None:
        own.update({name: again(obj) for name, again in _of(type(obj)).items() if again is not None and name in kept})

    if kept:
        r.last(find)


class Tracked(Object):
    """An object, with the addresses that others have in this process."""

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        found = m.find_class(node[1], node[2], node[0])
        apart = _of(found) if found is not None else {}
        named = zip(node[3][0::2], node[3][1::2])
        own = [part for name, value in named if apart.get(name) is None for part in (name, value)]
        super().check_new(m, [*node[:3], own, *node[4:]], index)

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        super().fill(r, node, obj, index)
        _find_again(r, node, obj)


class TrackedModule(Module):
    """The same of a module."""

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        super().fill(r, node, obj, index)
        _find_again(r, node, obj)


KINDS = {"tracked": Tracked(), "tracked.Module": TrackedModule()}
