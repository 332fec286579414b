"""`florc.arg`: a setting of the script, from its command line."""

from __future__ import annotations

import os
import sys
from typing import NoReturn, TypeVar

from . import session

T = TypeVar("T", bool, int, float, str)

_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_USAGE = 2
"""Exit code for a command line that cannot be read, as argparse has it."""


def arg(name: str, default: T) -> T:
    """A setting of the script: what its command line says, else the default.

    `python train.py --lr 0.1` or `--lr=0.1` gives 0.1 for `florc.arg("lr", 0.01)`. The type is that of the default: bool (also
    `--amp` and `--no-amp`), int, float or str. Of several, the last counts; other words of the command line are left to the
    script. A recorded run keeps the value: a replay gives that, whatever the default is by then, and `florc show`, `florc runs
    --columns lr` and `florc diff` name it. Without florc's commands it only reads the command line.

    Raises TypeError for a default of another type. Ends the script with exit code 2, as argparse does, where what stands on the
    command line is no value of that type.
    """
    if type(default) not in (bool, int, float, str):
        raise TypeError(f"florc.arg({name!r}, …): a default is a bool, int, float or str, and this is {type(default).__name__}")
    value = _given(name, default)
    current = session.current
    return value if current is None else current.argument(name, value)


def _given(name: str, default: T) -> T:
    option, value = f"--{name}", default
    words = sys.argv[1:]
    for at, word in enumerate(words):
        if word == "--":
            break
        if word.startswith(f"{option}="):
            value = _read(option, word[len(option) + 1 :], default)
        elif word == option:
            following = words[at + 1] if at + 1 < len(words) else None
            if isinstance(default, bool) and (following is None or following.lower() not in _TRUTHS):
                value = True
            elif following is None or following.startswith("--"):
                _refuse(f"{option}: a value is missing ({_kind(default)})")
            else:
                value = _read(option, following, default)
        elif word == f"--no-{name}" and isinstance(default, bool):
            value = False
    return value


def _read(option: str, text: str, default: T) -> T:
    if isinstance(default, bool):
        if text.lower() in _TRUTHS:
            return _TRUTHS[text.lower()]
    else:
        try:
            return type(default)(text)
        except ValueError:
            pass
    _refuse(f"{option} {text}: it takes {_kind(default)}")


def _kind(default: object) -> str:
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return kinds[type(default)]


def _refuse(why: str) -> NoReturn:
    print(f"{os.path.basename(sys.argv[0])}: error: {why}", file=sys.stderr)
    raise SystemExit(_USAGE)
