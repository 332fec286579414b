"""The session of this process: what emitted code talks to, if anything."""

from __future__ import annotations

import os

from . import _native
from .inputs import known as inputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

current: Any | None = None
"""A recording or a replay, or None."""


def begin(session: Any) -> None:
    """Make `session` the one that emitted code talks to, until `end`. In children that the user forks there is none."""
    global current
    current = session
    _native.start_following(session, session.pace)
    _native.observe(inputs.known, inputs.encode, inputs.decode, inputs.before, session.inputs)
    os.register_at_fork(after_in_child=_in_forked_child)


def end() -> None:
    """From now on emitted code does the plain thing."""
    global current
    _native.observe_no_more()
    _native.stop_following()
    _native.forget()
    current = None


def _in_forked_child() -> None:
    """Go inert without taking a lock: a thread of the parent may have held it."""
    global current
    session, current = current, None
    _native.stop_following()
    if session is not None:
        session.abandon()
