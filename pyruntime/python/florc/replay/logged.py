"""What the script's loggers wrote to files, in the replay and then.

Lines are compared statement by statement, and there iteration by iteration: which of several files had them first, and how far a
file went before it was rotated, is up to what added statements log as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..runs import masks
from ..runs.entries import LogLine
from .session.capture import Line, Logged
from .session.session import Replay

Place = tuple[str, int, str]
"""File and recorded line of a statement, and where in the loop nest it ran."""


class Compared(NamedTuple):
    """What came of it."""

    lines: int
    """Recorded lines."""
    masked: int
    """Those that are equal but for a time."""
    differing: list[tuple[LogLine | None, Line | None]]


def compared(replay: Replay, recorded: Iterable[LogLine], as_recorded: Callable[[str, set[str]], str]) -> Compared:
    """Compare what a replay had loggers write to files with what is recorded of it."""
    ours: dict[Place, list[LogLine]] = {}
    for line in recorded:
        ours.setdefault((line.file, abs(line.line), line.path), []).append(line)
    theirs: dict[Place, list[Logged]] = {}
    for told in replay.logged:
        at = replay.versions.recorded_line(told.file, abs(told.number)) if told.file else 0
        theirs.setdefault((told.file, at, told.line.path), []).append(told)
    lines = masked = 0
    differing: list[tuple[LogLine | None, Line | None]] = []
    for place in dict.fromkeys([*ours, *theirs]):
        then, now = ours.get(place, []), theirs.get(place, [])
        known = {line.text for line in then}
        texts = [as_recorded(told.line.text, known) for told in now]
        lines += len(then)
        missing = []
        for line in then:
            found = next((at for at, text in enumerate(texts) if text == line.text), None)
            if found is None:
                read = _reading(replay, line)
                found = next((at for at, text in enumerate(texts) if read(text) == read(line.text)), None)
                masked += found is not None
            if found is None:
                missing.append(line)
            else:
                del texts[found], now[found]
        differing += [
            (missing[at] if at < len(missing) else None, now[at].line if at < len(now) else None)
            for at in range(max(len(missing), len(now)))
        ]
    return Compared(lines, masked, differing)


def _reading(replay: Replay, line: LogLine) -> Callable[[str], str]:
    """How to read a line before it is compared. A logger puts the time before what it is told: that is its own clock."""
    read, told = replay.history.comparable(line), line.message

    def without_times(text: str) -> str:
        return masks.without_addresses(masks.without_times(read(text)) + (told if told is not None and told in text else ""))

    return without_times if told is not None else lambda text: masks.without_addresses(read(text))
