"""What a replay does again, as the recorded run did it: files and folders of `tempfile`, with the names that they had, and what
was read from standard input."""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

from . import standard_input
from .known import FAILED, ON_A_TERMINAL, TOO_LONG, name_of

Again = tuple[Callable[..., Any], bool, Callable[[Any], None]]
"""What is called in the place of a function; whether with its arguments; and what is then called with the result, or None."""

others: list[str] = []
"""Sentences about what could not be had as it was."""
is_taken: Callable[[str], bool] = lambda path: False
"""Whether a name cannot be had, as something else must not be changed (`UserFiles.is_taken`)."""
_LENGTH = 8
"""Characters of a name that are random."""
_STRING = re.compile(r"""(b?)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


class Names:
    """What `tempfile` draws its names from: one name that is known, for this thread; then its own."""

    def __init__(self, name: str, own: Iterator[str]):
        self._known: str | None = name
        self._own, self._thread = own, threading.get_ident()

    def __iter__(self) -> Names:
        return self

    def __next__(self) -> str:
        if self._known is None or threading.get_ident() != self._thread:
            return next(self._own)
        known, self._known = self._known, None
        return known


def read_back(text: str) -> Any:
    """The string or bytes, or the list of them, that `ascii` wrote; half characters of a file name too."""
    found = [_string(*match.groups()) for match in _STRING.finditer(text)]
    return found if text.startswith("[") else found[0]


def _string(prefix: str, quoted: str) -> str | bytes:
    value = quoted[1:-1].encode().decode("unicode_escape")
    return value.encode("latin-1") if prefix else value


def temporary(name: str, function: Callable[..., Any], kept: str, args: Any, kwargs: Any) -> Again:
    """A function of `tempfile` makes what has the name that it had; where that cannot be, the answer is unverified."""
    if kept.startswith(FAILED):

        def told(made: Any) -> None:
            if made is not None:
                others.append(f"{name} failed in the recorded run, and did not now")

        return function, True, told
    path = read_back(kept[1:])
    own = tempfile._get_candidate_names()  # type: ignore[attr-defined]  # typeshed lists no private names
    is_ours = type(own) is tempfile._RandomNameSequence  # type: ignore[attr-defined]  # typeshed lists no private names
    end = len(path) - len(os.fsdecode(_argument(name, args, kwargs, 0, "suffix") or ""))
    part = path[:end][-_LENGTH:]
    is_ours = is_ours and set(own.characters).issuperset(part) and not is_taken(path)
    if is_ours:  # else the script has names of its own
        tempfile._name_sequence = Names(part, own)  # type: ignore[attr-defined]  # typeshed lists no private names

    def leave(made: Any) -> None:
        if is_ours:
            tempfile._name_sequence = own  # type: ignore[attr-defined]  # typeshed lists no private names
        now = None if made is None else read_back(name_of(made))
        if now is None or now == path:
            return
        # a project may lie elsewhere now
        is_moved = os.path.basename(now) == os.path.basename(path) and _argument(name, args, kwargs, 2, "dir") is not None
        if not is_moved:
            others.append(f"{name} made {now}, in the recorded run it was {path}")

    return function, True, leave


def typed(name: str, function: Callable[..., Any], kept: str) -> Again:
    """What was read from standard input."""

    def nothing(_: Any) -> None:
        pass

    own = sys.stdin
    if own is None or own is not standard_input.present or kept.startswith(TOO_LONG):
        return function, True, nothing
    is_on_a_terminal, failed = kept.startswith(ON_A_TERMINAL), kept.lstrip(ON_A_TERMINAL).startswith(FAILED)
    value = kept.lstrip(ON_A_TERMINAL)[1:] if failed else read_back(kept.lstrip(ON_A_TERMINAL)[1:])
    if name == "builtins.input" and (not failed or value in _RAISED):
        sys.stdin = _Raises(_RAISED[value]) if failed and value != "EOFError" else io.StringIO("" if failed else value + "\n")

        def leave(_: Any) -> None:
            sys.stdin = own

        return function, not is_on_a_terminal, leave  # on a terminal the prompt is no line of the script's output
    if failed and value not in _RAISED:
        return function, True, nothing
    return (_Raises(_RAISED[value]).readline if failed else lambda: value), False, nothing


class _Raises:
    """Is read with an error."""

    def __init__(self, kind: type):
        self._kind = kind

    def readline(self, *_: Any) -> Any:
        raise self._kind


_RAISED = {"EOFError": EOFError, "KeyboardInterrupt": KeyboardInterrupt, "StopIteration": StopIteration}


def _argument(name: str, args: Any, kwargs: Any, number: int, keyword: str) -> Any:
    number += 4 * (name == "tempfile.NamedTemporaryFile")
    return args[number] if len(args) > number else kwargs.get(keyword)
