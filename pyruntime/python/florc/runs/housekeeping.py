"""`florc rm`, `florc gc`, `florc runs --disk`: what runs take on disk, and how to have it back."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from .. import _native
from ..project.script import Unusable
from ..support.console import answer, count, plain, say, size
from . import catalog
from .run import Run, store_path

if TYPE_CHECKING:
    from ..support.arguments import Gc, Rm

Taken = tuple[dict[str, tuple[int, int]], int]
"""Bytes in packs: per run what it refers to, and of that what no other run does; and what `florc gc` would free."""
REMOVED = ".removed"


class Disk(NamedTuple):
    """What a run takes, in bytes."""

    files: int
    """Its own folder: journal, sources, outputs of replays."""
    checkpoints: int
    """What it refers to in packs."""
    alone: int
    """Of that, what no other run refers to: free after `florc rm` and `florc gc`, where whole packs are."""


def remove(arguments: Rm) -> int:
    """Remove runs. Each is gone whole: killed in between, `florc gc` removes what is left."""
    store = store_path()
    found: dict[str, Run] = {}
    for name in arguments["runs"]:
        run = catalog.undescribed(store, name) or catalog.find(store, name, None)
        found[run.id] = run
    for run in found.values():
        if run.is_running():
            raise Unusable("F203", f"{run.id} is still being recorded: end it first")
        if run.is_replayed():
            raise Unusable("F203", f"{run.id} is being replayed: end that first")
    for run in found.values():
        aside = os.path.join(os.path.dirname(run.path), f".{run.id}{REMOVED}")
        try:
            os.rename(run.path, aside)
            _sync(os.path.dirname(run.path))
            shutil.rmtree(aside)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise Unusable("F206", f"{run.id} cannot be removed whole: {error.filename}: {why}") from None
        say(f"removed {run.id}")
    say("florc gc frees the space of its checkpoints" if len(found) == 1 else "florc gc frees the space of their checkpoints")
    return 0


def _sync(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def free(arguments: Gc) -> int:
    """Remove packs that no run refers to."""
    store = store_path()
    try:
        files, nbytes = _native.gc(store)
    except _native.StoreError as error:
        if "being written" in str(error):
            raise Unusable("F203", f"{error}: a run is being recorded; when it ends: florc gc") from None
        raise Unusable("F206", f"{error}; nothing more was freed") from None
    say(f"freed {size(nbytes)} in {count(files, 'file')}" if files else "there is nothing to free")
    return 0


def taken(store: str) -> Taken:
    """What the packs of a store hold. Raises StoreError."""
    found: Taken = _native.usage(store)
    return found


def of_run(run: Run, found: Taken) -> Disk:
    """What one run takes."""
    checkpoints, alone = found[0].get(run.id, (0, 0))
    return Disk(_size_of(run.path), checkpoints, alone)


def _size_of(folder: str) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:  # gone meanwhile
                continue
    return total


def line(run: Run, disk: Disk) -> str:
    """A run in one line, for `florc runs --disk`."""
    parts: list[str] = [
        f"{run.id:24}",
        f"{size(disk.files):>9} files",
        f"{size(disk.checkpoints):>9} checkpoints",
        f"{size(disk.alone):>9} of them only its own",
        os.path.basename(run.info["script"]),
    ]
    return plain("  ".join(parts), "")


def tell_free(found: Taken) -> None:
    """What nobody refers to."""
    if found[1]:
        answer(f"{size(found[1])} no run refers to: florc gc\n")
