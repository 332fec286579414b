"""Programs that the script starts: what they said is given back, but where the user has edited them since."""

from __future__ import annotations

import os
from stat import S_IMODE, S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_OF_CODE = (".py", ".sh", ".R", ".jl", ".pl", ".js")
"""What interpreters run."""
_ANY_X = 0o111


def about(name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[list[str], int, int]:
    """The files of the user's that the program which begins is made of, and the descriptors of the pipes that it is to write its
    output and its errors to; -1 for none.

    `name`, `args`, `kwargs`: `fork_exec` of `_posixsubprocess`, or `posix_spawn`, and how it is called.
    """
    if name == "fork_exec":
        return _own(args[0]), args[9], args[11]
    actions = (kwargs or {}).get("file_actions") or ()
    found = {each[2]: each[1] for each in actions if each[0] == os.POSIX_SPAWN_DUP2}
    return _own(args[1]), found.get(1, -1), found.get(2, -1)


def _own(words: Iterable[Any]) -> list[str]:
    """The files of code that a command names: they may have been edited since, in order that they say more."""
    texts = map(os.fsdecode, words)
    parts = (part.strip("'\"();&|") for text in texts for part in (text.split() if any(map(str.isspace, text)) else [text]))
    return [part for part in parts if _is_program(part)]


def changed(files: list[str]) -> None:
    """These are not what they were, or others: what they say now is not what was said."""
    from . import again

    what = f"{', '.join(map(os.path.basename, files))} says" if files else "a program that the script starts says"
    again.others.append(f"{what} what it says now: it was edited since, and the recorded run may have heard something else")


def _is_program(path: str) -> bool:
    """Whether it names a file that can be run, and that no command is found as."""
    if not os.path.dirname(path) and not path.endswith(_OF_CODE):
        return False
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    if not S_ISREG(found.st_mode) or os.path.dirname(os.path.abspath(path)) in os.get_exec_path():
        return False
    return path.endswith(_OF_CODE) or bool(S_IMODE(found.st_mode) & _ANY_X)
