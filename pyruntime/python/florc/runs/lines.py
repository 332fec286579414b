"""The numbers that lines of a file had when the run was recorded."""

from __future__ import annotations

import difflib
import os
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
        elif what == "replace":
            found.update(_by_words(old, left[i:i_end], new, right[j:j_end]))
    return found


_WORD = re.compile(r"\w+|[^\w\s]")


def _by_words(old: list[str], left: list[int], new: list[str], right: list[int]) -> dict[int, int]:
    """The same where a statement takes more lines than it did, or fewer: a line is where its first word was."""
    was, now = ([(word, at) for at in lines for word in _WORD.findall(text[at])] for text, lines in ((old, left), (new, right)))
    matcher = difflib.SequenceMatcher(None, [word for word, _ in was], [word for word, _ in now], autojunk=False)
    found: dict[int, int] = {}
    for i, j, count in matcher.get_matching_blocks():
        for (_, old_line), (_, new_line) in zip(was[i : i + count], now[j : j + count]):
            found.setdefault(new_line + 1, old_line + 1)
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


def with_recorded_process(text: str, recorded: int | None) -> str:
    """A line that the script printed, with the number of the recorded process where it has that of this one."""
    own = str(os.getpid())
    if recorded is None or own not in text:
        return text
    return re.sub(rf"(?<![\w.]){own}(?!\w|\.\d)", str(recorded), text)
