"""Everything that the program's names lead to, as digests: taken where a checkpoint is made, and again where it was restored.

A restore is right where both are the same, whatever the plan, the encoder and the survey thought. Where they are not, the block
runs instead.
"""

from __future__ import annotations

import os
import sys
import time
import types

from .. import _native
from ..plan import places
from ..support.light import NamedTuple, suppress
from .classes import SCRIPTS, ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
    from types import FrameType
    from typing import Any

    Digests = dict[str, str]
    """By name: `values`, `train() values`, `helpers:cache`, `trainer/best`."""

_DIGITS = 11
"""A digest has at least so many; whole numbers that are told as they are have fewer."""
_MOST = 1 << 22
"""Of a name that leads to more objects, so many are read."""


def lost_names(loops: Iterable[_native.Loop], function: str) -> set[str]:
    """The names that blocks of functions with this name bind and do not restore: nobody reads what they hold. `loops`: of the
    file."""
    found: set[str] = set()
    for loop in loops:
        if places.is_in_use(loop) and loop.function.rpartition(".")[2] == function:
            found.update(set(loop.binds).difference(place.name for place in loop.places))
    return found


def _roots(frame: FrameType) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Prefix, file, function and names: of the block's function, of the script's functions that called it, of its modules."""
    SCRIPTS.update(_native.scripts_modules())
    at: FrameType | None = frame
    seen: set[str] = set()
    while at is not None:
        code = at.f_code
        if (at is frame or at.f_globals.get("__name__") in SCRIPTS) and not places.is_module_level(at):
            prefix = f"{code.co_name}() "
            if prefix not in seen:
                seen.add(prefix)
                yield prefix, code.co_filename, code.co_name, _native.names_of(at)
        at = at.f_back
    for name in sorted(SCRIPTS):
        names = vars(sys.modules[name]) if name in sys.modules else None
        if names is not None and (name == "__main__" or names is not vars(sys.modules.get("__main__"))):
            yield ("" if name == "__main__" else f"{name}:"), str(names.get("__file__", "")), "", names


class Left(NamedTuple):
    """What is not compared."""

    names: Callable[[str, str], Iterable[str]]
    """By file and function (its own name alone): names that hold what nobody reads, or nothing."""
    own: set[str]
    """Such names of the block's own function or file."""
    cells: Collection[str]
    """Names of it whose cells hold something else by then."""


class Witness:
    """Takes digests, the same way in a recording and in a replay. `spans`: between which seconds the time of day was;
    `processes`: numbers of this process, now and then."""

    def __init__(self, spans: Sequence[tuple[float, float]], processes: Sequence[int]) -> None:
        self._native = _native.Witness(ask, SCRIPTS, _MOST)
        self._spans, self._processes = list(spans), list(processes)
        self._files: set[int] = set()

    def see_files(self) -> None:
        """Note which files are open: a child that takes a digest has none of them. Where that cannot be told, none is."""
        with suppress(OSError):
            self._files = {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2}

    def take(
        self,
        frame: FrameType,
        left: Left,
        gradients: bool,
        values: dict[str, Any] | None = None,
        unread: Iterable[tuple[int, int]] = (),
        known: Digests | None = None,
        on_left: Callable[[str], None] | None = None,
    ) -> Digests:
        """Digests of what the names lead to. `values`: what names of the block's own function are about to hold, or are not to
        hold (`places.unbound`); `unread`: memory that is not filled yet, address and bytes; `known`: the names that count;
        `on_left` is told which are left out."""
        roots: list[tuple[str, Any]] = []
        code, values = frame.f_code, values or {}
        at_module = places.is_module_level(frame)
        of_file = {name for name in (*values, *left.own) if at_module or places.is_global(frame, name)}
        for prefix, file, function, names in _roots(frame):
            is_function = not at_module and (function, file) == (code.co_name, code.co_filename)
            is_file = names is frame.f_globals
            here = [name for name in (*values, *left.own) if is_file and name in of_file or is_function and name not in of_file]
            left_out = {*left.names(file, function), *left.own.intersection(here)}
            bound = {name: values[name] for name in here if name in values}
            held = {**names, **bound} if bound else names
            for name in sorted(name for name in list(held) if type(name) is str):
                value, key = held[name], prefix + name
                if name in left_out:
                    if on_left is not None:
                        on_left(key)
                elif name.startswith(("__", "_florc")) or type(value) is types.ModuleType:
                    continue
                elif value is not places.unbound and (known is None or key in known):
                    roots.append((key, value))
        outside = [*self._spans[:-1], (self._spans[-1][0], time.time())], self._processes
        return dict(self._native.of(roots, outside, gradients, set(unread), set(left.cells), self._files))


def differing(
    recorded: Digests, found: Digests, left: Container[str], is_bound: Callable[[str], bool], processes: tuple[int, int]
) -> tuple[list[str], list[str]]:
    """The names that do not hold what they held, in the user's words; not those that are `left` out. First those of which the
    block may be the cause, then those that hold another number or text, and that nothing in it binds (`is_bound`)."""
    different: list[str] = []
    drifted: list[str] = []
    for key, digest in recorded.items():
        here = found.get(key)
        is_same = here is not None and _native.Witness.is_same(digest, here)
        if not is_same and key.partition("/")[0] not in left:
            is_value = here is not None and "/" not in key and _is_value(digest) and _is_value(here)
            if not is_value or is_bound(key.rpartition(" ")[2].rpartition(":")[2]):
                different.append(key.replace("/", "."))
            elif not _native.is_of_system(digest, here or "", processes):
                drifted.append(key)
    return different, drifted


def _is_value(digest: str) -> bool:
    """Whether it is that of a number or a text."""
    return digest[0] in "!>" or digest.isdecimal() and len(digest) < _DIGITS
