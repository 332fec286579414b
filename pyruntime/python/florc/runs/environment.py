"""Are the things that came to the run from outside unchanged: libraries, and the files that it read? If not, no answer is
called exact.

Libraries are compared by version and by what their `RECORD` lists. A module that the replay uses and that was written after the
run began is named, too, unless a `RECORD` lists it with this content: a library may be installed again. Files that the run read
are compared by size and time, small files also by content.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from .. import _native
from ..support.light import OWN
from ..support.static import attributes_of
from . import as_installed, circumstances, trust, variables
from .found_files import hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .journal import History

_COMPARED = ("processor", "threads of torch", "instruction set", "CUDA devices", *circumstances.VARIABLES)
"""How sums are rounded is up to these: a difference shows in what is compared, or nowhere."""
_MOST = 5
_BEGUN = time.time()
"""What is written later is written by the replay."""


def since(history: History, files: set[str], written: set[str], present: Mapping[str, str]) -> list[str]:
    """What has changed since a run was recorded. `files`: the user's, as far as they were met; `written`: files that this replay
    wrote; `present`: the environment with which it began."""
    own = {*files, *history.changed_files()}
    reads = {path: known for path, known in history.reads().items() if path not in written and path not in own}
    found = differences(history.circumstances, history.run.info.get("started"), reads, own.__contains__, history.distributions)
    key = trust.key()
    return found if key is None else [*variables.changed(history.variables_read, key, present), *found]


def differences(
    found: dict[str, object],
    started: float | None,
    reads: dict[str, tuple[int, int, str | None]],
    is_own: Callable[[str], bool],
    builds: dict[str, str],
) -> list[str]:
    """In words, what is otherwise now. `found`: the recorded circumstances; `started`: when the run began, in seconds since the
    epoch;
    `reads`: size, time in ns, and hash (or None) of each file that it read and did not change; `is_own(path)`: whether a module
    is the user's, or was written by the run itself; `builds`: distributions that it used, and what they held."""
    names = {name: value for name, value in found.items() if name not in _COMPARED}
    words = circumstances.changed(names)
    words += [f"{name} is another build" for name in _rebuilt(builds)]
    edited = sorted(_edited(started, is_own)) if started is not None else []
    words += [f"{path} was changed after the run began" for path in edited[:_MOST]]
    changed = [(path, why) for path, known in reads.items() for why in [_how_changed(path, *known)] if why]
    words += [f"{os.path.basename(path)}, which the run read, {why}" for path, why in changed[:_MOST]]
    more = len(edited[_MOST:]) + len(changed[_MOST:])
    return words + [f"and {more} more files"] * bool(more)


def _rebuilt(builds: dict[str, str]) -> list[str]:
    """Distributions that have the version they had, and hold other files; florc itself is no part of the program."""
    if not builds:
        return []
    now = _native.distributions(circumstances.installed())
    others = [name for name, build in builds.items() if now.get(name, build) != build and not name.startswith("florc ")]
    return sorted(others)[:_MOST]


def _how_changed(path: str, size: int, mtime_ns: int, held: str | None) -> str:
    try:
        now = os.stat(path)
    except OSError:
        return "is not there any more"
    if (now.st_size, now.st_mtime_ns) == (size, mtime_ns) or now.st_size == size and held is not None and hash_of(path) == held:
        return ""
    return "has changed since"


def _edited(started: float, is_own: Callable[[str], bool]) -> list[str]:
    """Modules of libraries that were written after the run began, and before this process did."""
    written: list[str] = []
    for module in list(sys.modules.values()):
        path = attributes_of(module).get("__file__")
        if (
            not isinstance(path, str)
            or path.startswith((OWN, os.path.dirname(os.__file__) + os.sep + "lib-dynload"))
            or is_own(path)
        ):
            continue
        with suppress(OSError):
            if started < os.stat(path).st_mtime < _BEGUN:
                written.append(path)
    return as_installed.others(written)
