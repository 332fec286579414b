"""While recording: which functions each execution of a block entered that is kept. A replay then knows which executions run a
statement added to one of them, however it was called: as a callback, a hook, by its name."""

from __future__ import annotations

import os
import sys

from .. import _native
from ..support import mishaps

_STARTERS = (
    "multiprocessing.popen_spawn_posix",
    "multiprocessing.popen_forkserver",
    "joblib.externals.loky.backend.popen_loky_posix",
    "loky.backend.popen_loky_posix",
    "ray",
    "distributed",
    "mpi4py.futures",
)
"""Imported where other processes run functions of the script that are no children of fork: nothing tells what these enter."""


class Unforeseen(Exception):
    """A block entered a function that the call graph says it cannot enter: florc reads the script wrongly."""


class Entered:
    """Notes it in the journal: each set of functions once."""

    def __init__(self, note: _native._Note):
        self._note = note
        self._sets: dict[tuple[int, ...], int] = {}
        self._strays = 0
        self._is_anywhere = False
        self._foreseen: dict[int, tuple[str, set[str]]] = {}
        """With FLORC_DEBUG: functions, and the loops that may enter them, as the call graph has it."""
        self._told: set[tuple[int, str]] = set()

    def kept(self, key: str, block: str | None) -> None:
        """There is a checkpoint of a running block; with None, of the iteration with which the innermost loop goes on: what
        was entered since the loop began."""
        found: list[int] | None = _native.entered_since(block)
        if found is None:
            return
        functions = tuple(found)
        number = self._sets.get(functions)
        if number is None:
            number = self._sets[functions] = len(self._sets)
            self._note("entered", key=key, set=number, functions=found)
        else:
            self._note("entered", key=key, set=number)

    def elsewhere(self) -> None:
        """Note what was entered in other threads and processes: no block can be said to have done that."""
        found: list[int] | None = _native.entered_elsewhere(self._strays)
        if found is not None:
            self._strays = len(found)
            self._note("entered elsewhere", functions=found)
        if not self._is_anywhere and any(name in sys.modules for name in _STARTERS):
            self._is_anywhere = True
            self._note("entered elsewhere", functions=None)

    # -- for the tests of florc itself -----------------------------------------------------------------------------------

    def foresee(self, project: _native.Project, file: str) -> None:
        """With FLORC_DEBUG: what the call graph says of a file's functions."""
        if os.environ.get("FLORC_DEBUG"):
            self._foreseen.update(project.foreseen(file))

    def check(self, block: str) -> None:
        """With FLORC_DEBUG: a running block entered nothing but what the call graph says it may."""
        for number in (_native.entered_since(block) or ()) if self._foreseen else ():
            name, loops = self._foreseen.get(number, ("", {block}))
            if block not in loops and (number, block) not in self._told:
                self._told.add((number, block))
                mishaps.swallowed(
                    "comparing the call graph", Unforeseen(f"{block} entered {name}, which it cannot as the graph has it")
                )
