"""What a replay found, in the whole run or in the part of one worker."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from ...trackers.point import Point
from .capture import Value
from .statements import Ran, merged


class ReplayResult(NamedTuple):
    """Everything that a report says about what ran."""

    values: list[Value] = []
    """What added statements printed, one by one (`--json`)."""
    anomalies: list[str] = []
    """Where the replay differs from the record."""
    disturbances: list[str] = []
    """Where added statements do more than look: with them, the recorded run would have taken another course."""
    compared: int = 0
    """The number of recorded lines and checkpoints that were compared."""
    verified: int = 0
    """How many of these are checkpoints."""
    masked: int = 0
    """How many of these are lines that are equal except for a time."""
    ended: str = ""
    """How and where the script ended, if the recorded run ended in another way."""
    ended_in: str = ""
    """The iteration in which the recorded run was cut off, if this replay reached it: `epoch=7`."""
    is_over: bool = False
    """Whether the replay ended with the record, or with what was asked for, and not with the script."""
    skipped: list[str] = []
    """Keys of the blocks that were restored."""
    jumps: dict[str, int] = {}
    """Loop at its place in the nest -> the iteration with which it began."""
    has_restored: bool = False
    """Whether anything was restored, also before what was asked for."""
    entered: dict[str, int] = {}
    """Block -> how often it was re-executed."""
    reasons: dict[str, dict[str, int]] = {}
    """Block -> why it was re-executed, and how often for this reason."""
    restore_seconds: float = 0.0
    lost_seconds: float = 0.0
    """What attempts took that came to a checkpoint which could not be restored, and started again."""
    read: dict[str, int] = {}
    """What was read of checkpoints: `chunks`, their `bytes`; chunks that were `there` already; tensors that `waited` until they
    were needed, and how many of these were `needed`."""
    timed: list[str] = []
    """Places that hold the time of day and therefore differed."""
    read_back: list[str] = []
    """Sentences about files that were read and may differ from the recorded run."""
    environment: list[str] = []
    """What has changed since the run was recorded."""
    unrecorded: list[str] = []
    """Inputs that the script took and the record does not have."""
    mishaps: list[str] = []
    """What failed inside florc."""
    statements: dict[str, Ran] = {}
    """By the name of an added statement: how often it ran and was answered."""
    points: list[Point] = []
    """What added statements sent to experiment trackers."""
    not_sent: dict[str, str] = {}
    """What of that florc does not send -> the name of the statement."""
    uncompared: list[str] = []
    """Sentences about states that could not be compared with the record."""
    has_started_others: bool = False
    """Whether the script may have started processes in which added statements ran unseen."""

    def followed_by(self, later: ReplayResult) -> ReplayResult:
        """This part and the next one, merged."""
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
            max(self.lost_seconds, later.lost_seconds),
            _sums(self.read, later.read),
            _both(self.timed, later.timed),
            _both(self.read_back, later.read_back),
            _both(self.environment, later.environment),
            _both(self.unrecorded, later.unrecorded),
            _both(self.mishaps, later.mishaps),
            merged(self.statements, later.statements),
            [*self.points, *later.points],
            {**later.not_sent, **self.not_sent},
            _both(self.uncompared, later.uncompared),
            self.has_started_others or later.has_started_others,
        )

    def of_rank(self, number: int) -> ReplayResult:
        """This one as it is told of one of several ranks."""

        def told(sentences: list[str]) -> list[str]:
            return [f"rank {number}: {sentence}" for sentence in sentences]

        alone = [] if self.compared or self.anomalies or self.ended else ["the record holds nothing of it that could be compared"]
        return self._replace(
            values=[value._replace(rank=number) for value in self.values],
            anomalies=told(self.anomalies),
            disturbances=told(self.disturbances),
            ended=f"rank {number}: {self.ended}" if self.ended else "",
            timed=told(self.timed),
            read_back=told(self.read_back),
            environment=told(self.environment),
            unrecorded=told([*self.unrecorded, *alone]),
            mishaps=told(self.mishaps),
            uncompared=told(self.uncompared),
        )

    def save(self, path: str) -> None:
        """Write the result to a file, which appears whole or not at all."""
        with open(path + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(self._asdict(), file)
        os.replace(path + ".new", path)

    @classmethod
    def load(cls, path: str) -> ReplayResult | None:
        """What `save` wrote; None if the file is missing or incomplete."""
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return None
        found["values"] = [Value(*value) for value in found["values"]]
        found["points"] = [Point(*point) for point in found["points"]]
        found["statements"] = {name: Ran(*times) for name, times in found["statements"].items()}
        return cls(**found)


def _both(one: Iterable[str], other: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*one, *other]))


def _sums(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in _both(one, other)}
