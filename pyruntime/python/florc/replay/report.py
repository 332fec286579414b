"""What a replay reports: the verdict, what was restored, and why other blocks ran."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from .. import _native
from ..plan.places import BOUNDARY
from ..project.asked import text_of
from ..project.script import NOTEBOOK, Unusable
from ..runs import circumstances
from ..runs.journal import History
from ..runs.versions import Versions
from ..support.console import answer, cell_of, count, duration, place, relative, say
from . import failures as failed
from .session import trace_end
from .session.result import ReplayResult
from .session.statements import Ran, unanswered

if TYPE_CHECKING:
    from ..answers.rows import Named, Row
    from ..trackers.point import Point
    from .session.capture import Value

ANOMALOUS = 1
_SHORT_S = 0.1
"""Imports that took less are not worth a word."""
_MOST = 5
"""The most places that a message names."""


class Report(NamedTuple):
    """The result of a replay, and the record that it replays."""

    history: History
    versions: Versions
    result: ReplayResult
    changes: list[str]
    """What makes an answer unverified: changed code that runs again without a visible effect, changed files, and the like."""
    trace_end: str
    """Where the record ended before the script did; empty if it did not."""
    rank: int | None = None
    """The rank whose values are shown; None: those of all."""

    @classmethod
    def of(cls, history: History, versions: Versions, result: ReplayResult) -> Report:
        """The report of a result."""
        changes = [f"changed since recording: {found}" for found in result.environment]
        changes += [f"{place(c.file, c.line, is_short=True)}: {c.why}: {c.text.strip()}" for c in versions.outside]
        changes += [
            f"{place(c.file, c.line, is_short=True)}: what is below a cell magic runs inside IPython, and is not the recorded "
            "one: statements in it are not answered one by one"
            for c in versions.changes
            if not c.removed and c.file.endswith(NOTEBOOK) and ".run_cell_magic(" in c.text
        ]
        changes += [*result.read_back, *result.unrecorded]
        changes += unanswered(result.statements, versions, result.has_started_others)
        if history.lost:
            changes.append(f"{count(history.lost, 'record')} of the journal could not be written when it was recorded")
        changes += [*result.uncompared, *result.mishaps]
        end = trace_end.described(history, result.ended_in, history.vouches(result.is_over))
        return cls(history, versions, result, changes, end)

    @property
    def verdict(self) -> str:
        """`exact`, `unverified` or `anomalous`."""
        found = self.result
        if found.anomalies or found.disturbances or found.ended:
            return "anomalous"
        return "exact" if found.compared and not self.changes and not self.trace_end else "unverified"

    def shows(self, value: Value) -> bool:
        """Whether this value was asked for."""
        return self.rank in (None, value.rank)

    def code(self, is_strict: bool) -> int:
        """The exit code of the command. `is_strict`: an unverified answer counts as a failure."""
        return ANOMALOUS if self.verdict == "anomalous" or is_strict and self.verdict != "exact" else 0

    def exact(self) -> str:
        """The verdict in words, if nothing differs."""
        compared, masked, blocks = self.result.compared, self.result.masked, self.result.verified
        lines = compared - masked - blocks
        equal = [f"{count(lines, 'recorded line')}"] * bool(lines) + [f"the state of {count(blocks, 'block')}"] * bool(blocks)
        timed = [f"{count(masked, 'line')} but for a time"] * bool(masked)
        return "exact: " + ", and ".join([f"{' and '.join(equal)} reappeared unchanged"] * bool(equal) + timed)


def tell(
    report: Report,
    seconds: float,
    failure: BaseException | None = None,
    as_json: bool = False,
    form: str | None = None,
    output: str | None = None,
    folder: str = "",
    importing: Sequence[tuple[str, float]] = (),
    is_part: bool = False,
) -> list[Named]:
    """Print the report. Returns the lines that added statements printed, and what is named in each.

    `form`: values by their names, in one of `table.FORMATS`, and to the file `output`, if one is given. `failure`: what ended the
    script; its output is in `folder`. `importing`: the libraries that were imported for the script before it began, and their
    seconds, which are among `seconds`. `is_part`: this is a worker or a rank, whose values are kept with those of the others."""
    importing = [*importing, *_native.import_seconds()]
    if failure is not None:
        failed.tell(failure, folder, report.result.ended)
    lines: list[Named] = []
    if not is_part and (report.result.values or report.result.points or as_json or form is not None):
        lines = _put_values(report, seconds, as_json, form, output, importing)
    _tell(report, seconds, importing)
    if form is None and not as_json and os.isatty(1):  # `sys.stdout` may be an object of the script's own
        _offer_table(report, lines)
    return lines


def _offer_table(report: Report, lines: list[Named]) -> None:
    """Say how to see the values with names, as a table."""
    names = list(dict.fromkeys(name for line in lines for name in line.values))
    if names:
        words = [relative(report.history.run.info["script"]), *names[:_MOST], "--pivot"]
        say(f"as a table: florc logs {shlex.join(words)}")


def _put_values(
    report: Report, seconds: float, as_json: bool, form: str | None, output: str | None, importing: Sequence[tuple[str, float]]
) -> list[Named]:
    """Keep the values for `florc logs`, and print those that were not printed while the script ran."""
    from ..answers import asked, command  # what reads the statements is imported where there is something to read

    lines = _named(report)
    found = [(row, value) for line, value in zip(lines, report.result.values) for row in line.rows]
    sent = _tracked(report)
    asked.keep(report.history.run, [*(row for row, _ in found), *sent], lambda row: report.versions.anchor(row.file, row.line))
    named = [*(row for row, value in found if report.shows(value)), *sent]
    if as_json:
        answer("".join(json.dumps(entry) + "\n" for entry in _entries(report, seconds, importing, lines)))
    elif form is not None:
        nameless = sum(not line.values for line, value in zip(lines, report.result.values) if report.shows(value))
        if nameless:
            say(
                f"{count(nameless, 'line')} of the answer have no names, and are not in the table; --json has all"
                if nameless > 1
                else "1 line of the answer has no name, and is not in the table; --json has it"
            )
        try:
            command.put_rows(named, form, output)
        except Unusable as error:
            say(f"{error}; these are the values", always=True, code=error.code)
            command.put_rows(named, "csv", None)
    return [line for line, value in zip(lines, report.result.values) if value.child is None and report.shows(value)]


def _tracked(report: Report) -> list[Row]:
    """The numbers that added statements sent to trackers."""
    from ..answers import rows

    points = [point for point in report.result.points if point.value is not None]
    seen: dict[tuple[str, int, str, str], int] = {}
    found = []
    for point, verdict in zip(points, verdicts(report, points)):
        key = (point.file, point.line, point.path, point.name)
        seen[key] = seen.get(key, -1) + 1
        context = rows.context(report.history, point.path)
        front = (report.history.run.id, None, point.file, point.line, context, seen[key])
        found.append(rows.Row(*front, point.name, point.value, verdict))
    return found


def _named(report: Report) -> list[Named]:
    """The lines of the answer, and what is named in each."""
    from ..answers import rows

    texts: dict[str, str] = {}
    for file in {value.file for value in report.result.values}:
        known = report.versions.text(file)  # of a notebook, its program
        if known is not None:
            texts[file] = known
            continue
        with suppress(OSError, UnicodeDecodeError), open(file, encoding="utf-8") as source:
            texts[file] = text_of(file, source.read())
    said = verdicts(report, report.result.values)
    printed = (
        rows.Printed(*value[:4], verdict, value.rank, value.message, value.is_error, value.child)
        for value, verdict in zip(report.result.values, said)
    )
    return list(rows.named(report.history, printed, rows.Names(texts)))


def verdicts(report: Report, values: Sequence[Value | Point]) -> list[str]:
    """That of each value: what the record vouches for is exact although it ended before the script did."""
    verdict = report.verdict
    vouched = trace_end.before(report.history, values) if report.result.compared and not report.changes else 0
    return ["exact" if report.trace_end and verdict == "unverified" and at < vouched else verdict for at in range(len(values))]


def _entries(
    report: Report, seconds: float, importing: Sequence[tuple[str, float]], lines: Sequence[Named]
) -> list[dict[str, object]]:
    """What `--json` prints: an entry for each value, one for the replay."""
    history, versions, found = report.history, report.versions, report.result
    verdict = report.verdict
    values: list[dict[str, object]] = [
        {
            "file": value.file,
            **_line(value.file, value.line),
            "path": value.path,
            "text": value.text,
            **({"stream": "stderr"} if value.is_error else {"stream": "file"} if value.is_file else {}),
            "verdict": line.printed.verdict,
            "context": line.context,
            "occurrence": line.occurrence,
            "values": line.values,
            **({} if value.rank is None else {"rank": value.rank}),
            **({} if value.child is None else {"child": value.child}),
        }
        for value, line in zip(found.values, lines)
        if report.shows(value)
    ]
    return [
        *values,
        {
            "run": history.run.id,
            "verdict": verdict,
            "seconds": seconds,
            "recorded_seconds": history.seconds,
            "import_seconds": sum(took for _, took in importing),
            "lost_seconds": found.lost_seconds,
            "skipped": len(found.skipped),
            "restored": found.skipped,
            "read": found.read,
            "ran": found.entered,
            "reasons": found.reasons,
            "began_with": found.jumps,
            "ended_in": found.ended_in,
            "trace_end": report.trace_end,
            "statements": [
                {"statement": versions.said(name), **found.statements.get(name, Ran())._asdict()}
                for name in dict.fromkeys([*found.statements, *versions.marked()])
            ],
            "anomalies": [found.ended] * bool(found.ended) + found.anomalies + found.disturbances,
        },
    ]


def _line(file: str, line: int) -> dict[str, int]:
    cell, within = cell_of(file, line)
    return {"line": within} if cell is None else {"cell": cell, "line": within}


def tell_circumstances(history: History) -> None:
    """Say why values may differ from the record: what has changed since recording, and what no run repeats."""
    otherwise = circumstances.changed(history.circumstances)
    if otherwise:
        say(f"changed since recording: {'; '.join(otherwise)}", always=True, code="F505")
    sources = []
    if circumstances.is_undetermined_on_cuda(history.circumstances):
        sources.append("CUDA kernels (torch.use_deterministic_algorithms is off)")
    if history.damage is not None:
        say(history.damage, always=True, code="F205")
    if sources:
        say(f"no run repeats {' and '.join(sources)}", always=True, code="F505")


def tell_timed(found: list[str]) -> None:
    """Say which parts of the state were not compared."""
    if found:
        more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
        say(f"not compared, because it holds the time of day: {', '.join(found[:_MOST])}{more}")


def _tell(report: Report, seconds: float, importing: Sequence[tuple[str, float]]) -> None:
    found = report.result
    if found.ended:
        if found.anomalies:
            _tell_anomalies(report)
        return
    recorded = report.history.seconds
    imports = sum(took for _, took in importing)
    recorded_imports = sum(took for _, took in report.history.run.imports())
    against = f", the recorded run took {duration(recorded)}" if recorded else ""
    faster = f" ({recorded / seconds:.1f} times as fast)" if recorded and seconds > 0 else ""
    if recorded and recorded_imports and _SHORT_S <= imports < seconds:
        without = (recorded - recorded_imports) / (seconds - imports)
        faster = f" ({recorded / seconds:.1f} times as fast; {without:.1f} without the imports of both)"
    if not report.versions.changes:
        say("no statement was added since recording: there was nothing to answer")
    say(f"replayed {report.history.run.id} in {duration(seconds)}{_of_which(importing)}{against}{faster}")
    if found.lost_seconds >= _SHORT_S:
        say(f"{duration(found.lost_seconds)} of that was lost: what was restored did not fit, and the replay started again")
    if found.jumps:
        began = ", ".join(f"{place} began with iteration {index}" for place, index in found.jumps.items())
        say(f"{began}: florc restored its iteration checkpoint")
    ran = sum(found.entered.values())
    say(f"{count(len(found.skipped), 'block')} restored in {duration(found.restore_seconds)}, {ran} run again")
    for block, reasons in found.reasons.items():
        if block.endswith(BOUNDARY):
            say(f"  {block[: -len(BOUNDARY)]} ran from its first iteration: {next(iter(reasons))}")
            continue
        for why, times in sorted(reasons.items(), key=lambda known: -known[1])[:_MOST]:
            say(f"  {block} ran {count(times, 'time')}: {why}")
    tell_timed(found.timed)
    if found.disturbances:
        what = "an added or changed" if any(change.removed for change in report.versions.changes) else "an added"
        say(
            f"ANOMALOUS: {what} statement does more than look: with it, the recorded run would have taken another course",
            always=True,
            code="F502",
        )
        for disturbance in found.disturbances[:10]:
            say(f"  {disturbance}", always=True)
    if found.anomalies:
        _tell_anomalies(report)
    elif found.disturbances:
        return
    elif report.changes:
        say("unverified: the record cannot vouch for all of this replay, because:", code="F504")
        for change in report.changes[:10]:
            say(f"  {change}")
    elif report.trace_end:
        known = f"; before that, {report.exact()}" if found.compared else ""
        say(f"unverified from here on: {report.trace_end}{known}{_how_far(report)}", code="F507")
    elif found.compared:
        say(report.exact() + _how_far(report))
    else:
        say("unverified: the record holds nothing that florc could compare with this replay", code="F510")


def _of_which(importing: Sequence[tuple[str, float]]) -> str:
    """How much of the time the script's libraries took to import, and which of them most of it."""
    taken: dict[str, float] = {}
    for name, seconds in importing:
        package = name.partition(".")[0]
        taken[package] = taken.get(package, 0.0) + seconds
    total = sum(taken.values())
    if total < _SHORT_S:
        return ""
    names = sorted((name for name in taken if taken[name] > total / 10), key=lambda name: -taken[name])
    return f", of which {duration(total)} importing {' and '.join(names)}"


def _how_far(report: Report) -> str:
    """What a run that was cut off did in its last iteration is not known, and not answered."""
    where = report.result.ended_in
    return f"; answered up to {where}, in which the recorded run {report.history.how_it_ended}" if where else ""


def _tell_anomalies(report: Report) -> None:
    found = report.result
    say(
        f"ANOMALOUS: the replay differs from the record in {count(len(found.anomalies), 'place')}; do not trust its values",
        always=True,
        code="F501",
    )
    for anomaly in found.anomalies[:10]:
        say(f"  {anomaly}", always=True)
    for read in found.read_back[:_MOST]:
        say(f"  {read}", always=True)
    tell_circumstances(report.history)
    if found.has_restored and not found.ended:
        say(
            "a block that is restored may have side effects that florc did not see; --step-into all runs every block again",
            always=True,
        )
