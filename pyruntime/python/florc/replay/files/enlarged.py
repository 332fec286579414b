"""Files of the script that a replay leaves with more in them than the recorded run did: what an added statement handed to an
object of the script (a dict of results, a tracker that florc does not know), and the script's own code wrote later.

No two runs write the same numbers where these are times. So only what a file *has more* counts: numbers are any numbers, and all
that the recorded run left must be there, in its order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping

from ...runs import masks
from .view import View

_MOST_BYTES = 4 << 20
"""A larger file is no summary, and to read it would take the replay's time."""
_WORD = re.compile(r"\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![^\W_])|[^\W_]+")
_NUMBERS = frozenset(("nan", "inf", "infinity", "none", "null", "true", "false"))


def enlarged(view: View, recorded: Mapping[str, object], sources: Collection[str]) -> Iterator[str]:
    """The paths of these files. `recorded`: the paths that the recorded run changed; `sources`: the texts of the program as it is
    now, copies of which a script may keep with its results."""
    written = view.written()
    folders = {os.path.dirname(path) for path in recorded}
    others = {_nameless(path): path for path in recorded if path not in written}
    for path in written:
        known = path if path in recorded or os.path.isfile(view.outside + path) else others.get(_nameless(path))
        if known is None:  # the recorded run made no such file
            if os.path.dirname(path) in folders and _read(view.at(path)) not in (None, *sources):
                yield path
            continue
        now, then = _read(view.at(path)), _read(view.outside + known)  # not as children left it
        if now is not None and then is not None and now != then and now not in sources and _has_more(now, then):
            yield path


def _nameless(path: str) -> str:
    """A path without the words that are others in every run: times, numbers of processes, hashes."""
    return " ".join(_words(path))


def _read(path: str) -> str | None:
    """The text of a file. None for one that is none, or is too large."""
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            return None
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    return None if "\0" in text else text


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(masks.without_times(text)):
        yield "0" if word.lower() in _NUMBERS or any(letter.isdigit() for letter in word) else word


def _has_more(now: str, then: str) -> bool:
    words = iter(mine := [*_words(now)])
    theirs = [*_words(then)]
    return len(mine) > len(theirs) and all(word in words for word in theirs)
