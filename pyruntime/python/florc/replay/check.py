"""The deferred check: what the script printed in the replay, line by line, against the record (paper, Section 3.3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .. import _native
from ..process.output import Part
from ..runs import masks
from ..runs.entries import LogLine
from ..runs.lines import with_recorded_numbers, with_recorded_process
from ..support import mishaps
from ..support.console import place as place_of
from . import failures as failed
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

    lines = (line for line in replay.history.known_lines() if (line.file, abs(line.line)) not in removed and is_held(line, line))
    recorded = _not_skipped(lines, replay.skipped, is_held)
    ours = [line.text for line in recorded]
    known = {*ours}  # what looks like the number of a line, or of the process, may be data
    theirs = [_as_recorded(replay, line.text, known) for line in replay.lines]
    anomalies, masked = list(replay.comparer.differences), 0
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
    if anomalies or (ended and not is_own):
        replay.looking.follows()  # whatever they left behind may be the cause
    return ReplayResult(
        values=replay.values,
        anomalies=[] if is_own else anomalies,
        # a library may try what a statement is in, and do without: that is the cause of something only where something differs
        disturbances=[*replay.disturbances, *(replay.looking.caught(failure) if anomalies or ended else ())],
        compared=len(ours) + replay.comparer.verified,
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
        read=replay.read,
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
