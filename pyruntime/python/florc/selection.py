"""From `--iterations fold=2,epoch=10:20`, `--around`, `--last`, `--shard` to the iterations of a recorded run."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple

from . import segments
from .history import History
from .launch import Unusable
from .timeline import Followed, variables_of
from .versions import Versions
from .window import END, Level, Window

RESTORED_S = 0.02
"""What an iteration costs whose blocks are restored, before any was seen."""


def selected(history: History, arguments: Dict[str, Any]) -> Optional[Window]:
    """The window that was asked for; None for the whole run."""
    if arguments["last"]:
        loop = history.timeline.main_loop(history.seconds)
        return Window([Level(loop.loop, loop.count - 1, loop.count)])
    if arguments["around"]:
        return _around(history, arguments["around"], arguments["window"])
    if arguments["iterations"]:
        return Window(_levels(history, arguments["iterations"]))
    return None


def _around(history: History, words: str, width: int) -> Window:
    levels = _levels(history, words)
    *outer, last = levels
    if last.stop != last.start + 1:
        raise Unusable("--around names one iteration: --around epoch=12")
    return Window([*outer, Level(last.loop, max(0, last.start - width), last.stop + width)])


def _levels(history: History, words: str) -> List[Level]:
    levels: List[Level] = []
    within = ""
    variables = _variables(history)
    parts = [part.strip() for part in words.split(",")]
    for n, part in enumerate(parts):
        name, equals, numbers = part.rpartition("=")
        loop = (history.timeline.named(name.strip(), within, variables) if equals
                else history.timeline.main_loop(history.seconds))
        start, stop = _range(numbers, loop)
        if n + 1 < len(parts) and stop != start + 1:
            raise Unusable(f"{part}: only the last loop can have several iterations; of the loops around it one is named")
        levels.append(Level(loop.loop, start, stop))
        within = f"{loop.place}={start}/"
    return levels


def _variables(history: History) -> Dict[str, List[str]]:
    return {loop["id"]: variables_of(loop["header"]) for plan in history.plans.values() for loop in plan["loops"]}


def _range(text: str, loop: Followed) -> Tuple[int, int]:
    """`10:20`, `10:`, `:20`, `7`, `-1`: numbers as the loop variable has them, else counted from 0."""
    match = re.fullmatch(r"\s*(-?\d+)?\s*(:\s*(-?\d+)?)?\s*", text)
    if match is None or not match.group().strip():
        raise Unusable(f"{text!r} is no range of iterations: 10:20, 10:, :20, 7 or -1")
    first, several, last = match.groups()

    def index(number: str) -> int:
        value = int(number)
        if value < 0 and (not loop.numbers or min(loop.numbers.values()) >= 0):
            return max(0, loop.count + value)
        return loop.index_of(value)

    start = index(first) if first else 0
    stop = start + 1 if not several else index(last) if last else END
    if start >= loop.count:
        raise Unusable(f"{text}: the recorded run has only {loop.count} iterations of {loop.loop}")
    if stop <= start:
        raise Unusable(f"{text}: no iteration is in this range")
    return start, stop


def shards(history: History, versions: Versions, count: int) -> List[Window]:
    """The whole run in at most `count` windows, balanced by recorded times over the checkpoints that exist."""
    loop = history.timeline.main_loop(history.seconds)
    work, reach = costs(history, versions, loop)
    found = segments.partition(work, reach, count)
    last = len(found) - 1
    return [Window([Level(loop.loop, start, END if n == last else stop)], before=n == 0, after=n == last)
            for n, (start, stop) in enumerate(found)]


def costs(history: History, versions: Versions, loop: Followed) -> Tuple[List[float], List[float]]:
    """Seconds of each iteration in a work segment, and seconds until the start of each is reached."""
    whole = history.timeline.seconds(loop.place, history.seconds)
    saved_probed = [0.0] * len(whole)
    saved = [0.0] * len(whole)
    for key, seconds in history.block_seconds.items():
        *around, last = key.split("/")
        block = last.split("#")[0]
        if len(around) != 1 or around[0].split("=")[0] != loop.place or key not in history.checkpoints:
            continue
        index = int(around[0].split("=")[1])
        if index < len(whole):
            saved[index] += seconds
            if not versions.is_probed(block):
                saved_probed[index] += seconds
    work = [max(total - skipped, 0.0) + (RESTORED_S if skipped else 0.0) for total, skipped in zip(whole, saved_probed)]
    reach, so_far = [], 0.0
    starts = history.boundaries.get(loop.place, set())
    for index, (total, skipped) in enumerate(zip(whole, saved)):
        if index in starts:  # a replay can begin here
            so_far = RESTORED_S
        reach.append(so_far)
        so_far += max(total - skipped, 0.0) + (RESTORED_S if skipped else 0.0)
    return work, reach
