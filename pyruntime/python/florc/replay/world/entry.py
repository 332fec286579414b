"""A world of its own for a replay: whatever runs in it, children and native code too, changes nothing of the user's.

The process goes into a mount namespace in which overlays lie over the user's folders (`src/process/world.rs`): what is written
goes to an upper layer in the replay's own folder. Of a folder with mounts below it the folders in it are covered; it itself
becomes read-only. The store and the replay's folder are as they are. What a replay starts for itself (workers, ranks) shares its
world.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection
from typing import Any

from ... import _native
from ...support.console import say
from ..files.user_files import OTHERS
from .covers import UPPERS, World
from .handed import Handed

SWITCH = "FLORC_WORLD"
"""0 in the environment: no replay has a world of its own."""
INSIDE = "_FLORC_WORLD"
"""Of processes that share the world of the one that started them (JSON): its folder, and the number of that process."""


class Shared:
    """The world of the process that started this one."""

    def __init__(self, told: dict[str, Any]):
        self.told = json.dumps(told)
        uppers = {}
        with contextlib.suppress(OSError), open(os.path.join(told["folder"], UPPERS), errors="surrogateescape") as file:
            uppers = json.load(file)
        self.handed = Handed(uppers, os.path.join(told["folder"], "handed"))

    is_owner, real = False, ""

    def leave(self) -> None:
        """It is that process's to leave."""

    def again(self, is_apart: bool) -> None:
        """Nothing of it is this process's own."""


_told = os.environ.pop(INSIDE, None)
here: World | Shared | None = Shared(json.loads(_told)) if _told else None
"""That in which this process is."""
why_not = ""
"""Why it is in none."""


def enter(folder: str, store: str, environment: dict[str, str]) -> World | Shared | None:
    """Go into a world, unless this process is in one. `folder`: the replay's own; `store`: where it may write, too;
    `environment`: of what it starts for itself. None where that cannot be had (`why_not`)."""
    global here, why_not
    if here is not None:
        environment.setdefault(INSIDE, here.told)
        return here
    if os.environ.get(SWITCH) == "0":
        why_not = f"{SWITCH} is 0"
    elif not hasattr(_native, "world_begin"):
        why_not = "only Linux has namespaces"
    elif (threads := len(os.listdir("/proc/self/task"))) > 1:
        why_not = f"florc's process has {threads} threads already"
    else:
        try:
            here = World(folder, store)
            environment[INSIDE] = here.told
        except OSError as error:
            why_not = f"the system allows no namespace with overlays here ({(error.strerror or str(error)).lower()})"
    return here


def join(given: dict[str, str]) -> None:
    """Go into the world of the process that asks for this one. `given`: the environment that it gives, which then says so; where
    that cannot be, this process makes one of its own."""
    global here
    if INSIDE in given:
        told, cwd = json.loads(given[INSIDE]), os.getcwd()
        try:
            _native.world_join(told["process"])
            os.chdir(cwd)  # else it is `/`
            here = Shared(told)
        except OSError:
            del given[INSIDE]


def leave(environment: dict[str, str]) -> None:
    """Back to the user's files, where this process has made a world."""
    if here is not None and here.is_owner:
        here.leave()
        _out(environment)


def again(environment: dict[str, str], is_apart: bool = True) -> None:
    """The replay starts again, without what was written so far. `is_apart`: this process becomes another program."""
    if here is not None and here.is_owner:
        here.again(is_apart)
        _out(environment)


def _out(environment: dict[str, str]) -> None:
    global here
    here = None
    environment.pop(INSIDE, None)


def renew(folder: str, store: str, environment: dict[str, str]) -> None:
    """Another world in the place of the one that this process has made."""
    if here is not None and here.is_owner:
        again(environment, is_apart=False)
        enter(folder, store, environment)


def tell(names: Collection[str]) -> None:
    """Say that nothing keeps programs from the user's files, where a script that mentions these names starts some."""
    if here is None and (why_not.startswith(SWITCH) or not OTHERS.isdisjoint(names)):
        say(f"nothing keeps what the script starts from writing over files: {why_not}")
