"""What a replay reports: the deferred check, what was skipped and why not more, and the verdict."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable, Iterable, Iterator, List, NamedTuple, Optional, Union

from . import _native, circumstances, launch
from .history import History, LogLine
from .messages import duration, say
from .output import Part
from .places import BOUNDARY
from .replay import Replay
from .skipped import Skipped
from .workers import Merged

ANOMALOUS = 1
_MOST = 5
"""Places that are named, where there may be many."""


class Check(NamedTuple):
    """The outcome of the deferred check."""

    anomalies: List[str]
    """Where the replay differs from the record."""
    compared: int
    """Recorded lines and checkpoints that were compared."""
    disturbances: List[str]
    """Where added statements do more than look: the recorded run would have gone on otherwise."""
    changes: List[str]
    """Other changes that run again, and that nothing was seen of."""

    @property
    def verdict(self) -> str:
        """`exact`, `unverified` or `anomalous`."""
        if self.anomalies or self.disturbances:
            return "anomalous"
        return "exact" if self.compared and not self.changes else "unverified"


def check(replay: Replay) -> Check:
    """Compare what the script printed, and what its blocks held, with the record (paper, Section 3.3.3)."""
    removed = replay.versions.removed_lines()
    window = replay.window

    def is_held(place: Union[LogLine, Part], line: LogLine) -> bool:
        return window is None or window.holds(place.path, window.outermost in line.begun)

    lines = (line for line in replay.history.lines
             if (line.file, abs(line.line)) not in removed and is_held(line, line))
    recorded = _not_skipped(lines, replay.skipped, is_held)
    if replay.history.run.status in ("killed", "interrupted"):
        recorded = [line for line in recorded if not replay.history.is_beyond(line.path.split("/")[0] or "=")]
    ours, theirs = [line.text for line in recorded], [line.text for line in replay.lines]
    anomalies = list(replay.differences)
    for i1, i2, j1, j2 in _native.diff_lines(ours, theirs):
        for offset in range(max(i2 - i1, j2 - j1)):
            old = recorded[i1 + offset] if i1 + offset < i2 else None
            new = replay.lines[j1 + offset] if j1 + offset < j2 else None
            if old is None or new is None or _differs(replay.history.comparable(old), old.text, new.text):
                anomalies.append(_difference(old, new))
    return _check(replay, [*_other_lengths(replay), *anomalies], len(ours) + replay.verified)


def _other_lengths(replay: Replay) -> Iterator[str]:
    """Outermost loops that had more or fewer iterations: a script that goes on from its own files finds them as they are."""
    if replay.window is not None:
        return
    for place, loop in replay.history.timeline.loops.items():
        ran = replay.reached.get(place, 0)
        if "/" not in place and loop.ended and ran != loop.count:
            yield f"{place} had {ran} iterations, in the recorded run {loop.count}"


def _check(replay: Union[Replay, Merged], anomalies: List[str], compared: int) -> Check:
    changes = [f"{os.path.basename(c.file)}:{c.line}: {c.why}: {c.text.strip()}" for c in replay.versions.outside]
    changes += [f"{os.path.basename(file)} was read, which only some of the iterations that write to it have written"
                for file in replay.read_back]
    return Check(anomalies, compared, replay.disturbances, changes)


def _differs(read: Callable[[str], str], old: str, new: str) -> bool:
    return read(old) != read(new)


def _not_skipped(lines: Iterable[LogLine], skipped: Skipped,
                 is_held: Callable[[Part, LogLine], bool]) -> List[LogLine]:
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


def _difference(old: Any, new: Any) -> str:
    if old is None:
        return f"{new.path or 'outside loops'}: printed {new.text!r}, which the recorded run did not"
    where = f"{os.path.basename(old.file)}:{abs(old.line)}, {old.path or 'outside loops'}"
    if new is None:
        return f"{where}: did not print {old.text!r}, which the recorded run did"
    return f"{where}: printed {new.text!r} instead of {old.text!r}"


def finish(replay: Replay, outcome: Check, seconds: float, failure: Optional[BaseException], as_json: bool,
           folder: str) -> int:
    """Print the report; the exit code."""
    if failure is not None:
        _tell_failure(failure, folder)
    if as_json:
        _print_values(replay, outcome, seconds)
    _tell(replay, outcome, seconds)
    if failure is not None and not ended_so(replay, failure):
        return ANOMALOUS
    return ANOMALOUS if outcome.verdict == "anomalous" else 0


def finish_merged(merged: Merged, seconds: float, as_json: bool) -> int:
    """Print the report of a parallel replay; the exit code."""
    outcome = _check(merged, merged.differences, merged.compared)
    if as_json:
        _print_values(merged, outcome, seconds)
    _tell(merged, outcome, seconds)
    return ANOMALOUS if outcome.verdict == "anomalous" or merged.failed else 0


def ended_so(replay: Replay, failure: BaseException) -> bool:
    """Whether the recorded run ended in the same way."""
    if isinstance(failure, SystemExit):
        return replay.history.run.status == f"exit {failure.code}"
    return replay.history.run.status == "exception"


def _tell_failure(failure: BaseException, folder: str) -> None:
    if isinstance(failure, SystemExit):
        say(f"the script ended itself with exit code {failure.code}", always=True)
        return
    stripped = launch.without_own_frames(failure.__traceback__)
    sys.excepthook(type(failure), failure.with_traceback(stripped), stripped)
    say(f"the script raised; what it printed is in {os.path.join(folder, 'output')}", always=True)


def _print_values(replay: Union[Replay, Merged], outcome: Check, seconds: float) -> None:
    for value in replay.values:
        print(json.dumps({"file": value.file, "line": value.line, "path": value.path, "text": value.text,
                          "verdict": outcome.verdict}))
    print(json.dumps({"run": replay.history.run.id, "verdict": outcome.verdict, "seconds": seconds,
                      "recorded_seconds": replay.history.seconds, "skipped": len(replay.skipped.blocks),
                      "ran": replay.entered, "reasons": replay.reasons, "began_with": replay.skipped.jumps,
                      "anomalies": outcome.anomalies + outcome.disturbances}))
    sys.stdout.flush()


def tell_circumstances(history: History) -> None:
    """What may be the reason where values differ from the record: what has changed since, what no run repeats."""
    otherwise = circumstances.changed(history.circumstances)
    if otherwise:
        say(f"it is not as when it was recorded: {'; '.join(otherwise)}", always=True)
    sources = [f"the time of day ({', '.join(history.clock_places())})"] if history.clock_places() else []
    if circumstances.is_undetermined_on_cuda(history.circumstances):
        sources.append("CUDA kernels (torch.use_deterministic_algorithms is off)")
    if sources:
        say(f"no run repeats {' and '.join(sources)}", always=True)


def tell_timed(found: List[str]) -> None:
    """Which parts of the state were not compared."""
    if found:
        more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
        say(f"not compared, as it is the time of day: {', '.join(found[:_MOST])}{more}")


def _tell(replay: Union[Replay, Merged], outcome: Check, seconds: float) -> None:
    recorded = replay.history.seconds
    against = f", the recorded run took {duration(recorded)}" if recorded else ""
    faster = f" ({recorded / seconds:.1f} times as fast)" if recorded and seconds > 0 else ""
    if not replay.versions.changes:
        say("the script holds no statement that the recorded run did not have: there was nothing to answer")
    say(f"replayed {replay.history.run.id} in {duration(seconds)}{against}{faster}")
    if replay.skipped.jumps:
        say(f"{replay.skipped.describe()}: the state in which it began was restored")
    ran = sum(replay.entered.values())
    say(f"{len(replay.skipped.blocks)} blocks restored in {duration(replay.restore_seconds)}, {ran} run again")
    for block, why in replay.reasons.items():
        if block.endswith(BOUNDARY):
            say(f"  {block[: -len(BOUNDARY)]} ran from its first iteration: {why}")
            continue
        times = replay.entered.get(block, 0)
        say(f"  {block} ran {times} time{'s' * (times != 1)}: {why}")
    tell_timed(replay.timed)
    if outcome.disturbances:
        say("ANOMALOUS: what was added does more than look: had it been there, the recorded run would have gone another way",
            always=True)
        for found in outcome.disturbances[:10]:
            say(f"  {found}", always=True)
    if outcome.anomalies:
        say(f"ANOMALOUS: the replay differs from the record in {len(outcome.anomalies)} places; do not trust its values",
            always=True)
        for anomaly in outcome.anomalies[:10]:
            say(f"  {anomaly}", always=True)
        tell_circumstances(replay.history)
        say("a block that is restored may have side effects that florc did not see; "
            "--step-into all runs every block again", always=True)
    elif outcome.disturbances:
        return
    elif outcome.changes:
        say("unverified: what changed besides log statements may have consequences that this replay does not show:")
        for found in outcome.changes[:10]:
            say(f"  {found}")
    elif outcome.compared:
        lines = outcome.compared - replay.verified
        say(f"exact: {lines} recorded lines and the state of {replay.verified} blocks reappeared unchanged")
    else:
        say("unverified: nothing the recorded run kept could be compared with this replay")
