"""What a replay reports: the deferred check, what was skipped and why not more, and the verdict."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .. import _native
from ..plan.places import BOUNDARY
from ..process.output import Part
from ..runs import circumstances
from ..runs.journal import History, LogLine
from ..support import mishaps
from ..support.console import answer, count, duration, say
from . import failures as failed
from .parallel.workers import Merged
from .select.skipped import Skipped
from .session import trace_end
from .session.session import Line, Replay
from .session.statements import Ran, unanswered

ANOMALOUS = 1
_MOST = 5
"""Places that are named, where there may be many."""


class Check(NamedTuple):
    """The outcome of the deferred check."""

    anomalies: list[str]
    """Where the replay differs from the record."""
    compared: int
    """Recorded lines and checkpoints that were compared."""
    masked: int
    """Lines of these that are equal but for a time."""
    disturbances: list[str]
    """Where added statements do more than look: the recorded run would have gone on otherwise."""
    changes: list[str]
    """Other changes that run again, and that nothing was seen of."""
    ended: str
    """How and where the script ended, where the recorded run did not end so."""
    trace_end: str = ""
    """Where the record ended before the script did."""

    @property
    def verdict(self) -> str:
        """`exact`, `unverified` or `anomalous`."""
        if self.anomalies or self.disturbances or self.ended:
            return "anomalous"
        return "exact" if self.compared and not self.changes and not self.trace_end else "unverified"


def check(replay: Replay, failure: BaseException | None = None) -> Check:
    """Compare what the script printed, and what its blocks held, with the record (paper, Section 3.3.3).

    `failure`: what the script ended with. When an added statement raised it, that is all there is to tell.
    """
    ended, is_own = failed.describe(replay, failure) if failure is not None else ("", False)
    removed = replay.versions.removed_lines()
    window = replay.window

    def is_held(place: LogLine | Part, line: LogLine) -> bool:
        return window is None or window.holds(place.path, window.outermost in line.begun)

    lines = (line for line in replay.history.known_lines() if (line.file, abs(line.line)) not in removed and is_held(line, line))
    recorded = _not_skipped(lines, replay.skipped, is_held)
    ours, theirs = [line.text for line in recorded], [line.text for line in replay.lines]
    anomalies, masked = list(replay.differences), 0
    for i1, i2, j1, j2 in _native.diff_lines(ours, theirs):
        for offset in range(max(i2 - i1, j2 - j1)):
            old = recorded[i1 + offset] if i1 + offset < i2 else None
            new = replay.lines[j1 + offset] if j1 + offset < j2 else None
            if ended and new is None and j2 == len(theirs):
                continue  # it did not come so far
            if old is None and i2 == len(ours) and not replay.history.vouches(replay.is_over):
                continue  # nor did what is left of the record
            if old is None or new is None or _differs(replay.history.comparable(old), old.text, new.text):
                anomalies.append(_difference(old, new))
            else:
                masked += 1
    if not ended:
        anomalies += _other_lengths(replay)
    return _check(replay, [] if is_own else anomalies, len(ours) + replay.verified, masked, ended)


def _other_lengths(replay: Replay) -> Iterator[str]:
    """Outermost loops that had more or fewer iterations: a script that goes on from its own files finds them as they are."""
    if replay.window is not None:
        return
    for place, loop in replay.history.timeline.loops.items():
        ran = replay.reached.get(place, 0)
        if replay.ended_in and (not ran or replay.history.interrupted in _native.Path(place)):
            continue  # it ended before, or in, this one
        if not _native.Path(place).parent and loop.ended and ran != loop.count:
            yield f"{place} had {ran} iterations, in the recorded run {loop.count}"


def _check(replay: Replay | Merged, anomalies: list[str], compared: int, masked: int, ended: str) -> Check:
    changes = [f"it is not as when it was recorded: {found}" for found in replay.environment]
    changes += [f"{os.path.basename(c.file)}:{c.line}: {c.why}: {c.text.strip()}" for c in replay.versions.outside]
    changes += [*replay.read_back, *replay.unrecorded]
    is_vouched = replay.history.vouches(replay.is_over)
    has_started_others = replay.has_started_others if isinstance(replay, Merged) else replay.statements.has_started_others()
    changes += unanswered(replay.ran, replay.versions, has_started_others)
    if replay.history.lost:
        changes.append(f"{count(replay.history.lost, 'record')} of the journal could not be written when it was recorded")
    changes += filter(None, [mishaps.told()])
    return Check(
        anomalies,
        compared,
        masked,
        replay.disturbances,
        changes,
        ended,
        trace_end.described(replay.history, replay.ended_in, is_vouched),
    )


def _differs(read: Callable[[str], str], old: str, new: str) -> bool:
    return read(old) != read(new)


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
    where = f"{os.path.basename(old.file)}:{abs(old.line)}, {old.path or 'outside loops'}"
    if new is None:
        return f"{where}: did not print {old.text!r}, which the recorded run did"
    return f"{where}: printed {new.text!r} instead of {old.text!r}"


def finish(replay: Replay, outcome: Check, seconds: float, failure: BaseException | None, as_json: bool, folder: str) -> int:
    """Print the report; the exit code."""
    if failure is not None:
        failed.tell(failure, folder, outcome.ended)
    if as_json:
        _print_values(replay, outcome, seconds)
    _tell(replay, outcome, seconds)
    return _code(replay, outcome)


def _code(replay: Replay | Merged, outcome: Check) -> int:
    return ANOMALOUS if outcome.verdict == "anomalous" or replay.is_strict and outcome.verdict != "exact" else 0


def finish_merged(merged: Merged, seconds: float, as_json: bool) -> int:
    """Print the report of a parallel replay; the exit code."""
    outcome = _check(merged, merged.differences, merged.compared, merged.masked, merged.ended)
    if as_json:
        _print_values(merged, outcome, seconds)
    _tell(merged, outcome, seconds)
    return _code(merged, outcome)


def _print_values(replay: Replay | Merged, outcome: Check, seconds: float) -> None:
    vouched = trace_end.before(replay.history, replay.values) if outcome.compared and not outcome.changes else 0
    found = [
        {
            "file": value.file,
            "line": value.line,
            "path": value.path,
            "text": value.text,
            "verdict": "exact" if outcome.trace_end and outcome.verdict == "unverified" and at < vouched else outcome.verdict,
        }
        for at, value in enumerate(replay.values)
    ]
    found.append(
        {
            "run": replay.history.run.id,
            "verdict": outcome.verdict,
            "seconds": seconds,
            "recorded_seconds": replay.history.seconds,
            "skipped": len(replay.skipped.blocks),
            "ran": replay.entered,
            "reasons": replay.reasons,
            "began_with": replay.skipped.jumps,
            "ended_in": replay.ended_in,
            "trace_end": outcome.trace_end,
            "statements": [
                {"statement": replay.versions.said(name), **replay.ran.get(name, Ran())._asdict()}
                for name in dict.fromkeys([*replay.ran, *replay.versions.marked()])
            ],
            "anomalies": [outcome.ended] * bool(outcome.ended) + outcome.anomalies + outcome.disturbances,
        }
    )
    answer("".join(json.dumps(entry) + "\n" for entry in found))


def tell_circumstances(history: History) -> None:
    """What may be the reason where values differ from the record: what has changed since, what no run repeats."""
    otherwise = circumstances.changed(history.circumstances)
    if otherwise:
        say(f"it is not as when it was recorded: {'; '.join(otherwise)}", always=True)
    sources = []
    if circumstances.is_undetermined_on_cuda(history.circumstances):
        sources.append("CUDA kernels (torch.use_deterministic_algorithms is off)")
    if history.damage is not None:
        say(history.damage, always=True)
    if sources:
        say(f"no run repeats {' and '.join(sources)}", always=True)


def tell_timed(found: list[str]) -> None:
    """Which parts of the state were not compared."""
    if found:
        more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
        say(f"not compared, as it is the time of day: {', '.join(found[:_MOST])}{more}")


def exact(compared: int, masked: int, blocks: int) -> str:
    """The verdict when nothing differs."""
    lines = compared - masked - blocks
    equal = [f"{count(lines, 'recorded line')}"] * bool(lines) + [f"the state of {count(blocks, 'block')}"] * bool(blocks)
    timed = [f"{count(masked, 'line')} but for a time"] * bool(masked)
    return "exact: " + ", and ".join([f"{' and '.join(equal)} reappeared unchanged"] * bool(equal) + timed)


def _tell(replay: Replay | Merged, outcome: Check, seconds: float) -> None:
    if outcome.ended:
        if outcome.anomalies:
            _tell_anomalies(replay, outcome)
        return
    recorded = replay.history.seconds
    against = f", the recorded run took {duration(recorded)}" if recorded else ""
    faster = f" ({recorded / seconds:.1f} times as fast)" if recorded and seconds > 0 else ""
    if not replay.versions.changes:
        say("the script holds no statement that the recorded run did not have: there was nothing to answer")
    say(f"replayed {replay.history.run.id} in {duration(seconds)}{against}{faster}")
    if replay.skipped.jumps:
        say(f"{replay.skipped.describe()}: the state in which it began was restored")
    ran = sum(replay.entered.values())
    say(f"{count(len(replay.skipped.blocks), 'block')} restored in {duration(replay.restore_seconds)}, {ran} run again")
    for block, reasons in replay.reasons.items():
        if block.endswith(BOUNDARY):
            say(f"  {block[: -len(BOUNDARY)]} ran from its first iteration: {next(iter(reasons))}")
            continue
        for why, times in sorted(reasons.items(), key=lambda known: -known[1])[:_MOST]:
            say(f"  {block} ran {count(times, 'time')}: {why}")
    tell_timed(replay.timed)
    if outcome.disturbances:
        say(
            "ANOMALOUS: what was added does more than look: had it been there, the recorded run would have gone another way",
            always=True,
        )
        for found in outcome.disturbances[:10]:
            say(f"  {found}", always=True)
    if outcome.anomalies:
        _tell_anomalies(replay, outcome)
    elif outcome.disturbances:
        return
    elif outcome.changes:
        say("unverified: what changed besides log statements may have consequences that this replay does not show:")
        for found in outcome.changes[:10]:
            say(f"  {found}")
    elif outcome.trace_end:
        known = f"; before that, {exact(outcome.compared, outcome.masked, replay.verified)}" if outcome.compared else ""
        say(f"unverified from here on: {outcome.trace_end}{known}{_how_far(replay)}")
    elif outcome.compared:
        say(exact(outcome.compared, outcome.masked, replay.verified) + _how_far(replay))
    else:
        say("unverified: nothing the recorded run kept could be compared with this replay")


def _how_far(replay: Replay | Merged) -> str:
    """What a run that was cut off did in its last iteration is not known, and not answered."""
    return (
        f"; answered up to {replay.ended_in}, in which the recorded run {replay.history.how_it_ended}" if replay.ended_in else ""
    )


def _tell_anomalies(replay: Replay | Merged, outcome: Check) -> None:
    say(
        f"ANOMALOUS: the replay differs from the record in {count(len(outcome.anomalies), 'place')}; do not trust its values",
        always=True,
    )
    for anomaly in outcome.anomalies[:10]:
        say(f"  {anomaly}", always=True)
    for found in replay.read_back[:_MOST]:
        say(f"  {found}", always=True)
    tell_circumstances(replay.history)
    if replay.has_restored and not outcome.ended:
        say(
            "a block that is restored may have side effects that florc did not see; --step-into all runs every block again",
            always=True,
        )
