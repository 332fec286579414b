"""The numbers that lines of a file had when the run was recorded."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable

from .. import _native


def recorded_numbers(recorded: str, present: str, changes: Iterable[_native.Change]) -> dict[int, int]:
    """By the number of a line of the present text, from 1: its number in the recorded one. `changes`: those of the file. A line
    that was not there has none."""
    old, new = recorded.splitlines(), present.splitlines()
    left, right = _without(old, changes, True), _without(new, changes, False)
    matcher = difflib.SequenceMatcher(None, [old[at].strip() for at in left], [new[at].strip() for at in right], autojunk=False)
    found: dict[int, int] = {}
    for what, i, i_end, j, j_end in matcher.get_opcodes():
        if what == "equal" or what == "replace" and i_end - i == j_end - j:
            found.update((right[j + n] + 1, left[i + n] + 1) for n in range(i_end - i))
    return found


def _without(lines: list[str], changes: Iterable[_native.Change], removed: bool) -> list[int]:
    """The indices of the lines that hold nothing but what both texts have."""
    gone: set[int] = set()
    for change in changes:
        first = change.text.strip().split("\n")[0]
        there = lines[change.line - 1].strip() if 0 < change.line <= len(lines) else ""
        # beside another statement (`x = f(); print(x)`) the line is one of both
        if change.removed == removed and there.startswith(first) and there[len(first) :].strip()[:1] in ("", "#"):
            gone.update(range(change.line - 1, change.end_line))
    return [at for at in range(len(lines)) if at not in gone]


_PLACE = re.compile(
    r"""(?P<before>File "(?P<file>[^"]+)", line |(?<![^\s'"(])(?P<path>[^\s:'"(][^\s:'"]*\.py):)"""
    r"""(?P<line>\d+)(?=,|:| |$)"""
)
"""In a traceback, in a warning, and where rich writes who logged."""


def with_recorded_numbers(text: str, recorded_line: Callable[[str, int], int]) -> str:
    """A line that the script printed, with the recorded numbers of lines where it names places as tracebacks and warnings do."""
    if ", line " not in text and ".py:" not in text:
        return text

    def recorded(found: re.Match[str]) -> str:
        return f"{found['before']}{recorded_line(found['file'] or found['path'], int(found['line']))}"

    return _PLACE.sub(recorded, text)
