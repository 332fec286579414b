"""`florc diff`: where two recorded runs part. Runs nothing."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _native, state
from ..project.script import Unusable
from ..runs import catalog
from ..runs.journal import History
from ..runs.run import Run, store_path
from ..support.console import answer, count, plain, relative, tinted_diff
from . import asked, rows

if TYPE_CHECKING:
    from ..support import arguments as given

DIFFERS = 1
"""Exit code where the runs differ, as that of diff(1)."""
_MOST = 5
"""Differences that are named of one state."""


def run_diff(arguments: given.Diff) -> int:
    """`florc diff`."""
    a, b = (History(run) for run in _two(arguments["runs"]))
    found = compared(a, b, arguments["names"])
    if arguments["json"]:
        answer(json.dumps(found) + "\n")
    else:
        answer("".join(f"{tinted_diff(plain(line), sys.stdout)}\n" for line in text(found)))
    return DIFFERS if found["differ"] else 0


def _two(words: list[str]) -> tuple[Run, Run]:
    """The runs that are meant. Raises Unusable."""
    store = store_path()
    found = [catalog.named(store, word) for word in words]
    if len(found) == 2:
        return found[0], found[1]
    b = catalog.find(store, None, words[0] if words and catalog.is_script(words[0]) else None)
    if not found or found[0].id == b.id:
        earlier = [run for run in catalog.all_runs(store) if catalog.is_of(run, b.info["script"]) and run.id != b.id]
        if not earlier:
            raise Unusable("F201", f"{b.id} is the only run of {relative(b.info['script'])}: name two runs (`florc runs`)")
        return earlier[-1], b
    return found[0], b


def compared(a: History, b: History, names: Iterable[str] = ()) -> dict[str, Any]:
    """What `--json` prints (docs/answers.md). `names`: of the values that are compared; all where none is given. Raises Unusable
    and StoreError for what cannot be read."""
    found: dict[str, Any] = {
        "a": _named(a.run),
        "b": _named(b.run),
        "arguments": _pair(a.run.info["argv"][1:], b.run.info["argv"][1:]),
        "settings": _settings(a, b),
        "commit": _pair(a.run.info.get("commit"), b.run.info.get("commit")),
        "environment": _environment(a, b),
        "source": list(_sources(a.run, b.run)),
        "values": list(_values(a, b, list(names))),
        "state": _states(a, b),
    }
    parts = (
        found["settings"],
        found["environment"],
        found["source"],
        [one for one in found["values"] if one["differ"] or one["only_in"]],
    )
    differs = any(parts) or found["arguments"] is not None or bool(found["state"]["differences"])
    return {**found, "differ": differs or a.run.status != b.run.status}


def _named(run: Run) -> dict[str, Any]:
    return {"id": run.id, "name": run.info.get("name"), "script": run.info["script"], "status": run.status}


def _pair(one: Any, other: Any) -> list[Any] | None:
    return None if one == other else [one, other]


def _environment(a: History, b: History) -> dict[str, list[Any]]:
    """What both processes were, by what people call it. Modules that only one of them loaded are named, too."""
    names = dict.fromkeys([*a.circumstances, *b.circumstances])
    pairs = {name: _pair(a.circumstances.get(name), b.circumstances.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair is not None}


def _settings(a: History, b: History) -> dict[str, list[Any]]:
    """What `florc.arg` gave to only one of them, or gave another value."""
    names = dict.fromkeys([*a.arguments, *b.arguments])
    pairs = {name: _pair(a.arguments.get(name), b.arguments.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair is not None}


def _sources(a: Run, b: Run) -> Iterator[dict[str, str]]:
    """The files of the projects that differ, by their paths from the scripts: a project that was moved is the same."""
    one, other = _texts(a), _texts(b)
    for name in dict.fromkeys([*one, *other]):
        was, now = one.get(name), other.get(name)
        if was == now:
            continue
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
    folder = os.path.dirname(run.info["script"])
    return {os.path.relpath(file, folder): text for module, _, file, text in run.files() if _native.followed(module) is None}


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
            "first": None
            if first is None
            else {**({} if first[0] is None else {"rank": first[0]}), **dict(first[1]), "a": was[first], "b": now[first]},
        }


_Place = tuple["int | None", tuple[tuple[str, int], ...], int]


def _by_name(history: History) -> dict[str, dict[_Place, Any]]:
    """By name, the values by rank, iteration and occurrence there: an answer takes the place of what was recorded there."""
    found: dict[str, dict[_Place, Any]] = {}
    seen: dict[tuple[str, str, Any], int] = {}
    for row in (*rows.recorded(history), *asked.kept(history)):
        place = row.rank, tuple(row.context.items())
        kind = "recorded" if row.verdict == "recorded" else "asked"
        key = row.name, kind, place
        number = seen[key] = seen.get(key, -1) + 1
        found.setdefault(row.name, {})[row.rank, place[1], number] = row.value
    return found


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (one == other or one != one and other != other)


def _states(a: History, b: History) -> dict[str, Any]:
    """The first checkpoint that both runs have and that differs, hash by hash: the places that differ, with what."""
    loops = _same_loops(a, b)
    shared = sorted(
        (key for key, checkpoint in a.checkpoints.items() if key in b.checkpoints and checkpoint.block.rstrip("@") in loops),
        key=lambda key: a.checkpoints[key].seq,
    )
    found: dict[str, Any] = {"compared": 0, "equal_up_to": None, "at": None, "path": None, "differences": []}
    for key in shared:
        differs = _differences(a, b, key)
        found["compared"] += 1
        if differs:
            at = a.iteration(key) or key
            return {**found, "at": at, "path": key, "differences": differs}
        found["equal_up_to"] = a.iteration(key) or key
    return found


def _same_loops(a: History, b: History) -> set[str]:
    """The loops that are the same in both sources: an id counts the loops of its file."""
    one, other = ({loop.id: (loop.function, loop.header) for plan in h.plans.values() for loop in plan.loops} for h in (a, b))
    return {name for name, loop in one.items() if other.get(name) == loop}


def _differences(a: History, b: History, key: str) -> list[str]:
    one, other = a.checkpoints[key], b.checkpoints[key]
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

    found = state.differences(graphs[0], one.chunks[1:], graphs[1], other.chunks[1:], grade, _passes(a, b))
    more = f"and {len(found) - _MOST} more places" if len(found) > _MOST else ""
    return [*(str(difference) for difference in found[:_MOST]), *([more] if more else [])]


def _passes(a: History, b: History) -> Any:
    def passes(place: str, one: Any, other: Any) -> bool:
        return a.is_duration(place) or b.is_duration(place)

    return passes


def text(found: dict[str, Any]) -> Iterator[str]:
    """The same for people, line by line."""
    for mark, side in (("-", "a"), ("+", "b")):
        run = found[side]
        yield f"{mark} {run['id']}  {relative(run['script'])}, {run['status']}"
    if found["arguments"]:
        yield from ("", "arguments", *_both(found["arguments"], shlex.join))
    if found["commit"]:
        yield from ("", "commit", *_both(found["commit"], lambda commit: str(commit or "none")))
    for what in ("settings", "environment"):
        if found[what]:
            yield from ("", what)
            for name, pair in found[what].items():
                yield from (f"{mark} {name} {_value(value)}" for mark, value in zip("-+", pair))
    for file in found["source"]:
        yield from ("", *file["diff"].split("\n"))
    if found["values"]:
        width = max(len(one["name"]) for one in found["values"])
        yield from ("", "values", *(f"  {one['name']:{width}}  {_said(one)}" for one in found["values"]))
    yield from ("", "states", *_told(found["state"]))
    if not found["differ"]:
        yield from ("", "the runs are equal in all that both of them keep")


def _both(pair: list[Any], shown: Any) -> list[str]:
    return [f"- {shown(pair[0])}".rstrip(), f"+ {shown(pair[1])}".rstrip()]


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "unset" if value is None else str(value)


def _said(one: dict[str, Any]) -> str:
    parts = []
    if one["first"] is not None:
        first = {name: value for name, value in one["first"].items() if name not in ("a", "b")}
        where = ", ".join(f"{name}={value}" for name, value in first.items()) or "once"
        parts.append(
            f"differs first at {where}: {one['first']['a']} and {one['first']['b']}; {one['differ']} of {one['both']} differ"
        )
    elif one["both"]:
        parts.append(f"equal ({count(one['both'], 'value')})")
    parts += [f"{count(alone, 'value')} only in {'-' if side == 'a' else '+'}" for side, alone in one["only_in"].items()]
    return "; ".join(parts)


def _told(found: dict[str, Any]) -> Iterator[str]:
    if not found["compared"]:
        yield "  not compared: the runs have no checkpoint of the same execution (florc record --checkpoint every keeps each)"
        return
    if found["equal_up_to"] is not None:
        number = found["compared"] - bool(found["differences"])
        yield f"  equal in {count(number, 'checkpoint')}, up to {found['equal_up_to']}"
    if found["differences"]:
        yield f"  the first that differs is that of {found['at']}:"
        yield from (f"    {difference}" for difference in found["differences"])
