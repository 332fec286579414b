"""Programs that the script starts: what those say that are not the user's own is given back."""

from __future__ import annotations

import os
from stat import S_IMODE, S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_OF_CODE = (".py", ".sh", ".R", ".jl", ".pl", ".js")
"""What an interpreter runs."""
_ANY_X = 0o111


def about(name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[bool, int, int]:
    """Whether it is a program of the user's that begins, and the descriptors of the pipes that it is to write its output and its
    errors to; -1 for none.

    `name`, `args`, `kwargs`: `fork_exec` of `_posixsubprocess`, or `posix_spawn`, and how it is called.
    """
    if name == "fork_exec":
        return _is_users(args[0]), args[9], args[11]
    actions = (kwargs or {}).get("file_actions") or ()
    found = {each[2]: each[1] for each in actions if each[0] == os.POSIX_SPAWN_DUP2}
    return _is_users(args[1]), found.get(1, -1), found.get(2, -1)


def _is_users(words: Iterable[Any]) -> bool:
    """Whether a command runs a program of the user's own, or may: it may have been edited since, and say more."""
    for word in words:
        text = os.fsdecode(word)
        for part in text.split() if any(map(str.isspace, text)) else [text]:
            if os.path.basename(part).startswith("python") or _is_program(part.strip("'\"();&|")):
                return True
    return False


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
