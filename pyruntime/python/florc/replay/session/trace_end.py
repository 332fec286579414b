"""The record of a run may end before the run does. Nothing proves what a replay computes after that."""

from __future__ import annotations

from collections.abc import Sequence

from ...runs.journal import History
from ...runs.timeline import outermost
from ...trackers.point import Point
from .capture import Value


def described(history: History, ended_in: str, is_vouched: bool) -> str:
    """`the record was cut off after epoch=4`; empty if the record goes as far as the script. `ended_in`: where the replay ended
    before the script; `is_vouched`: whether the journal covers everything that the replay ran."""
    if ended_in and history.interrupted and history.run.status != "interrupted":
        return "the recorded run caught a Ctrl-C, and what it did from there on is not answered"
    if is_vouched:
        return ""
    if history.is_interrupted_in_block:
        return "the recorded run got a Ctrl-C in a loop whose iterations it did not note, and from there on nothing is known"
    last = outermost(history.last_path)
    loop = history.timeline.loops.get(str(last.place))
    if loop is not None and loop.ended and last.index is not None:  # the last one that is noted may turn out to be none
        last = last.at(min(last.index, loop.count - 1))
    what = "is damaged" if history.reader.damaged else "was cut off" if history.is_cut else "ends"
    return f"the record {what} {f'after {history.iteration(str(last))}' if last else 'before its first iteration'}"


def before(history: History, values: Sequence[Value | Point]) -> int:
    """How many of the values, in their order, were printed before that: up to the last value of a loop that the record
    knows."""
    places = [outermost(value.path) for value in values]
    end = next((at for at, place in enumerate(places) if history.is_beyond(place)), len(values))
    known = [
        at for at, place in enumerate(places[:end], 1) if place.index is not None and str(place.place) in history.timeline.loops
    ]
    return max(known, default=0)
