"""From `--iterations fold=2,epoch=10:20`, `--around`, `--last`, `--shard` to the iterations of a recorded run."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from ... import _native
from ...plan.window import END, Samples, Window
from ...project.script import Unusable
from ...runs.journal import History
from ...runs.timeline import Followed
from ...runs.versions import Versions
from ...support import console as messages
from . import segments
from .costs import Costs
from .steps import training_loop

if TYPE_CHECKING:
    from ...support.arguments import Selection


def selected(history: History, arguments: Selection) -> Window | None:
    """The window that the arguments ask for; None for the whole run. Raises Unusable."""
    if arguments["last"]:
        loop = history.timeline.main_loop(history.seconds)
        return _window(loop, max(0, whole(history, loop) - 1), END)
    if arguments["around"] is not None:
        return _around(history, arguments["around"], arguments["window"])
    if arguments["steps"] is not None:
        return _steps(history, arguments["steps"])
    if arguments["iterations"] is not None:
        return _window(*_levels(history, arguments["iterations"]))
    return None


def _window(loop: Followed, start: int, stop: int) -> Window:
    return Window(loop.place, start, stop)


def _around(history: History, words: str, width: int) -> Window:
    loop, start, stop = _levels(history, words)
    if stop != start + 1:
        raise Unusable("F104", "--around takes one iteration: --around epoch=12")
    return Window(loop.place, max(0, start - width), stop + width)


def _steps(history: History, words: str) -> Window:
    """Iterations of the loop that trains, counted through all its runs."""
    runs = history.timeline.runs_of(training_loop(history))
    counts = [whole(history, loop) if n + 1 == len(runs) else loop.count for n, loop in enumerate(runs)]
    total = sum(counts)
    start, stop = _range(words, runs[0]._replace(numbers={}), total)
    (first, at), (last, to) = _located(counts, start), _located(counts, min(stop, total) - 1)
    return Window(runs[first].place, at, to + 1, stop_place=runs[last].place)


def _located(counts: list[int], step: int) -> tuple[int, int]:
    """In which run of the loop a step is, and which of its iterations it is."""
    for n, count in enumerate(counts):
        if step < count:
            return n, step
        step -= count
    raise IndexError(step)


def _levels(history: History, words: str) -> tuple[Followed, int, int]:
    """The innermost loop that is named, and the range of its iterations."""
    within = _native.Path("")
    variables = history.variables
    parts = [part.strip() for part in words.split(",")]
    for n, part in enumerate(parts):
        name, equals, numbers = part.rpartition("=")
        loop = (
            history.timeline.named(name.strip(), within, variables, part)
            if equals or within
            else history.timeline.main_loop(history.seconds)
        )
        count = whole(history, loop)
        is_interrupted = count < loop.count and _native.Path(loop.place).below(history.interrupted) is not None
        why = " that ended before its first Ctrl-C: what came after is not answered" if is_interrupted else ""
        start, stop = _range(numbers, loop, count, why)
        if n + 1 < len(parts) and stop != start + 1:
            raise Unusable("F104", f"{part}: only the last loop can have a range; name one iteration of each loop around it")
        within = _native.Path(loop.place).at(start)
    return loop, start, stop


def _range(text: str, loop: Followed, count: int, why: str = "") -> tuple[int, int]:
    """`10:20`, `10:`, `:20`, `7`, `-1`: numbers as the loop variable has them, else counted from 0. `why`: there are no more."""
    match = re.fullmatch(r"\s*(-?\d+)?\s*(:\s*(-?\d+)?)?\s*", text)
    if match is None or not match.group().strip():
        raise Unusable("F104", f"{text!r} is not a range of iterations; 10:20, 10:, :20, 7 and -1 are")
    first, several, last = match.groups()

    def index(number: str) -> int:
        value = int(number)
        if value < 0 and (not loop.numbers or min(loop.numbers.values()) >= 0):
            return count + value
        return loop.index_of(value, at_least=bool(several))

    start = index(first) if first else 0
    stop = start + 1 if not several else index(last) if last else END
    start = max(0, start) if several else start
    if start >= count or start < 0:
        raise Unusable("F104", f"{text}: the recorded run has only {messages.count(count, 'iteration')} of {loop.loop}{why}")
    if stop <= start:
        raise Unusable("F104", f"{text}: no iteration is in this range")
    return start, stop


def whole(history: History, loop: Followed) -> int:
    """The number of iterations that the recorded run finished, as far as the record tells."""
    count = loop.count
    at = _native.Path(loop.place).below(history.interrupted)
    if at is not None and at.index is not None:
        return min(count, at.index)
    if history.is_cut:
        return max(0, count - (not _native.Path(loop.place).iterations))
    # In runs of format 2, nothing tells that the condition of a `while` was false, unless it is always true or something was done
    # after it.
    return count if not count or loop.ended or _was_entered(history, loop, count - 1) else count - 1


def _was_entered(history: History, loop: Followed, index: int) -> bool:
    """Whether there was such an iteration: of a `while` loop, its condition may have been false."""
    if index in history.boundaries.get(loop.place, ()):
        return True
    inside = _native.Path(loop.place).at(index)
    for file, plan in history.plans.items():
        loops = {known.id: known for known in plan.loops}
        entry = loops.get(loop.base)
        if entry is None:
            continue
        end = history.sources.ends_of_bodies().get(loop.base)
        if end is None:
            return True
        within = {name for name, other in loops.items() if entry.line < other.line <= end}
        ran = map(inside.below, chain(history.block_seconds, history.timeline.loops))
        return any(at is not None and at.loop in within for at in ran) or any(
            line.file == file and entry.line < abs(line.line) <= end for line in history.lines if line.path in inside
        )
    return True


def shards(history: History, versions: Versions, count: int) -> list[Window | None]:
    """The whole run in at most `count` windows, balanced by recorded times over the existing checkpoints.

    Returns [None] if several windows save no time: no loop can be cut, the loop is restored as one block, or no window could
    start from a checkpoint.
    """
    try:
        costs = Costs(history, versions)
    except Unusable:
        return [None]
    found = segments.partition(costs.work, costs.reach, count)
    last = len(found) - 1
    if last < 1 or costs.is_restored_whole():
        return [None]
    return [
        Window(costs.loop.place, start, END if n == last else stop, before=n == 0, after=n == last)
        for n, (start, stop) in enumerate(found)
    ]


def sampled(history: History, count: int) -> Samples:
    """`count` iterations of the main loop that have checkpoints: the first, the last, and others spread evenly between them.
    For a loop without an inner block: the last iterations that begin with a checkpoint, and all between them. Raises
    Unusable."""
    loop = history.timeline.main_loop(history.seconds)
    known = whole(history, loop)
    blocks = (key for key in history.checkpoints if not _native.Path(key).between)
    within = filter(None, map(_native.Path(loop.place).below, blocks))
    held = sorted({at.index for at in within if at.index is not None and at.index < known})
    starts = sorted(history.boundaries.get(loop.place, ()))
    if not held and starts:
        return Samples(loop.place, starts[-count:], starts[-count - 1] if len(starts) > count else 0)
    if not held:
        raise Unusable("F110", f"no checkpoint of {history.run.id} is inside its main loop: there is nothing to compare with")
    chosen = {held[round(n * (len(held) - 1) / max(1, count - 1))] for n in range(count)}
    return Samples(loop.place, sorted(chosen))
