"""A debugger that an added statement starts: `breakpoint()` stops in the user's frame, never in what florc runs around it, and
speaks to the terminal: what the script prints in a replay goes to a file."""

from __future__ import annotations

import os
from collections.abc import Container
from types import FrameType
from typing import Any

from ...support.light import OWN

_WORDS = ("breakpoint", "set_trace", "pdb", "ipdb")
"""Files that have none of these start no debugger that is built on `bdb`."""


def prepare(names: Container[str], files: Container[str], terminal: int) -> None:
    """Have debuggers step over florc's frames, and what these call, and speak to a descriptor. `names`: what the files of the
    project, `files`, mention."""
    if not any(word in names for word in _WORDS):
        return
    import bdb
    import pdb

    stops, init = bdb.Bdb.stop_here, pdb.Pdb.__init__

    def stop_here(self: bdb.Bdb, frame: FrameType) -> bool:
        at: FrameType | None = frame
        while at is not None and at.f_code.co_filename not in files:
            if at.f_code.co_filename.startswith(OWN):
                return False
            at = at.f_back
        return stops(self, frame)

    def begin(self: pdb.Pdb, completekey: str = "tab", stdin: Any = None, stdout: Any = None, *given: Any, **named: Any) -> None:
        stdout = os.fdopen(os.dup(terminal), "w", buffering=1) if stdout is None else stdout
        init(self, completekey, stdin, stdout, *given, **named)

    bdb.Bdb.stop_here = stop_here  # type: ignore[method-assign]  # also of those that are made later
    pdb.Pdb.__init__ = begin  # type: ignore[method-assign]  # and of those derived from it
