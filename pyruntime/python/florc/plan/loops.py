"""The loops of every instrumented file of this process, as emitted code and the runtime name them."""

from __future__ import annotations

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class _Unbound:
    """What stands for a name that is not bound."""

    def __repr__(self) -> str:
        return "florc.unbound"


unbound = _Unbound()
BAR = " (progress bar)"
"""After the name of a place that is iterated over: the bar itself, beside what it runs over."""
BOUNDARY = "@"
"""After the id of a loop: the start of its iterations, with places of its own."""
loops: dict[str, _native.Loop] = {}
"""Every loop of every instrumented file of this process, and the start of its iterations, by id."""
of_libraries: set[str] = set()
"""Those of them that are followed inside a library."""
_in_reserve: dict[str, list[str]] = {}
"""Block -> those in reserve for it."""
_wanted: set[str] = set()
"""Blocks that are no more in reserve."""
registered = [0]
"""How many files were made known."""


def register(plan: _native.Plan, is_library: bool = False) -> None:
    """Make a file's plan known to the runtime."""
    registered[0] += 1
    plan.register()
    for loop in plan.loops:
        loops[loop.id] = loop
        if loop.in_reserve_for is not None:
            _in_reserve.setdefault(loop.in_reserve_for, []).append(loop.id)
            if is_in_use(loop):
                _native.pass_by(loop.id, 0, 0.0)
        if is_library:
            of_libraries.update((loop.id, loop.id + BOUNDARY))
        if loop.start is not None:
            loops[loop.start.id] = loop.start


def is_in_use(loop: _native.Loop) -> bool:
    """Whether it is a SkipBlock, and not one in reserve."""
    return loop.memoized and (loop.in_reserve_for is None or loop.id in _wanted)


def want(blocks: Iterable[str]) -> None:
    """These blocks, known by now or not, are looked at from here on, should they be in reserve."""
    _wanted.update(blocks)
    for block in _wanted.intersection(loops):
        _native.pass_by(block, 0, 0.0)


def cannot_be_restored(block: str) -> None:
    """Those that are in reserve for a block are wanted."""
    want(_in_reserve.get(block, ()))


def is_call(block: str) -> bool:
    """Whether a block is a call of a library (`C1`), and no loop."""
    return block.rpartition(".")[2].startswith("C")


def left_alone(idle: Iterable[_native.Plan]) -> tuple[list[tuple[str, str]], bool]:
    """Of each loop that no checkpoint can stand for, however long it takes, what stands against it; and whether there is
    another. `idle`: plans of files in which there was nothing to instrument."""
    own = [loop for name, loop in loops.items() if not name.endswith(BOUNDARY)] + [loop for plan in idle for loop in plan.loops]
    return [(loop.id, loop.note) for loop in own if loop.note and not loop.memoized], any(loop.memoized for loop in own)
