"""`florc show`: what one run was, loop by loop, and what was asked of it since. Runs nothing."""

from __future__ import annotations

import json
import shlex
import time
from typing import TYPE_CHECKING, Any

from ..project.script import Unusable
from ..runs import catalog, joint, verdicts
from ..runs.run import Run, store_path
from ..support.console import answer, count, duration, plain, relative, spelled
from . import asked, memory
from .loops import of_all

if TYPE_CHECKING:
    from ..support import arguments as given


def run_show(arguments: given.Show) -> int:
    """`florc show`."""
    run = catalog.named(store_path(), arguments["run"])
    if arguments["source"]:
        run.load()
        text_of = run.source(run.info["script"])
        if text_of is None:
            raise Unusable("F205", f"the store has no text of {run.info['script']}")
        answer(text_of)
        return 0
    found = described(run)
    answer(json.dumps(found) + "\n" if arguments["json"] else text(found))
    return 0


def described(run: Run) -> dict[str, Any]:
    """What `--json` prints (docs/answers.md). Raises StoreError for a damaged store."""
    history, info = joint.seen(run), run.info
    report = info.get("report", {})
    return {
        "id": run.id,
        "name": info.get("name"),
        "status": run.status,
        "raised": info.get("raised"),
        "script": info["script"],
        "arguments": info["argv"][1:],
        "settings": {name: values[0] if len(values) == 1 else values for name, values in history.arguments.items()},
        "folder": info["cwd"],
        "python": info["python"],
        "ranks": run.ranks,
        "spawned": len(history.spawned),
        "commit": info.get("commit"),
        "environment": history.circumstances,
        "started": info["started"],
        "seconds": history.seconds,
        "overhead": report.get("overhead"),
        "checkpoints": report.get("checkpoints"),
        "bytes": report.get("bytes"),
        "memory": memory.described(history),
        "files": sorted(info.get("sources", {})),
        "loops": of_all(history),
        "at": history.iteration(history.last_path) if run.status == "running" and history.last_path else None,
        "asked": list(asked.replays(history)),
        "replays": verdicts.noted(run),
    }


def text(found: dict[str, Any]) -> str:
    """The same for people."""
    words = shlex.join(found["arguments"])
    ranks = f", {count(found['ranks'], 'rank')}" if found["ranks"] and found["ranks"] > 1 else ""
    ranks += f", {count(found['spawned'], 'rank')} that it started" if found["spawned"] else ""
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(found["started"]))
    took = f", {duration(found['seconds'])}" if found["seconds"] is not None else ""
    lines = [
        f"run {found['id']}{' ' + found['name'] if found['name'] else ''}: {found['status']}",
        f"  {relative(found['script'])} {words}".rstrip() + f"  in {found['folder']}{ranks}",
        f"  {began}{took}, Python {found['python']}" + (f", commit {found['commit'][:10]}" if found["commit"] else ""),
    ]
    if found["settings"]:
        lines.append("  settings: " + ", ".join(f"{name}={value}" for name, value in found["settings"].items()))
    if found["raised"]:
        lines.append(f"  ended by {plain(found['raised'])}")
    if found["at"]:
        lines.append(f"  so far: {found['at']}")
    if found["overhead"] is not None:
        kept = f"{count(found['checkpoints'], 'checkpoint')}, {found['bytes']:,} bytes"
        lines.append(f"  {kept}, overhead {found['overhead']:.1%}")
    if found["memory"]:
        lines.append(f"  {memory.line(found['memory'])}")
    for loop in found["loops"]:
        if loop["library"] and not (loop["memoized"] and loop["executions"]):
            continue
        place = spelled(relative(loop["file"]), loop.get("cell"), loop["line"])
        lines.append(f"  {loop['loop']}  {place}  {loop['header']}: {_said(loop)}")
    for one in found["asked"]:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["at"]))
        lines.append(f"  asked {when}: {', '.join(one['names'])} ({count(one['values'], 'value')}): {one['verdict']}")
    for one in found["replays"]:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["at"]))
        work = f"{count(one['restored'], 'block')} restored, {one['ran']} run again"
        lines.append(f"  replayed {when} in {duration(one['seconds'])}: {one['verdict']} ({work})")
        lines += [f"    {anomaly}" for anomaly in one["anomalies"][:1]]
    return "".join(f"{plain(line, '')}\n" for line in lines)


def _said(loop: dict[str, Any]) -> str:
    parts = [count(loop["iterations"], "iteration")] if loop["iterations"] is not None else []
    if loop["executions"]:
        parts.append(f"{count(loop['executions'], 'execution')} noted, {duration(loop['seconds'])}")
    if loop["checkpoints"]:
        parts.append(count(loop["checkpoints"], "checkpoint"))
    elif loop["why_not_kept"]:
        parts.append(loop["why_not_kept"])
    elif not loop["memoized"] and not parts:
        parts.append("left alone")
    return ", ".join(parts) or "not kept"
