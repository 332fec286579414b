"""The data that datasets hold is not part of a checkpoint: on replay it is expected to be there. Has a block replaced it?

A dataset that fills a cache, or opens its next file, holds other data after a block than before it. florc compares which
objects hold which data, by address. Weak references tell whether data was dropped in between.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from ..support.light import Uncollected
from . import classify
from .encode import Encoder
from .kinds import Refused


class Held(NamedTuple):
    """The data of one object."""

    owner: Any
    data: list[Any]
    """For each: a weak reference, or the object where there is none."""


def held_by(values: dict[str, Any]) -> dict[int, Held] | None:
    """Which data the datasets, samplers and loaders among `values` hold, by the holder's address; None if unknown."""
    light = {name: value for name, value in values.items() if _is_light(value)}
    if not light:
        return None
    encoder = Encoder()
    try:
        with Uncollected():
            encoder.roots(light, frozenset())
            encoder.run_light()
    except Refused:
        return None
    if encoder.is_cut:
        return None
    # Containers without anything are listed, too: a cache may be empty before.
    found = {id(owner): Held(owner, []) for owner in encoder.objects()}
    for parent, child in encoder.kept:
        found[id(encoder.object(parent))].data.append(_reference(child))
    return found


def exchanged(before: dict[int, Held] | None, encoder: Encoder) -> str | None:
    """The class of an object whose data is not what it was before."""
    if before is None or encoder.is_cut:
        return None
    now: dict[int, list[Any]] = {id(owner): [] for owner in encoder.objects() if id(owner) in before}
    for parent, child in encoder.kept:
        now.get(id(encoder.object(parent)), []).append(child)
    for address, data in now.items():
        held = before[address]
        present = [_object(reference) for reference in held.data]
        # What is state is in the checkpoint.
        was = [value for value in present if value is None or encoder.number(value) is None]
        if len(was) != len(data) or any(a is not b for a, b in zip(was, data)):
            return type(held.owner).__name__
    return None


def _is_light(value: Any) -> bool:
    kind = type(value)
    handler = classify.HANDLERS.get(kind) or classify.learn(kind, value)
    return handler in classify.LIGHT


def _reference(value: Any) -> Any:
    try:
        return weakref.ref(value)
    except TypeError:
        return value


def _object(reference: Any) -> Any:
    return reference() if type(reference) is weakref.ref else reference
