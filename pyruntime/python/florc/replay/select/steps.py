"""Which loop `--steps` counts: of the loops that train, the one whose iterations are training steps.

The plan says that a loop trains when it calls something that may take a training step itself. `scheduler.step()` at the end
of each epoch does so by its name, and the loop over epochs runs longer than any loop in it. Here the recorded sources tell the
two apart; where they do not, the loop that ran longest is taken.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ... import _native
from ...project.script import Unusable
from ...project.territory import parsed
from ...runs.journal import History

TRAINS = frozenset({"backward", "step", "fit", "partial_fit", "minimize", "train_on_batch"})
"""Methods by whose names the compiler sees that a loop trains."""
_PARTS = ({"backward"}, {"step"})
"""Gradients alone are no step yet, and a `step` without gradients may be that of an environment."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def training_loop(history: History) -> str:
    """The loop whose iterations are training steps: of several, the one that ran longest. Raises Unusable."""
    trains = {
        loop.id: (file, loop.line) for file, plan in history.plans.items() for loop in plan.loops if loop.trains and loop.followed
    }
    seconds: dict[str, float] = {}
    for loop in history.timeline.loops.values():
        if loop.base in trains:
            took = sum(history.timeline.seconds(loop.place, history.seconds))
            seconds[loop.base] = seconds.get(loop.base, 0.0) + took
    if not seconds:
        raise Unusable("F104", "no loop was seen to take training steps; --iterations names iterations of any loop")
    around = _around(history, set(seconds))
    calls = _Calls(history, trains) if around else None
    schedules = {outer for outer, inner in around.items() if calls is not None and calls.only_schedules(outer, inner)}
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


class _Calls:
    """By which names loops train, outside the followed loops inside them that train, too."""

    def __init__(self, history: History, trains: dict[str, tuple[str, int]]):
        self._functions: dict[str, list[ast.AST]] = {}
        self._methods: dict[str, list[ast.AST]] = {}
        self._loops: dict[str, ast.AST] = {}
        for file in history.plans:
            lines = {line: base for base, (of, line) in trains.items() if of == file}
            self._read(parsed(history.run.source(file)), lines)
        self._apart = set(map(id, self._loops.values()))

    def _read(self, tree: ast.AST, lines: dict[int, str]) -> None:
        for node in ast.walk(tree):
            known = self._methods if isinstance(node, ast.ClassDef) else self._functions
            for part in ast.iter_child_nodes(node):
                if isinstance(part, _FUNCTIONS):
                    known.setdefault(part.name, []).append(part)
                elif isinstance(part, (ast.For, ast.AsyncFor, ast.While)) and part.lineno in lines:
                    self._loops[lines[part.lineno]] = part

    def only_schedules(self, outer: str, inner: Iterable[str]) -> bool:
        """Whether all that a loop does itself is `scheduler.step()`, as far as is seen: a loop inside it takes the steps."""
        return self._of(outer) == {"step"} and any(self._of(base) not in _PARTS for base in inner)

    def _of(self, base: str) -> set[str]:
        found: set[str] = set()
        todo = [self._loops[base]] if base in self._loops else []
        met = set(map(id, todo))
        while todo:
            for part in ast.iter_child_nodes(todo.pop()):
                if id(part) in self._apart:
                    continue
                todo.append(part)
                if isinstance(part, ast.Call):
                    targets = [target for target in self._called(part.func, found) if id(target) not in met]
                    met.update(map(id, targets))
                    todo.extend(targets)
        return found

    def _called(self, function: ast.expr, found: set[str]) -> list[ast.AST]:
        """The project's functions that a call may reach, by name; `found` gets the name of one that trains."""
        if isinstance(function, ast.Attribute):
            found |= TRAINS & {function.attr}
            return self._methods.get(function.attr, [])
        return self._functions.get(function.id, []) if isinstance(function, ast.Name) else []
