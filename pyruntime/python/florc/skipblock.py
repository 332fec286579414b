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


step_into = _native.step_into
end = _native.end


def restore(
    block: str, *objects: Any, maybe: tuple[str, ...] = (), globals: tuple[str, ...] = (), attributes: tuple[str, ...] = ()
) -> list[Any]:
    """The block was skipped: put its side effects back. Returns one value per place that gets a new object, in order."""
    active: session.Replaying | None = session.current  # type: ignore[assignment]  # no recording emits this call
    if active is None:
        raise RuntimeError("florc.skipblock.restore is only called by a replay")
    return active.restore(block, objects, maybe, globals, sys._getframe(1))
