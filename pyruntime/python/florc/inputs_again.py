"""What a replay does again, as the recorded run did it: files and folders of `tempfile`, with the names that they had."""

from __future__ import annotations

import ast
import os
import tempfile
import threading
from typing import Any, Callable, Iterator, List, Optional

from . import _native
from .inputs import name_of
from .native_writers import OWN

others: List[str] = []
"""Sentences about what could not be had as it was."""
_LENGTH = 8
"""Characters of a name that are random."""


class Names:
    """What `tempfile` draws its names from: one name that is known, for this thread; then its own."""

    def __init__(self, name: str, own: Iterator[str]):
        self._known: Optional[str] = name
        self._own, self._thread = own, threading.get_ident()

    def __iter__(self) -> "Names":
        return self

    def __next__(self) -> str:
        if self._known is None or threading.get_ident() != self._thread:
            return next(self._own)
        known, self._known = self._known, None
        return known


def temporary(name: str, kept: str) -> Callable[..., Any]:
    """A function of `tempfile` that makes what has the name `kept`, or, where that cannot be, says so."""
    function = getattr(tempfile, name.partition(".")[2])

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kept.startswith("="):  # it raised
            made = function(*args, **kwargs)
            others.append(f"{name} failed in the recorded run, and did not now")
            return made
        path = ast.literal_eval(kept[1:])
        own = tempfile._get_candidate_names()  # type: ignore[attr-defined]
        if type(own) is not tempfile._RandomNameSequence:  # type: ignore[attr-defined]
            own = None  # the script has names of its own
        else:
            suffix = _suffix(name, args, kwargs)
            tempfile._name_sequence = Names(path[: len(path) - len(suffix)][-_LENGTH:], own)  # type: ignore[attr-defined]
        try:
            made = function(*args, **kwargs)
        finally:
            if own is not None:
                tempfile._name_sequence = own  # type: ignore[attr-defined]
        now = ast.literal_eval(name_of(made))
        if now != path and (os.path.basename(now) != os.path.basename(path) or not _names_folder(name, args, kwargs)):
            others.append(f"{name} made {now}, in the recorded run it was {path}")
        return made

    return _native.Redirect(function, call, name, "tempfile", OWN)


def _suffix(name: str, args: Any, kwargs: Any) -> str:
    return os.fsdecode(_argument(name, args, kwargs, 0, "suffix") or "")


def _names_folder(name: str, args: Any, kwargs: Any) -> bool:
    """Whether the script says in which folder: a project may lie elsewhere now."""
    return _argument(name, args, kwargs, 2, "dir") is not None


def _argument(name: str, args: Any, kwargs: Any, number: int, keyword: str) -> Any:
    number += 4 * (name == "tempfile.NamedTemporaryFile")
    return args[number] if len(args) > number else kwargs.get(keyword)
