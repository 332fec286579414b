"""SkipBlocks (paper, Section 2.1): a block either runs, and its side effects are materialized, or is skipped, and they
are restored.

`end` never rebinds anything: on the record path the script's objects and bindings are what they are without florc.
"""

from __future__ import annotations

import sys

from . import _native, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def step_into(block: str) -> bool:
    """Whether the block is to run. Without a session: yes."""
    active = session.current
    return True if active is None or not _native.following() else active.step_into(block, sys._getframe(1))


def end(
    block: str, *objects: Any, maybe: tuple[str, ...] = (), globals: tuple[str, ...] = (), attributes: tuple[str, ...] = ()
) -> None:
    """The block ran. `objects` are the places of its changeset in the order of the plan; `maybe` names places that may
    be unbound, `globals` names globals of the file that the block's own function does not see, `attributes` places that are read
    without running the code of a property."""
    active = session.current
    if active is not None and _native.following():
        active.end(block, objects, maybe, globals, sys._getframe(1))


def restore(
    block: str, *objects: Any, maybe: tuple[str, ...] = (), globals: tuple[str, ...] = (), attributes: tuple[str, ...] = ()
) -> list[Any]:
    """The block was skipped: put its side effects back. Returns one value per place that gets a new object, in order."""
    active: session.Replaying | None = session.current  # type: ignore[assignment]  # no recording emits this call
    if active is None:
        raise RuntimeError("florc.skipblock.restore is only called by a replay")
    return active.restore(block, objects, maybe, globals, sys._getframe(1))
