"""What a script takes from outside in a replay, and the record does not have."""

from __future__ import annotations

import calendar
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence

from ... import _native, state
from ...inputs import again, standard_input
from ...runs.versions import Versions
from ...support.console import count
from ...survey import plain

_TIME = re.compile(r"(?<![\w.])(\d{10})(\d{3}|\d{6}|\d{9})?(?:\.(\d+))?(?![\w.])")
"""Seconds, thousandths, millionths or nanoseconds since 1970."""
_DATE = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?:[T_ ](\d\d):(\d\d)(?::(\d\d))?)?(?!\d)")
_DAY, _MINUTE = 86400, 60
_MOST = 3
"""So many names are told."""


def inputs(
    unanswered: Iterable[str],
    different: Mapping[str, str],
    shown: Sequence[tuple[str, str | None]],
    began: float,
    then: tuple[float, float] | None,
    asks_number: bool,
) -> list[str]:
    """In words, one by one. `unanswered`: what other processes asked for; `different`: names that hold something else than they
    did, and where; `shown`: the answers, and what a logger was told in each; `began`: when the replay did; `then`: between which
    seconds the recorded run was; `asks_number`: whether the script asks for the number of its process."""
    missing = [
        f"{name} was called {times} more times than recorded: these got the present value"
        for name, times in sorted(_native.inputs_missing().items())
    ]
    missing += [
        f"an added statement called {name}, which gives the present value, not the recorded one"
        for name in _native.inputs_asked_now()
    ]
    names = list(different)
    if names:
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        where = "" if different[names[0]] == plain.END else f" from {different[names[0]]} on"
        told = f"{', '.join(names[:_MOST])}{more}: not what the recorded run had{where}"
        missing.append(f"{told}; it holds something from outside that is not given back")
    texts = [text for text, _ in shown]
    if _native.shows_address(texts):
        missing.append("an answer shows where an object lies (id, hash, repr), which is another place in each process")
    said = [text if message is None else message for text, message in shown]  # the time before it is the logger's own
    if _shows_time(said, began, time.time()) or any(_shows_date(text, (began, time.time()), then) for text in said):
        missing.append("an answer shows the time of day of this replay, not that of the recorded run")
    number = re.compile(rf"(?<!\d){os.getpid()}(?!\d)")
    if asks_number and any(map(number.search, texts)):
        missing.append("an answer shows the number of this process, not that of the recorded run")
    missing += [f"florc cannot look at {name} in this Python" for name in _native.unseen_sources()]
    if state.lost_orders[0]:
        missing.append(
            f"{count(state.lost_orders[0], 'set')} of objects that hash by their address: their order differs in each run"
        )
    return [*missing, *unanswered, *standard_input.noted, *dict.fromkeys(again.others)]


_BEHIND = re.compile(r"\.(base|_base|untyped_storage|storage|grad_fn|next_functions|_version|data_ptr)\b")
"""What is behind a value: memory that a view keeps, the graph behind a loss, the count of changes."""


_PROCESS = re.compile(r"\b(sys\.modules|sys\.meta_path|inspect\.stack|format_stack|print_stack)\b")
"""What the process is: modules and frames of florc's are in it."""


def looks(versions: Versions, has_restored: bool) -> list[str]:
    """Added statements that look behind values where blocks were restored (what is there is in no checkpoint), and those that
    look at the process, which is that of the replay."""
    found: dict[str, None] = {}
    for change in versions.changes:
        lines = [] if change.removed else (versions.text(change.file) or "").splitlines()[change.line - 1 : change.end_line]
        for match in (match for line in lines if has_restored for match in _BEHIND.finditer(line)):
            found[f"an added statement looks at .{match[1]}: what is behind a restored value is not what it was"] = None
        for match in (match for line in lines for match in _PROCESS.finditer(line)):
            found[f"an added statement looks at {match[1]}: that is of the process of this replay"] = None
    return list(found)


def without_times(different: Mapping[str, str], timed: Sequence[str]) -> dict[str, str]:
    """The names in which nothing was found that holds the time of day (`Comparer.timed`), which is told by its place."""
    roots = {re.split(r"[.\[]", place, maxsplit=1)[0] for place in timed}
    return {name: where for name, where in different.items() if name.rpartition(" ")[2] not in roots}


def _shows_time(shown: list[str], began: float, now: float) -> bool:
    """Whether a text holds what the clock has shown since the replay began."""
    first, last = int(began), int(now) + 1
    seconds = str(first)[: len(str(first)) - len(str(last - first)) - 1]  # what all such times begin with, but for a carry
    found = (match for text in shown if seconds in text for match in _TIME.finditer(text))
    return any(_is_between(match, began, last) for match in found)


def _is_between(match: re.Match[str], began: float, last: int) -> bool:
    fraction = (match[2] or "") + (match[3] or "")
    # a recorded time may lie in the second in which the replay began: where there is a fraction, it tells them apart
    return (float(f"{match[1]}.{fraction}") >= began if fraction else int(began) <= int(match[1])) and int(match[1]) <= last


def _shows_date(text: str, now: tuple[float, float], then: tuple[float, float] | None) -> bool:
    """Whether a text holds a date, or a date and a time, that was during this replay, here or in UTC, and not during the recorded
    run."""
    for match in _DATE.finditer(text):
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
        lasts = _DAY if match[4] is None else _MINUTE if match[6] is None else 1
        for seconds_of in (calendar.timegm, time.mktime):
            try:
                first = seconds_of((year, month, day, hour, minute, second, 0, 0, -1))
            except (ValueError, OverflowError):
                continue
            if first <= now[1] and now[0] < first + lasts and not (then and first <= then[1] and then[0] < first + lasts):
                return True
    return False
