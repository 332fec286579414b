"""`florc diff`: where two recorded runs part. Runs nothing."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..project.script import Unusable
from ..runs import catalog, joint
from ..runs.run import Run, store_path
from ..support.console import answer, count, plain, relative, tinted_diff
from .compared import compared

if TYPE_CHECKING:
    from ..support import arguments as given

DIFFERS = 1
"""Exit code where the runs differ, as that of diff(1)."""


def run_diff(arguments: given.Diff) -> int:
    """`florc diff`."""
    a, b = (joint.seen(run) for run in _two(arguments["runs"]))
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
            script = relative(b.info["script"])
            others = len(catalog.all_runs(store)) > 1
            advice = "name the other one (`florc runs`)" if others else f"record it once more: florc record {script}"
            raise Unusable("F201", f"{b.id} is the only run of {script}: {advice}")
        return earlier[-1], b
    return found[0], b


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
    if found["lines"]["first"] or found["lines"]["only_in"]:
        yield from ("", "standard output", f"  {_said(found['lines'], 'line')}")
    if found["values"]:
        width = max(len(one["name"]) for one in found["values"])
        yield from ("", "values", *(f"  {one['name']:{width}}  {_said(one, 'value')}" for one in found["values"]))
    yield from ("", "states", *_told(found["state"]))
    if not found["differ"]:
        yield from ("", "no difference was found in what both runs keep")


def _both(pair: list[Any], shown: Any) -> list[str]:
    return [f"- {shown(pair[0])}".rstrip(), f"+ {shown(pair[1])}".rstrip()]


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "unset" if value is None else str(value)


def _said(one: dict[str, Any], what: str) -> str:
    parts = []
    if one["first"] is not None:
        first = {name: value for name, value in one["first"].items() if name not in ("a", "b")}
        where = ", ".join(f"{name}={value}" for name, value in first.items()) or "once"
        parts.append(
            f"differs first at {where}: {one['first']['a']} and {one['first']['b']}; {one['differ']} of {one['both']} differ"
        )
    elif one["both"]:
        parts.append(f"equal ({count(one['both'], what)})")
    parts += [f"{count(alone, what)} only in {'-' if side == 'a' else '+'}" for side, alone in one["only_in"].items()]
    return "; ".join(parts)


def _told(found: dict[str, Any]) -> Iterator[str]:
    if not found["compared"]:
        yield "  not compared: the runs have no checkpoint of the same execution (--checkpoint every keeps each that can be kept)"
        return
    but = f", but for random generators ({', '.join(found['generators'])})" if found["generators"] else ""
    if found["equal_up_to"] is not None:
        number = found["compared"] - bool(found["differences"])
        yield f"  equal in {count(number, 'checkpoint')}, up to that of {found['equal_up_to']}{but}"
    if found["differences"]:
        yield f"  the first that differs is that of {found['at']}:"
        yield from (f"    {difference}" for difference in found["differences"])
