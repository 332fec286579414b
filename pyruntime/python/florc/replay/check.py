"""The deferred check: what the script printed in the replay, line by line, against the record (paper, Section 3.3.3)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator

from .. import _native, state
from ..process.output import Part
from ..runs import masks
from ..runs.entries import LogLine
from ..runs.lines import with_recorded_numbers, with_recorded_process
from ..support import mishaps
from ..support.console import place as place_of
from . import failures as failed
from .logged import compared
from .select.skipped import Skipped
from .session.capture import Line
from .session.result import ReplayResult
from .session.session import Replay


def check(replay: Replay, failure: BaseException | None = None) -> ReplayResult:
    """Compare what the script printed, and what its blocks left behind, with the record.

    `failure`: what the script ended with. If an added statement raised it, the result holds nothing else.
    """
    ended, is_own = failed.describe(replay, failure) if failure is not None else ("", False)
    removed = replay.versions.removed_lines()
    window = replay.window

    def is_held(place: LogLine | Part, line: LogLine) -> bool:
        return window is None or window.holds(place.path, window.outermost in line.begun)

    def is_there(line: LogLine) -> bool:
        return (line.file, abs(line.line)) not in removed and is_held(line, line)

    recorded = _not_skipped(filter(is_there, replay.history.known_lines()), replay.skipped, is_held)
    ours = [line.text for line in recorded]
    known = {*ours}  # what looks like the number of a line, or of the process, may be data
    theirs = [_as_recorded(replay, line.text, known) for line in replay.lines]
    in_files = (line for line in replay.history.log_lines() if is_there(line))
    logged = compared(replay, _not_skipped(in_files, replay.skipped, is_held), functools.partial(_as_recorded, replay))
    anomalies, masked = list(replay.comparer.differences), logged.masked
    for i1, i2, j1, j2 in _native.diff_lines(ours, theirs):
        for offset in range(max(i2 - i1, j2 - j1)):
            old = recorded[i1 + offset] if i1 + offset < i2 else None
            new = replay.lines[j1 + offset] if j1 + offset < j2 else None
            if ended and new is None and j2 == len(theirs):
                continue  # it did not come so far
            if old is None and i2 == len(ours) and not replay.history.vouches(replay.is_over):
                continue  # nor did what is left of the record
            if old is None or new is None or _differs(replay.history.comparable(old), old.text, theirs[j1 + offset]):
                anomalies.append(_difference(old, new))
            else:
                masked += 1
    if not ended:
        anomalies += _other_lengths(replay)
        if not replay.is_over or window is not None:  # else there is more in the record
            anomalies += [_difference(old, new) for old, new in logged.differing]
    if anomalies or (ended and not is_own):
        replay.looking.follows()  # whatever they left behind may be the cause
    return ReplayResult(
        values=replay.values,
        anomalies=[] if is_own else anomalies,
        # a library may try what a statement is in, and do without: that is the cause of something only where something differs
        disturbances=[*replay.disturbances, *(replay.looking.caught(failure) if anomalies or ended else ())],
        compared=len(ours) + logged.lines + replay.comparer.verified,
        verified=replay.comparer.verified,
        masked=masked,
        ended=ended,
        ended_in=replay.ended_in,
        is_over=replay.is_over,
        skipped=sorted(replay.skipped.blocks),
        jumps=replay.skipped.jumps,
        has_restored=replay.has_restored,
        entered=replay.entered,
        reasons=replay.reasons,
        restore_seconds=replay.restore_seconds,
        read=_read(replay),
        timed=replay.comparer.timed,
        read_back=replay.read_back,
        environment=replay.environment,
        unrecorded=replay.unrecorded,
        mishaps=list(filter(None, [mishaps.told()])),
        statements=replay.ran,
        points=replay.tracked.points,
        not_sent=replay.tracked.not_sent,
        uncompared=replay.comparer.uncompared,
        has_started_others=replay.statements.others.were_started(),
    )


def _read(replay: Replay) -> dict[str, int]:
    """What was read of checkpoints, for `ReplayResult.read`."""
    chunks, nbytes, there = replay.history.reader.read_so_far
    waited, needed = state.deferred.waited, state.deferred.filled
    return {"chunks": chunks, "bytes": nbytes, "there": there, "waited": waited, "needed": needed}


def _as_recorded(replay: Replay, text: str, known: set[str]) -> str:
    """A line with the number of the recorded process and with recorded numbers of lines: loggers tell these already."""
    if text in known:
        return text
    text = with_recorded_process(text, replay.history.pid)
    return text if text in known else with_recorded_numbers(text, replay.versions.recorded_line)


def _other_lengths(replay: Replay) -> Iterator[str]:
    """Outermost loops that had more or fewer iterations: a script that goes on from its own files finds them as they are."""
    if replay.window is not None:
        return
    for place, loop in replay.history.timeline.loops.items():
        ran = replay.reached.get(place, 0)
        if replay.ended_in and (not ran or replay.history.interrupted in _native.Path(place)):
            continue  # it ended before, or in, this one
        if replay.ended_in and replay.history.is_beyond(_native.Path(place).at(ran), replay.reached):
            continue  # another rank was cut off there
        if not _native.Path(place).parent and loop.ended and ran != loop.count:
            yield f"{place} had {ran} iterations, in the recorded run {loop.count}"


def _differs(read: Callable[[str], str], old: str, new: str) -> bool:
    return masks.without_addresses(read(old)) != masks.without_addresses(read(new))


def _not_skipped(lines: Iterable[LogLine], skipped: Skipped, is_held: Callable[[Part, LogLine], bool]) -> list[LogLine]:
    """What a replay prints that skips these blocks: a line may have been written in part outside and in part inside.

    `is_held`: whether the replay answers for a part of a line.
    """
    found, begun = [], ""
    for line in lines:
        is_skipped = skipped.holds(line.path)
        if not line.parts and not begun:
            found += [] if is_skipped else [line]
            continue
        parts = [part for part in line.parts if is_held(part, line)] if line.parts else [Part(line.path, line.text)]
        begun += "".join(part.text for part in parts if not skipped.holds(part.path))
        if not is_skipped:
            found.append(line._replace(text=begun))
            begun = ""
    return found


def _difference(old: LogLine | None, new: Line | None) -> str:
    if old is None:
        assert new is not None
        return f"{new.path or 'outside loops'}: printed {new.text!r}, which the recorded run did not"
    where = f"{place_of(old.file, abs(old.line), is_short=True, is_recorded=True)}, {old.path or 'outside loops'}"
    if new is None:
        return f"{where}: did not print {old.text!r}, which the recorded run did"
    return f"{where}: printed {new.text!r} instead of {old.text!r}"
