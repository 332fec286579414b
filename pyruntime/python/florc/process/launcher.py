"""Launchers start a program several times, as ranks (torchrun, `python -m torch.distributed.run`), and tell each by environment
variables which of them it is."""

from __future__ import annotations

import os
import sys

from ..support.light import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeGuard

_OF_RANKS = (
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "ROLE_RANK",
    "ROLE_NAME",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_WORLD_SIZE",
    "ROLE_WORLD_SIZE",
    "TORCHELASTIC_RESTART_COUNT",
    "TORCHELASTIC_MAX_RESTARTS",
    "TORCHELASTIC_RUN_ID",
    "OMP_NUM_THREADS",
)
"""What torchrun tells a rank, and sets for it: a replay starts its ranks with the same values."""
OF_THE_MEETING = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_USE_AGENT_STORE")
"""Where the ranks meet: a replay has a place of its own."""
_MODULES = ("torch.distributed.run", "torch.distributed.launch", "torchrun")
PYTHON = "PYTHON_EXEC"
"""By this variable torch's launchers are told which Python starts a rank."""
SHARED = "FLORC_DIR"
"""By this variable the user names the store: ranks of several machines have one only if the user says so."""
_MPI = "OMPI_COMM_WORLD_SIZE"


class Rank(NamedTuple):
    """Which of the processes that a launcher started together this one is."""

    number: int
    of: int
    variables: dict[str, str]
    """Of _OF_RANKS, those that are set."""

    def to_json(self) -> dict[str, Any]:
        """For the journal."""
        return {"rank": self.number, "of": self.of, "variables": self.variables}


def is_told(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether this is what `Rank.to_json` makes."""
    if not isinstance(value, dict) or set(value) != {"rank", "of", "variables"}:
        return False
    number, of, variables = value["rank"], value["of"], value["variables"]
    return (
        all(type(one) is int for one in (number, of))
        and 0 <= number < of <= 1 << 20
        and isinstance(variables, dict)
        and all(name in _OF_RANKS and isinstance(text, str) and "\0" not in text for name, text in variables.items())
    )


def restarts(told: dict[str, Any]) -> int:
    """How often the launcher had started the ranks before (`--max-restarts`). `told`: `Rank.to_json`."""
    times: str = told["variables"].get("TORCHELASTIC_RESTART_COUNT", "")
    return int(times) if times.isdecimal() else 0


def rank(environment: Mapping[str, str] = os.environ) -> Rank | None:
    """Which rank this process is; None where no launcher started it. Raises ValueError, with the reason, where the ranks cannot
    be recorded together."""
    told = [environment.get(name, "") for name in ("RANK", "WORLD_SIZE")]
    if not all(text.isdecimal() for text in told):
        several = max((int(text) for text in (told[1], environment.get(_MPI, "")) if text.isdecimal()), default=1)
        if several > 1:
            raise ValueError(f"it is one of {several} ranks, and no RANK tells which, as torchrun would")
        return None
    number, of = map(int, told)
    if number >= of:
        raise ValueError(f"RANK is {number} of a WORLD_SIZE of {of}")
    here = environment.get("LOCAL_WORLD_SIZE", "")
    if here.isdecimal() and int(here) != of and not environment.get(SHARED):
        raise ValueError(
            f"its {of} ranks run on several machines: they are recorded together where {SHARED} names a folder on a disk that "
            "all of them share"
        )
    if of > 1 and not environment.get("MASTER_PORT"):
        raise ValueError(f"it is one of {of} ranks, and no MASTER_PORT tells which of them belong together")
    return Rank(number, of, {name: environment[name] for name in _OF_RANKS if name in environment})


def is_started_by_one(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process is one of several that a launcher started."""
    try:
        found = rank(environment)
    except ValueError:
        return True
    return found is not None and found.of > 1


def meeting(environment: Mapping[str, str] = os.environ) -> str:
    """What ranks that were started together have in common, and no others that run at the same time."""
    names = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "WORLD_SIZE")
    return "\0".join([str(os.getuid()), *(environment.get(name, "") for name in names)])


def is_launcher(words: list[str], module: str | None) -> bool:
    """Whether what is to be recorded starts ranks itself: those are recorded, and not the launcher."""
    return module in _MODULES if module is not None else bool(words) and os.path.basename(words[0]) in _MODULES


def launch(words: list[str], module: str | None, options: list[str], flags: list[str], main: str, folder: str) -> None:
    """Go on as the launcher, whose ranks are started as `florc record`: a file in `folder` takes the place of Python. Does not
    return. Raises OSError where that file cannot be written."""
    import shlex

    path = os.path.join(folder, "python")
    os.makedirs(folder, 0o700, exist_ok=True)
    command = shlex.join([sys.executable, *flags, main, "record", *options])
    text = f"""#!/bin/sh
# Starts a rank of a launcher that is recorded: "$@" is [-u] [-m] SCRIPT …
[ "$1" = -u ] && shift
unset {PYTHON}
exec {command} "$@"
"""
    with open(path + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.chmod(path + ".new", 0o700)
    os.replace(path + ".new", path)
    started = ["-m", module, *words] if module is not None else words
    os.execve(sys.executable, [sys.executable, *flags, *started], {**os.environ, PYTHON: path})


def again(told: dict[str, Any], port: int) -> dict[str, str]:
    """The environment variables of a rank that a replay starts; the ranks meet at a port of this machine."""
    return {**told["variables"], "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "TORCHELASTIC_USE_AGENT_STORE": "False"}
