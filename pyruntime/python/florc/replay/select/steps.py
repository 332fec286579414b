"""Which loop `--steps` counts: of the loops that train, the one whose iterations are training steps.

According to the plan, a loop trains if it calls something that may take a training step. By its name, `scheduler.step()` at the
end of each epoch does so, too, and the loop over epochs takes longer than any loop in it. The recorded sources tell the two
apart. If they do not, florc takes the loop that ran longest.
"""

from __future__ import annotations

from ... import _native
from ...project.script import Unusable
from ...runs.journal import History


def training_loop(history: History) -> str:
    """The loop whose iterations are training steps. If there are several, the one that ran longest. Raises Unusable if there is
    none."""
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
