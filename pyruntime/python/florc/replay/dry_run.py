"""`florc replay --dry-run`: what a replay would do with each block, why, and how long it would take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from .. import _native
from ..plan.window import END
from ..project.script import Unusable
from ..runs.journal import History
from ..runs.versions import Versions
from ..support import console as messages
from ..support.console import duration
from .select import request as selection
from .select.costs import Costs

if TYPE_CHECKING:
    from ..support.arguments import Replay as Arguments


def describe(history: History, versions: Versions, arguments: Arguments) -> str:
    """The answer to `--dry-run`."""
    out = [f"run {history.run.id}"]
    for change in versions.changes:
        out.append(f"  {messages.place(change.file, change.line)}: {change.kind}: {change.text.strip()}")
    for found in _blocks(history, versions, arguments["step_into"]):
        out.append(f"  {found.block}  {messages.line_of(found.file, found.line)}  {found.header}: {found.what}")
    return messages.plain("\n".join([*out, *_times(history, versions, arguments)])) + "\n"


class Block(NamedTuple):
    """What becomes of a block, or of the first iterations of a loop."""

    block: str
    file: str
    line: int
    header: str
    what: str


def as_json(history: History, versions: Versions, arguments: Arguments) -> str:
    """The same for programs, on one line: `seconds` is what the replay takes, as far as that is known;
    `import_seconds` of it are the imports of the recorded run, which a process that has done them does not repeat."""
    blocks = [found._asdict() for found in _blocks(history, versions, arguments["step_into"])]
    changes = [{"file": c.file, "line": c.line, "kind": c.kind, "text": c.text} for c in versions.changes]
    told = {
        "run": history.run.id,
        "changes": changes,
        "blocks": blocks,
        "seconds": _seconds(history, versions, arguments),
        "recorded_seconds": history.seconds,
        "import_seconds": sum(took for _, took in history.run.imports()),
        "times": _times(history, versions, arguments),
    }
    return json.dumps(told) + "\n"


def _seconds(history: History, versions: Versions, arguments: Arguments) -> float | None:
    """Of a replay in one process; None where the run has no main loop, or another loop is asked for."""
    try:
        costs = Costs(history, versions, arguments["step_into"])
    except Unusable:
        return None
    window = selection.selected(history, arguments)
    if window is None:
        return costs.serial()
    return costs.segment(window.start, min(window.stop, len(costs.work))) if window.place == costs.loop.place else None


def _blocks(history: History, versions: Versions, forced: list[str]) -> list[Block]:
    out = []
    by_block: dict[str, list[_native.Checkpoint]] = {}
    for checkpoint in history.checkpoints.values():
        by_block.setdefault(checkpoint.block, []).append(checkpoint)
    for plan in history.plans.values():
        for loop in plan.loops:
            block = loop.id
            starts = sum(len(held) for place, held in history.boundaries.items() if _native.Path(place).loop == block)
            if starts:
                why = versions.why_not_jumped(block)
                later = "one iteration" if starts == 1 else f"one of {starts} iterations"
                what = f"runs from its first iteration: {why}" if why else f"can begin with {later}"
                out.append(Block(block, loop.file, loop.line, loop.header, what))
            if not loop.memoized:
                continue
            held = by_block.get(block, [])
            is_forced = block in forced or "all" in forced
            reasons = {checkpoint.key: versions.why_run(block, checkpoint.key) for checkpoint in held}
            why = "asked for with --step-into" if is_forced else versions.why_run(block, "") if not held else _common(reasons)
            restored = [checkpoint for checkpoint in held if reasons[checkpoint.key] is None]
            what = (
                f"runs again: {why}"
                if why
                else _partly(reasons, restored)
                if held
                else f"runs again: {history.why_not_kept(block)}"
            )
            out.append(Block(block, loop.file, loop.line, loop.header, what))
    return out


def _common(reasons: dict[str, str | None]) -> str | None:
    """Why every one runs again; None where one does not."""
    return None if None in reasons.values() else next(iter(reasons.values()))


def _partly(reasons: dict[str, str | None], restored: list[_native.Checkpoint]) -> str:
    size = messages.size(sum(checkpoint.nbytes for checkpoint in restored))
    what = f"restored from {messages.count(len(restored), 'checkpoint')} ({size})"
    again = [why for why in reasons.values() if why is not None]
    return f"{what}; {len(again)} of {len(reasons)} run again: {again[0]}" if again else what


def _times(history: History, versions: Versions, arguments: Arguments) -> list[str]:
    try:
        costs = Costs(history, versions, arguments["step_into"])
    except Unusable:
        return []
    against = f", the recorded run took {duration(history.seconds)}" if history.seconds else ""
    window = selection.selected(history, arguments)
    if window is not None:
        if window.place != costs.loop.place:
            return []
        seconds = costs.segment(window.start, min(window.stop, len(costs.work)))
        return [f"about {duration(seconds)} for {window.describe()}{against}"]
    count = (arguments["shard"] or [None, None])[1] or arguments["workers"] or 1
    windows = selection.shards(history, versions, count) if count > 1 else [None]
    if windows == [None]:
        return [f"about {duration(costs.serial())}{against}"]
    times = [costs.segment(w.start, min(w.stop, END)) for w in windows if w is not None]
    head = f"about {duration(max(times))} in {len(times)} parts, {duration(costs.serial())} in one{against}"
    return [
        head,
        *(
            f"  {n + 1}/{len(times)}: {w.describe()}: {duration(seconds)}"
            for n, (w, seconds) in enumerate(zip(windows, times))
            if w is not None
        ),
    ]
