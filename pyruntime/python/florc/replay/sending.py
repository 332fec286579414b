"""What a replay sends to experiment trackers, once its verdict is known."""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..project.script import Unusable
from ..runs.journal import History
from ..support.console import count, place, relative, say
from ..trackers.deliver import NotDelivered, deliver, is_installed
from ..trackers.known import EXACT, TRACKERS, UNVERIFIED
from ..trackers.point import Point, Sent
from .report import Report, verdicts
from .session.started import STARTED

if TYPE_CHECKING:
    from ..answers.rows import Named

To = tuple[str, "str | None"]
"""`--to TRACKER[=WHERE]`."""
_MOST = 5
"""So many names are told."""


def target(history: History, to: To) -> dict[str, Any]:
    """The run that `--to` names, by default the recorded one. Raises Unusable, before anything runs."""
    tracker, where = to
    known = TRACKERS[tracker]
    if not is_installed(tracker):
        raise Unusable("F105", f"--to {tracker} needs the package {known.package}: pip install {known.package}")
    found = _recorded(history, tracker)
    if where is not None:
        return _named(tracker, where, found)
    if not found:
        raise Unusable(
            "F108", f"--to {tracker}: the recorded run began no run of {known.said}; name one: --to {tracker}={known.where}"
        )
    names = [run[known.of] for run in found]
    if known.of == "folder":  # `add_scalars` writes to folders inside it
        names = [name for name in names if not any(name.startswith(other + os.sep) for other in names)]
    if len(set(names)) > 1:
        shown = ", ".join(relative(name) if known.of == "folder" else str(name) for name in dict.fromkeys(names))
        raise Unusable("F108", f"--to {tracker}: the recorded run began several; name one: --to {tracker}={known.where}: {shown}")
    return next(run for run in found if run[known.of] == names[0])


def _recorded(history: History, tracker: str) -> list[dict[str, Any]]:
    """The runs of a tracker that the recorded run began, its files where they are now."""
    of = TRACKERS[tracker].of
    every = [found for rank in history.together for name, found in rank.tracked if name == tracker and of in found]
    return [{**found, **({"folder": history.run.file(found["folder"])} if "folder" in found else {})} for found in every]


def _named(tracker: str, where: str, recorded: list[dict[str, Any]]) -> dict[str, Any]:
    if tracker == "tb":
        return {"folder": os.path.abspath(where)}
    if tracker == "csv":
        return {"file": os.path.abspath(where)}
    known = next((run for run in recorded if where in (run["run"], f"{run.get('project')}/{run['run']}")), None)
    if known is not None:
        return known
    if tracker == "mlflow":
        uri = STARTED.environment.get("MLFLOW_TRACKING_URI")
        return {"run": where, "uri": next((run["uri"] for run in recorded), uri), "folder": STARTED.folder}
    project, slash, name = where.rpartition("/")
    if not slash:
        raise Unusable("F108", f"--to {tracker}={where}: the recorded run began no such run; name another: PROJECT/RUN")
    store = next((run.get("store") for run in recorded), None)
    made = os.path.join(STARTED.folder, "wandb", name)
    return {"run": name, "project": project, "entity": None, "name": name, "store": store, "folder": made}


def send(report: Report, lines: Sequence[Named], to: To | None, run: dict[str, Any] | None) -> bool:
    """Send what added statements gave to trackers, and with `--to` the numbers that they printed. `lines`: what they printed, by
    name; `run`: `target` of `to`. Returns False where something was not delivered."""
    found, history = report.result, report.history
    for what, statement in found.not_sent.items():
        file, line = report.versions.probe_place(statement)
        say(f"{place(file, line, is_short=True)}: florc does not send {what}", always=True, code="F511")
    points = [*found.points]
    if to is not None and run is not None:
        points += _printed(lines, to[0], run)
    if not points:
        if to is not None:
            say(f"--to {to[0]}: the added statements printed no number with a name", always=True, code="F511")
        return to is None
    if report.verdict == "anomalous":
        names = ", ".join(dict.fromkeys(TRACKERS[point.tracker].said for point in points))
        say(f"nothing was sent to {names}: the replay is anomalous, and its values may be wrong", always=True, code="F511")
        return True
    groups: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        of = TRACKERS[point.tracker].of
        key = str(point.run.get("file") or point.run.get(of)) + os.sep * ("is_beside" in point.run)
        groups.setdefault((point.tracker, key), []).append(point)
    said = [EXACT if verdict == "exact" else UNVERIFIED for verdict in verdicts(report, points)]
    prefixes = {id(point): prefix for point, prefix in zip(points, said)}
    delivered = [_send_group(history, group, prefixes) for group in groups.values()]
    return all(delivered)


def _printed(lines: Sequence[Named], tracker: str, run: dict[str, Any]) -> list[Point]:
    """The numbers among the values of lines; a truth value is 0 or 1."""
    return [
        Point(tracker, run, row.name, float(row.value), None, line.printed.path, row.file, row.line)
        for line in lines
        for row in line.rows
        if isinstance(row.value, (bool, int, float)) and row.name not in row.context
    ]


def _send_group(history: History, group: list[Point], prefixes: dict[int, str]) -> bool:
    """Send the points of one run."""
    tracker = group[0].tracker
    known, run = TRACKERS[tracker], dict(group[0].run)
    noted = next((found for found in _recorded(history, tracker) if found[known.of] == run.get(known.of)), {})
    run = {**noted, **run}
    is_beside = run.pop("is_beside", False)
    if is_beside:  # in a folder of its own, where its tags are as TensorBoard's plugin wants them
        run["folder"] = os.path.join(run["folder"], prefixes[id(group[0])].rstrip("/"))
    where = f"{known.said}, {relative(run.get('file') or run['folder']) if known.of == 'folder' else run['run']}"
    if known.of == "run" and not noted and "project" not in run and "uri" not in run:
        say(f"not sent to {where}: the record does not know this run; record again", always=True, code="F511")
        return False
    run["kept"] = os.path.join(history.run.path, "sent", f"{tracker}-{run.get('run')}.json")
    group = [point for point in group if point.value is not None or point.data]
    sent = [
        Sent(prefixes[id(point)] * (not is_beside) + point.name, point.value, step, seconds_of(history, point.path), point.data)
        for point, step in zip(group, steps_of(history, group))
    ]
    try:
        new = deliver(tracker, run, history.run.id, sent, STARTED.environment)
    except NotDelivered as error:
        say(
            f"{count(len(sent), 'value')} not sent to {where}: {error}; florc logs has those that are numbers",
            always=True,
            code="F511",
        )
        return False
    names = list(dict.fromkeys(point.name for point in sent))
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    there = f"; {len(sent) - new} were there" if new < len(sent) else ""
    say(f"sent {count(new, 'value')} to {where}: {', '.join(names[:_MOST])}{more}{there}")
    return True


def steps_of(history: History, points: Sequence[Point]) -> list[int]:
    """The step of each point. One whose statement names none has that of its loops: the number that the one loop is over, 0
    outside loops; in several loops, how many iterations of the innermost came before in the whole run.

    A statement that sends a name several times in an iteration is in a loop that florc does not follow: its steps are counted
    through, as if each iteration sent as many as the one that sent most."""
    seen: dict[tuple[str, int, str, str], int] = {}
    most: dict[tuple[str, int, str], int] = {}
    again = []
    for point in points:
        statement = (point.file, point.line, point.name)
        here = (*statement, point.path)
        seen[here] = seen.get(here, 0) + 1
        again.append(seen[here] - 1)
        most[statement] = max(most.get(statement, 0), seen[here])
    found = []
    for point, occurrence in zip(points, again):
        if point.step is not None:
            found.append(point.step)
            continue
        number, index = _place(history, point.path)
        times = most[point.file, point.line, point.name]
        found.append(number if times == 1 else index * times + occurrence)
    return found


def _place(history: History, path: str) -> tuple[int, int]:
    """The step of a place, and the same counted from 0. Where the record does not know the innermost loop, those of the
    outermost."""
    iterations = _native.Path(path).iterations
    if not iterations:
        return 0, 0
    loops = history.timeline.loops
    outermost, first = iterations[0]
    number = loops[outermost].number_of(first) if outermost in loops else first
    if len(iterations) == 1:
        return number, first
    innermost, index = iterations[-1]
    before = 0
    for run in history.timeline.runs_of(_native.Path(innermost).loop):
        if run.place == innermost:
            return before + index, before + index
        before += run.count
    return number, first


def seconds_of(history: History, path: str) -> float:
    """When the recorded run was at a place, in seconds since 1970: the last iteration that is noted until then."""
    started = history.run.info.get("started") or 0.0
    for loop, index in reversed(_native.Path(path).iterations):
        followed = history.timeline.loops.get(loop)
        if followed is not None and followed.begun:
            known = sorted(followed.begun)
            at = bisect_right(known, index)
            if at:
                return float(started + followed.begun[known[at - 1]])
    return float(started) if math.isfinite(started) else 0.0
