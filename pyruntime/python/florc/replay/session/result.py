"""What a replay found: of the whole run, or of the part that one worker answered for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from .capture import Value
from .statements import Ran, merged


class ReplayResult(NamedTuple):
    """All that a report says of what was run."""

    values: list[Value] = []
    """What added statements printed, where they are asked for one by one (`--json`)."""
    anomalies: list[str] = []
    """Where the replay differs from the record."""
    disturbances: list[str] = []
    """Where added statements do more than look: with them, the recorded run would have been another."""
    compared: int = 0
    """Recorded lines and checkpoints that were compared."""
    verified: int = 0
    """Checkpoints of these."""
    masked: int = 0
    """Lines of these that are equal but for a time."""
    ended: str = ""
    """How and where the script ended, where the recorded run did not end so."""
    ended_in: str = ""
    """The iteration in which the recorded run was cut off, where this replay came so far: `epoch=7`."""
    is_over: bool = False
    """Whether it ended where the record, or what was asked for, does; not where the script does."""
    skipped: list[str] = []
    """Keys of the blocks that were restored."""
    jumps: dict[str, int] = {}
    """Loop at its place in the nest -> the iteration with which it began."""
    has_restored: bool = False
    """Whether anything was restored, asked for or before that."""
    entered: dict[str, int] = {}
    """Block -> how often it ran again."""
    reasons: dict[str, dict[str, int]] = {}
    """Block -> why it ran again, and how often so."""
    restore_seconds: float = 0.0
    timed: list[str] = []
    """Places that hold the time of day: they differed, as in every run."""
    read_back: list[str] = []
    """Sentences about files that were read and may not hold what they held in the recorded run."""
    environment: list[str] = []
    """What is not as it was when the run was recorded."""
    unrecorded: list[str] = []
    """What the script took from outside, and the record does not have."""
    mishaps: list[str] = []
    """What failed inside florc."""
    statements: dict[str, Ran] = {}
    """By the name of an added statement: how often it ran and was answered."""
    has_started_others: bool = False
    """Whether the script may have started processes in which added statements ran unseen."""

    def followed_by(self, later: ReplayResult) -> ReplayResult:
        """This part and the next one together."""
        return ReplayResult(
            [*self.values, *later.values],
            _both(self.anomalies, later.anomalies),
            _both(self.disturbances, later.disturbances),
            self.compared + later.compared,
            self.verified + later.verified,
            self.masked + later.masked,
            self.ended or later.ended,
            self.ended_in or later.ended_in,
            self.is_over or later.is_over,
            _both(self.skipped, later.skipped),
            {**self.jumps, **later.jumps},
            self.has_restored or later.has_restored,
            _sums(self.entered, later.entered),
            {
                block: _sums(self.reasons.get(block, {}), later.reasons.get(block, {}))
                for block in _both(self.reasons, later.reasons)
            },
            max(self.restore_seconds, later.restore_seconds),
            _both(self.timed, later.timed),
            _both(self.read_back, later.read_back),
            _both(self.environment, later.environment),
            _both(self.unrecorded, later.unrecorded),
            _both(self.mishaps, later.mishaps),
            merged(self.statements, later.statements),
            self.has_started_others or later.has_started_others,
        )

    def save(self, path: str) -> None:
        """Write it to a file, which appears whole or not at all."""
        with open(path + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(self._asdict(), file)
        os.replace(path + ".new", path)

    @classmethod
    def load(cls, path: str) -> ReplayResult | None:
        """What `save` wrote; None where nothing whole is there."""
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return None
        found["values"] = [Value(*value) for value in found["values"]]
        found["statements"] = {name: Ran(*times) for name, times in found["statements"].items()}
        return cls(**found)


def _both(one: Iterable[str], other: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*one, *other]))


def _sums(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in _both(one, other)}
