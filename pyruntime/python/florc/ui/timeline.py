"""When a recorded run did what: its loops, their iterations, the blocks in them, and the checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import _native
from ..runs.journal import History
from .places import Places

_MOST = 1_000
"""Bars of a lane; of more, neighbours are drawn as one."""


def of_rank(history: History, rank: int) -> dict[str, Any]:
    """What one of several ranks did: of those that a launcher started, or that the script did. `ranks`: how many there are."""
    if len(history.together) > 1:
        rank = min(rank, len(history.together) - 1)
        return {**of(history.together[rank]), "ranks": len(history.together), "rank": rank}
    if not history.spawned:
        return {**of(history), "ranks": 0, "rank": 0}
    ranks = 1 + max(one.run.rank for one in history.spawned)
    rank = min(rank, ranks - 1)
    found = of(history)
    for one in history.spawned:
        if one.run.rank == rank:
            found["lanes"] += _later(of(one)["lanes"], one.run.info["started"] - history.run.info["started"])
    return {**found, "ranks": ranks, "rank": rank}


def _later(lanes: list[dict[str, Any]], by: float) -> list[dict[str, Any]]:
    """The lanes of a process that began so many seconds later."""
    for lane in lanes:
        lane["bars"] = [{**bar, "begin": bar["begin"] + by, "end": bar["end"] + by} for bar in lane["bars"]]
        lane["checkpoints"] = [{**found, "at": found["at"] + by} for found in lane["checkpoints"]]
    return lanes


def of(history: History) -> dict[str, Any]:
    """A lane for each loop that was followed and each block, in the order in which they began. `bars`: first and last iteration,
    begin and end in seconds of the run, and for blocks their keys; `checkpoints`: key and second."""
    seconds = history.seconds or max((at for loop in history.timeline.loops.values() for at in loop.begun.values()), default=0.0)
    lanes: dict[str, dict[str, Any]] = {}
    places = Places.of(history)
    for place, followed in history.timeline.loops.items():
        lane = _lane(history, lanes, followed.base)
        begun = sorted(followed.begun.items())
        until = [at for _, at in begun[1:]] + [_end(history, place, begun, seconds)]
        numbers = [followed.number_of(index) for index, _ in begun]
        lane["count"] += followed.count
        lane["bars"] += [
            {"label": str(number), "begin": at, "end": max(at, stop), "keys": [f"{place}={index}"]}
            for number, (index, at), stop in zip(numbers, begun, until)
        ]
    _add_blocks(history, lanes)
    _add_checkpoints(history, lanes)
    for lane in lanes.values():
        lane["bars"].sort(key=lambda bar: bar["begin"])
        lane["bars"] = _together(lane["bars"])
        lane["at"] = places.said(lane["file"], lane["line"])
    order = sorted(lanes.values(), key=lambda lane: (lane["depth"], lane["line"]))
    return {"seconds": seconds, "lanes": order, "status": history.run.status}


def _lane(history: History, lanes: dict[str, dict[str, Any]], base: str) -> dict[str, Any]:
    if base not in lanes:
        loop = next((loop for plan in history.plans.values() for loop in plan.loops if loop.id == base), None)
        lanes[base] = {
            "loop": base,
            "header": loop.header if loop else base,
            "line": loop.line if loop else 0,
            "file": loop.file if loop else "",
            "variable": next(iter(history.variables.get(base, ())), base),
            "depth": 0,
            "memoized": bool(loop and loop.memoized),
            "kind": "iteration",
            "count": 0,
            "bars": [],
            "checkpoints": [],
        }
    return lanes[base]


def _end(history: History, place: str, begun: Sequence[tuple[int, float]], seconds: float) -> float:
    """When the last iteration of a loop ended."""
    followed = history.timeline.loops[place]
    took = history.timeline.seconds(place, seconds)
    last, at = begun[-1] if begun else (0, 0.0)
    return next(iter(followed.ended.values()), at + (took[last] if last < len(took) else 0.0))


def _add_blocks(history: History, lanes: dict[str, dict[str, Any]]) -> None:
    """Executions of blocks: each begins with what was noted inside it, else behind the one before it in the same iteration."""
    behind: dict[str, float] = {}
    for key, took in history.block_seconds.items():
        path = _native.Path(key)
        around = str(path.parent) if path.parent is not None else ""
        lane = _lane(history, lanes, path.loop)
        lane["depth"] = max(lane["depth"], len(path.iterations))
        begin = max(_second(history, path), behind.get(around, 0.0))
        inside = history.timeline.loops.get(f"{key}/{path.name}")
        if inside is not None and inside.begun:
            continue  # its iterations are drawn
        behind[around] = begin + took
        lane["count"] += 1
        lane["kind"] = "execution"
        lane["bars"].append({"label": key, "begin": begin, "end": begin + took, "keys": [key]})


def _add_checkpoints(history: History, lanes: dict[str, dict[str, Any]]) -> None:
    ends = {bar["keys"][0]: bar["end"] for lane in lanes.values() for bar in lane["bars"]}
    for key in history.checkpoints:
        path = _native.Path(key)
        at = _second(history, path) if path.between else ends.get(key, _second(history, path))
        _lane(history, lanes, path.loop)["checkpoints"].append({"key": key, "at": at})
    for lane in lanes.values():
        lane["kept"] = len(lane["checkpoints"])
        lane["checkpoints"] = _thinned(lane["checkpoints"])


def _second(history: History, path: _native.Path) -> float:
    """When the iteration around a place began."""
    for place, index in reversed(path.iterations):
        followed = history.timeline.loops.get(place)
        if followed is not None and followed.begun:
            known = max((known for known in followed.begun if known <= index), default=min(followed.begun))
            return followed.begun[known]
    return 0.0


def _thinned(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    step = -(-len(found) // _MOST) or 1
    return found[::step]


def _together(bars: list[dict[str, Any]]) -> list[dict[str, Any]]:
    size = -(-len(bars) // _MOST) or 1
    return bars if size == 1 else [_merged(bars[at : at + size]) for at in range(0, len(bars), size)]


def _merged(bars: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first, last = bars[0], bars[-1]
    keys: Iterable[str] = (key for bar in bars for key in bar["keys"])
    label = f"{first['label']} … {last['label']}"
    return {"label": label, "begin": first["begin"], "end": max(bar["end"] for bar in bars), "keys": list(keys)}
