"""What restoring a block takes here, and what running it again takes: learned as it happens, so that the slower way is not taken
again and again."""

from __future__ import annotations

import time

from ... import _native
from ...runs.journal import History

WHY = "restoring it takes longer"
_LEAST_LOST_S = 0.25
"""Seconds that the restores of a block have lost, all together, before it runs instead: below, the noise of a machine decides."""
_RATIO = 1.5
"""Restoring has to take so much longer."""
_TRIES = 2
"""Restores of a block that are waited for: the first one also pays for what happens once."""


class Speeds:
    """Of one replay."""

    def __init__(self, history: History):
        self._history = history
        self._restored: dict[str, list[float]] = {}
        """By block: the seconds of each restore, per byte of the checkpoint."""
        self._ran: dict[str, list[float]] = {}
        """By block, of those that ran because of this: the seconds here, over the recorded ones."""
        self._begun: dict[str, float] = {}

    def restored(self, checkpoint: _native.Checkpoint, seconds: float) -> None:
        """A block was restored, which took so long, reading included."""
        self._restored.setdefault(checkpoint.block, []).append(seconds / max(checkpoint.nbytes, 1))

    def why_run(self, checkpoint: _native.Checkpoint) -> str | None:
        """Why a block had better run now; None where restoring it is as fast. Never of several ranks, which have to agree."""
        recorded = self._history.block_seconds.get(checkpoint.key)
        known = self._restored.get(checkpoint.block, ())
        if recorded is None or len(known) < _TRIES or len(self._history.together) > 1:
            return None
        restoring = min(known) * max(checkpoint.nbytes, 1)
        running = recorded * min(self._ran.get(checkpoint.block, (1.0,)))
        lost = len(known) * (restoring - running)
        if lost < _LEAST_LOST_S or restoring < _RATIO * running:
            return None
        self._begun[checkpoint.key] = time.perf_counter()
        return WHY

    def ran(self, checkpoint: _native.Checkpoint) -> None:
        """A block ran again and was compared with its checkpoint."""
        begun, recorded = self._begun.pop(checkpoint.key, None), self._history.block_seconds.get(checkpoint.key, 0.0)
        if begun is not None and recorded > 0:
            self._ran.setdefault(checkpoint.block, []).append((time.perf_counter() - begun) / recorded)
