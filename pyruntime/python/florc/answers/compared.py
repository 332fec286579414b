"""Two recorded runs beside each other: source, settings, environment, what they printed, what their checkpoints hold."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .. import _native, state
from ..plan.places import BOUNDARY
from ..project.script import Unusable
from ..runs import masks
from ..runs.journal import History
from ..runs.run import Run
from ..state.kinds import RANDOM
from . import asked, rows

_MOST = 5
"""Differences that are named of one state."""
_RANDOM = f"{RANDOM}."
_SEED = "hash seed"
"""Another one in each run where PYTHONHASHSEED is not set: that alone makes no difference."""


def compared(a: History, b: History, names: Iterable[str] = ()) -> dict[str, Any]:
    """What `--json` prints (docs/answers.md). `names`: of the values that are compared; all where none is given. Raises Unusable
    and StoreError for what cannot be read."""
    found: dict[str, Any] = {
        "a": _named(a.run),
        "b": _named(b.run),
        "arguments": _pair(a.run.info["argv"][1:], b.run.info["argv"][1:]),
        "settings": _others(a.arguments, b.arguments),
        "commit": _pair(a.run.info.get("commit"), b.run.info.get("commit")),
        "environment": _environment(a, b),
        "source": list(_sources(a.run, b.run)),
        "lines": _lines(a, b),
        "values": list(_values(a, b, list(names))),
        "state": _states(a, b),
    }
    printed = any(one["differ"] or one["only_in"] for one in (found["lines"], *found["values"]))
    rest = [*(found[name] for name in ("arguments", "settings", "source")), found["environment"].keys() - {_SEED}]
    differs = printed or found["state"]["differences"] or any(rest)
    return {**found, "differ": bool(differs) or a.run.status != b.run.status}


def _named(run: Run) -> dict[str, Any]:
    return {"id": run.id, "name": run.info.get("name"), "script": run.info["script"], "status": run.status}


def _pair(one: Any, other: Any) -> list[Any] | None:
    return None if one == other else [one, other]


def _environment(a: History, b: History) -> dict[str, list[Any]]:
    """What was otherwise around the runs. Of variables that the user's files name only hashes are known."""
    found = _others(a.circumstances, b.circumstances)
    for name, (one, other) in _others(a.variables_read, b.variables_read).items():
        found.setdefault(name, [one and "one value", other and "another value"])
    return {**found, **_others({_SEED: a.run.info.get("hash_seed")}, {_SEED: b.run.info.get("hash_seed")})}


def _others(one: dict[str, Any], other: dict[str, Any]) -> dict[str, list[Any]]:
    """What has another value, or is in only one of them."""
    pairs = {name: _pair(one.get(name), other.get(name)) for name in {**one, **other}}
    return {name: pair for name, pair in pairs.items() if pair is not None}


def _sources(a: Run, b: Run) -> Iterator[dict[str, str]]:
    """The files of the projects that differ, by their paths from the scripts: a project that was moved is the same."""
    one, other = _texts(a), _texts(b)
    for name in dict.fromkeys([*one, *other]):
        was, now = one.get(name), other.get(name)
        if was == now:
            continue
        name = name or _script(a, b)
        lines = difflib.unified_diff(
            (was or "").splitlines(),
            (now or "").splitlines(),
            f"{name}, {a.id}" if was is not None else os.devnull,
            f"{name}, {b.id}" if now is not None else os.devnull,
            lineterm="",
            n=2,
        )
        yield {"file": name, "diff": "\n".join(lines)}


def _texts(run: Run) -> dict[str, str]:
    """By path from the script, which has none: it may have another name."""
    script = run.info["script"]
    folder = os.path.dirname(script)
    return {"" if file == script else os.path.relpath(file, folder): text for file, text in run.texts().items()}


def _script(a: Run, b: Run) -> str:
    return " and ".join(dict.fromkeys(os.path.basename(run.info["script"]) for run in (a, b)))


def _lines(a: History, b: History) -> dict[str, Any]:
    """What both printed to standard output at the same places, line by line; addresses of objects may differ."""
    one, other = _by_place(a), _by_place(b)
    both = [(place, pair) for place in one if place in other for pair in zip(one[place], other[place])]
    differ = [(place, pair) for place, pair in both if pair[0] != pair[1]]
    only = {side: sum(map(len, mine.values())) - len(both) for side, mine in (("a", one), ("b", other))}
    return {
        "both": len(both),
        "differ": len(differ),
        "only_in": {side: count for side, count in only.items() if count},
        "first": _first(*differ[0][0], *differ[0][1]) if differ else None,
    }


def _first(rank: int | None, context: tuple[tuple[str, int], ...], one: Any, other: Any) -> dict[str, Any]:
    """Where the first difference is, and what is there."""
    return {**({} if rank is None else {"rank": rank}), **dict(context), "a": one, "b": other}


def _by_place(history: History) -> dict[tuple[int | None, tuple[tuple[str, int], ...]], list[str]]:
    found: dict[tuple[int | None, tuple[tuple[str, int], ...]], list[str]] = {}
    for rank, of_rank in rows.ranks(history):
        for line in of_rank.lines:
            place = rank, tuple(rows.context(of_rank, line.path).items())
            found.setdefault(place, []).append(masks.without_addresses(line.text))
    return found


def _values(a: History, b: History, names: list[str]) -> Iterator[dict[str, Any]]:
    """Each name: how many values both runs have at the same place, how many of these differ, and the first that does."""
    one, other = _by_name(a), _by_name(b)
    known = [*dict.fromkeys([*one, *other])]
    for name in names:
        if name not in known:
            raise Unusable("F104", f"neither run has values of the name {name}; there are: {', '.join(known) or 'none'}")
    for name in names or known:
        was, now = one.get(name, {}), other.get(name, {})
        both = [place for place in was if place in now]
        differ = [place for place in both if not _same(was[place], now[place])]
        first = differ[0] if differ else None
        yield {
            "name": name,
            "both": len(both),
            "differ": len(differ),
            "only_in": {which: len(alone) for which, alone in (("a", was.keys() - now), ("b", now.keys() - was)) if alone},
            "first": None if first is None else _first(*first[:2], was[first], now[first]),
        }


_Place = tuple["int | None", tuple[tuple[str, int], ...], int, "str | None"]


def _by_name(history: History) -> dict[str, dict[_Place, Any]]:
    """By name, the values by rank, iteration, occurrence there and forked process: an answer takes the place of what was recorded
    there. Not what forked processes printed when it was recorded: which of them does what may be another one in each run."""
    found: dict[str, dict[_Place, Any]] = {}
    seen: dict[tuple[str, bool, Any], int] = {}
    recorded = (row for row in rows.recorded(history) if row.child is None)
    for row in (*recorded, *asked.kept(history)):
        place = row.rank, tuple(row.context.items()), row.child
        key = row.name, row.verdict == rows.RECORDED, place
        number = seen[key] = seen.get(key, -1) + 1
        found.setdefault(row.name, {})[row.rank, place[1], number, row.child] = row.value
    return found


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and repr(one) == repr(other)  # -0.0 is not 0.0, NaN is NaN


def _states(a: History, b: History) -> dict[str, Any]:
    """The first checkpoint that both runs have and that differs, hash by hash: the places that differ, with what. States of
    random generators are told apart from that: one that nobody seeds or draws from is another in each run."""
    loops = _same_loops(a, b)
    there = {_instant(b, key): key for key in b.checkpoints}
    shared = [
        (key, there[_instant(a, key)])
        for key, checkpoint in sorted(a.checkpoints.items(), key=lambda known: known[1].seq)
        if _instant(a, key) in there and checkpoint.block.removesuffix(BOUNDARY) in loops
    ]
    generators: list[str] = []
    found: dict[str, Any] = {"compared": 0, "equal_up_to": None, "at": None, "path": None, "differences": []}
    for key, other in shared:
        differs = _differences(a.checkpoints[key], b.checkpoints[other], a, b)
        drawn = [difference.removeprefix(_RANDOM).partition(":")[0] for difference in differs if difference.startswith(_RANDOM)]
        generators += [name for name in drawn if name not in generators]
        differs = [difference for difference in differs if not difference.startswith(_RANDOM)]
        found["compared"] += 1
        if differs:
            more = [f"and {len(differs) - _MOST} more places"] if len(differs) > _MOST else []
            found = {**found, "at": _named_at(a, key), "path": key, "differences": [*differs[:_MOST], *more]}
            break
        found["equal_up_to"] = _named_at(a, key)
    return {**found, "generators": generators}


def _named_at(history: History, key: str) -> str:
    """`L2 in epoch=3`; of a checkpoint between two iterations `L1 at epoch=3`."""
    checkpoint = history.checkpoints[key]
    where, word = history.iteration(key), "at" if checkpoint.block.endswith(BOUNDARY) else "in"
    return f"{checkpoint.block.removesuffix(BOUNDARY)} {word} {where}" if where else checkpoint.block


def _same_loops(a: History, b: History) -> set[str]:
    """The loops that are the same in both sources: an id counts the loops of its file."""
    one, other = ({loop.id: (loop.function, loop.header) for plan in h.plans.values() for loop in plan.loops} for h in (a, b))
    return {name for name, loop in one.items() if other.get(name) == loop}


def _instant(history: History, key: str) -> tuple[str, str]:
    """Which state a checkpoint has, by what the loops' variables say: a run that resumed begins with a later epoch."""
    return re.sub(r"=\d+", "=", key), history.iteration(key)


def _differences(one: _native.Checkpoint, other: _native.Checkpoint, a: History, b: History) -> list[str]:
    if one.chunks == other.chunks:
        return []
    try:
        graphs = a.reader.read_chunk(one.chunks[0]), b.reader.read_chunk(other.chunks[0])
    except _native.StoreError as error:
        return [f"not compared: {error}"]

    def grade(dtype: str, first: int, second: int) -> str:
        try:
            data = a.reader.read_chunk(one.chunks[first + 1]), b.reader.read_chunk(other.chunks[second + 1])
        except _native.StoreError:
            return ""
        return state.grade(dtype, *data)

    def passes(place: str, was: Any, now: Any) -> bool:
        return a.is_duration(place) or b.is_duration(place)

    found = state.differences(graphs[0], one.chunks[1:], graphs[1], other.chunks[1:], grade, passes, strictly=True)
    # who else holds an object is told by paths in JSON; what is there is compared by name
    return [str(difference) for difference in found if not difference.place.startswith("[")]
