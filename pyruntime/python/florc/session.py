"""The session of this process: what emitted code talks to, if anything."""

from __future__ import annotations

import os

from . import _native, apart
from .inputs import known as inputs
from .inputs import sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from types import FrameType
    from typing import Any, Protocol

    class Session(Protocol):
        """What the modules that emitted code calls ask of a recording or a replay; native code asks for more."""

        @property
        def pace(self) -> float:
            """It is told of an iteration at most every so many seconds."""

        @property
        def keeps_left(self) -> bool:
            """Whether a loop that is left in the middle counts as running until the one around it goes on."""

        @property
        def inputs(self) -> Sequence[tuple[Any, ...]] | None:
            """What a recorded run took from outside, to be given back."""

        def step_into(self, block: str, frame: FrameType) -> bool:
            """Whether the block is to run."""

        def end(self, block: str, objects: Sequence[Any], maybe: Any, in_globals: Any, frame: FrameType) -> None:
            """The block ran."""

        def probe(self, name: str, frame: FrameType, is_called: bool = False) -> AbstractContextManager[Any]:
            """What an added statement runs in. `is_called`: a lambda of it, wherever that is called."""

        def argument(self, name: str, value: Any) -> Any:
            """The value of a setting of the script (`florc.arg`), which has `value` in this process."""

        def abandon(self) -> None:
            """This process is a child that the user forked."""

    class Replaying(Session, Protocol):
        """What code emitted for a replay calls, too."""

        def restore(
            self, block: str, objects: Sequence[Any], maybe: Sequence[str], in_globals: Any, frame: FrameType
        ) -> list[Any]:
            """Put a block's side effects back."""

        def is_added(self, file: str, line: int) -> bool:
            """Whether an added statement begins in this line."""

        def resume(self, loop: str, objects: Sequence[Any], maybe: Sequence[str], frame: FrameType) -> list[Any]:
            """Put the state of an iteration in place."""


current: Session | None = None
"""A recording or a replay, or None."""


def begin(session: Session, ranks: int) -> None:
    """Make `session` the one that emitted code talks to, until `end`. In children that the user forks there is none. `ranks`: of
    the run, 0 where there are none: what ranks say to each other is nothing from outside."""
    global current
    current = session
    _native.start_following(session, session.pace, session.keeps_left)
    _native.observe(inputs.known, inputs.encode, inputs.decode, session.inputs)
    how = sources.encode, sources.decode, apart.OWN
    table = [source for source in sources.TABLE if not (ranks and source[3] == sources.HEAR)]
    _native.watch_sources(table, (sources.HAND_ON, sources.IN_NO_RESULT, sources.WAIT), how)
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
