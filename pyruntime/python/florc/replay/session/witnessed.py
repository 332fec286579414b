"""Whether a restored block left behind what the recorded one had left behind, in all that the program's names lead to."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterable, Mapping
from types import FrameType
from typing import Any

from ... import _native, state
from ...plan import places
from ...runs.journal import History
from ...runs.misfits import Misfits
from ...survey.classes import SCRIPTS
from ...survey.witness import Left, Witness, differing, lost_names

_WHY = "restored, it does not leave behind what it left behind: "
_MOST = 5
"""So many names a reason tells."""


class Witnessed:
    """Compares digests of a replay with those of the recorded run."""

    def __init__(self, history: History, misfits: Misfits, again: Mapping[str, str]):
        """`again`: blocks for which the replay started again, and why."""
        self._history, self._misfits = history, misfits
        span, now = history.clocks().wall, time.time()
        self._witness = Witness([*([span] if span else []), (now, now)], [os.getpid(), *([history.pid] if history.pid else [])])
        self.drifted: dict[str, str] = {}
        """Name -> where it was found first to hold another value, with which no restore has to do."""
        self._adrift: set[str] = set()
        """Names that differed when a block had run: what is restored later is not the cause."""
        told = {block: why.removeprefix(_WHY).partition(" and ")[0] for block, why in again.items() if why.startswith(_WHY)}
        self.doubted = {block: set(names.split(", ")) for block, names in told.items()}
        """Blocks that run because they were not restored wholly -> names that showed it."""

    def differing(
        self, checkpoint: _native.Checkpoint, loop: _native.Loop, frame: FrameType, values: dict[str, Any], added: Collection[str]
    ) -> list[str]:
        """Names that do not hold what they held when the checkpoint was made. `values`: what names of the block's function are
        about to hold; `added`: names that added statements bind."""
        left_out: set[str] = set()
        whole = places.loops.get(loop.id.removesuffix(places.BOUNDARY), loop)
        binds = {*loop.binds, *whole.binds}
        rebound = {place.name for place in loop.places if place.bound}
        held = rebound.union(values)

        def names(file: str, function: str) -> Iterable[str]:
            plan = self._history.plans.get(file)
            return {*lost_names(plan.loops if plan is not None else (), function), *added}

        self._witness.see_files()
        found = self._witness.take(
            frame,
            Left(names, binds - held, binds.union(name for name in rebound if name in checkpoint.places)),
            checkpoint.gradients,
            values,
            state.deferred.memory(),
            checkpoint.witness,
            left_out.add,
        )
        bound = {*binds, *(part for name in checkpoint.places for part in re.split(r"[.\[:]", name))}
        different, drifted = differing(
            checkpoint.witness, found, left_out, bound.__contains__, (os.getpid(), self._history.pid or 0)
        )
        if frame.f_globals.get("__name__") not in SCRIPTS:
            drifted = []  # what libraries ask clocks for is theirs
        drifted += self._misfits.names.intersection(different)
        self._note(drifted, checkpoint)
        self._adrift.intersection_update(different)
        return [name for name in different if name not in self._misfits.names and name not in self._adrift]

    def _note(self, names: Iterable[str], checkpoint: _native.Checkpoint) -> None:
        for name in names:
            self.drifted.setdefault(name, checkpoint.key)

    @staticmethod
    def why(names: list[str]) -> str:
        """Why a block runs that was restored, and after which these names did not hold what they held."""
        return _WHY + ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")

    def ran(self, checkpoint: _native.Checkpoint, different: list[str]) -> None:
        """A block ran, and these names differ nevertheless: no restore is at fault. If it was doubted, later replays are told."""
        self._adrift.update(different)
        block = checkpoint.block
        doubted = self.doubted.pop(block, None)
        if doubted is None:
            return  # what it left behind itself is compared with its checkpoint
        self._note(different, checkpoint)
        at_fault = doubted.difference(different)
        self._misfits.remember({block: self.why(sorted(at_fault))} if at_fault else {}, different)
