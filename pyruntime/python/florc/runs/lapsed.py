"""Which blocks run because of iterators that no checkpoint holds (`state.lapsed`): one that takes from such an iterator needs all
that took from it before."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from .. import _native
from ..adapters import persistent
from ..support.private import private_file

if TYPE_CHECKING:
    from .journal import History

_USED = "iterators-used"
"""A file in the folder of a run whose script uses, outside of what was restored, iterators that no checkpoint holds: their
`sources`."""


def sources(names: Collection[str]) -> set[str]:
    """What cannot be taken from alone. Data loaders whose workers live on depend on nothing else; one iterator may take from
    another one, so these count as one."""
    return {name if persistent.is_name(name) else "" for name in names}


class Lapsed:
    """Of one replay. `why_run(block, key)`: why a block runs for any other reason; `files()`: how many files the project has by
    now, of which some may be loaded late."""

    def __init__(self, history: History, why_run: Callable[[str, str], str | None], files: Callable[[], int]):
        self._history, self._why_run, self._files = history, why_run, files
        self._path = os.path.join(history.run.path, _USED)
        self._used: set[str] | None = None
        self._moving: tuple[int, set[str]] = -1, set()
        """By the number of files."""

    def is_missed(self, key: str) -> bool:
        """Whether a checkpoint lacks an iterator that a block, or the script, takes from in this replay."""
        lacking = self._history.lapsed(key)
        return bool(lacking) and not sources(lacking).isdisjoint(self._known_used() | self._moved())

    def blocks_of(self, name: str) -> set[str]:
        """The blocks whose checkpoints lack what an iterator takes from."""
        missed = sources([name])
        return {_native.Path(key).name for key in self._history.checkpoints if missed & sources(self._history.lapsed(key))}

    def remember_used(self, name: str) -> None:
        """The recorded script itself uses an iterator that no checkpoint holds: no later replay needs to try without."""
        used = self._known_used()
        used |= sources([name])
        with contextlib.suppress(OSError), open(self._path, "w", encoding="utf-8", opener=private_file) as file:
            json.dump(sorted(used), file)  # in a store that cannot be written to, the next replay tries again

    def _known_used(self) -> set[str]:
        if self._used is None:
            self._used = set()
            with contextlib.suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
                self._used.update(map(str, json.load(file)))
        return self._used

    def _moved(self) -> set[str]:
        """The sources that blocks take from which run."""
        files = self._files()
        if self._moving[0] != files:
            lacking = {key: sources(names) for key in self._history.checkpoints if (names := self._history.lapsed(key))}
            of_blocks: dict[str, set[str]] = {}
            for key, found in lacking.items():
                of_blocks.setdefault(_native.Path(key).name, set()).update(found)
            moved = {one for key in lacking if self._why_run(_native.Path(key).name, key) is not None for one in lacking[key]}
            for key in self._history.block_seconds:  # an execution without a checkpoint runs
                if key not in self._history.checkpoints:
                    moved |= of_blocks.get(_native.Path(key).name, set())
            known = -1
            while len(moved) != known:  # a block that runs because of one takes from the others, too
                known = len(moved)
                moved = moved.union(*(found for found in lacking.values() if not moved.isdisjoint(found)))
            self._moving = files, moved
        return self._moving[1]
