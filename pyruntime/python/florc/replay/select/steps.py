"""Which loop `--steps` counts: of the loops that train, the one whose iterations are training steps.

The plan says that a loop trains when it calls something that may take a training step itself. `scheduler.step()` at the end
of each epoch does so by its name, and the loop over epochs runs longer than any loop in it. Here the recorded sources tell the
two apart; where they do not, the loop that ran longest is taken.
"""

from __future__ import annotations

from ... import _native
from ...project.script import Unusable
from ...runs.journal import History


def training_loop(history: History) -> str:
    """The loop whose iterations are training steps: of several, the one that ran longest. Raises Unusable."""
    trains = {loop.id for plan in history.plans.values() for loop in plan.loops if loop.trains and loop.followed}
    seconds: dict[str, float] = {}
    for loop in history.timeline.loops.values():
        if loop.base in trains:
            took = sum(history.timeline.seconds(loop.place, history.seconds))
            seconds[loop.base] = seconds.get(loop.base, 0.0) + took
    if not seconds:
        raise Unusable("F104", "florc saw no loop that takes training steps; --iterations names iterations of any loop")
    around = _around(history, set(seconds)).items()
    schedules = {outer for outer, inner in around if history.sources.only_schedules(outer, inner, trains)}
    return max(seconds.keys() - schedules, key=lambda base: seconds[base])


def _around(history: History, among: set[str]) -> dict[str, set[str]]:
    """The loops that held others when they ran, and those."""
    found: dict[str, set[str]] = {}
    loops = [loop for loop in history.timeline.loops.values() if loop.base in among]
    places = {loop.place: loop.base for loop in loops}
    for loop in loops:
        for around, _ in _native.Path(loop.place).iterations:
            outer = places.get(around)
            if outer is not None and outer != loop.base:
                found.setdefault(outer, set()).add(loop.base)
    return found
