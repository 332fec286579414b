"""The commands that run Python code. Arguments are read by the native half, for the wheel and the plain binary alike."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Tuple

from . import _native, messages
from .launch import Unusable
from .messages import say

UNUSABLE = 2


def run(argv: List[str]) -> int:
    """Run a command line (program name first); the exit code."""
    code, command = _native.command_line(["florc", *argv[1:]])
    if command is None:
        return int(code or 0)
    arguments = json.loads(command)
    messages.quiet = bool(arguments.get("quiet"))
    try:
        return int(_COMMANDS[arguments["command"]](arguments))
    except Unusable as error:
        say(str(error), always=True)
        return UNUSABLE


def _record(arguments: Dict[str, Any]) -> int:
    from .recording import record

    return record(arguments)


def _replay(arguments: Dict[str, Any]) -> int:
    from .replaying import replay

    run_name, script = _target(arguments["target"])
    return replay(run_name, script, arguments)


def _verify(arguments: Dict[str, Any]) -> int:
    from .verifying import verify

    run_name, script = _target([arguments["run"]]) if arguments["run"] else (None, None)
    return verify(run_name, script, arguments)


def _target(words: List[str]) -> Tuple[Any, Any]:
    """`SCRIPT`, `RUN`, or `RUN SCRIPT`."""
    if len(words) == 2:
        return words[0], words[1]
    word = words[0]
    looks_like_script = word.endswith(".py") or os.path.exists(word) and not os.path.isdir(word)
    return (None, word) if looks_like_script else (word, None)


def _runs(arguments: Dict[str, Any]) -> int:
    from . import runs

    found = runs.all_runs(runs.store_path())
    if arguments["script"] is not None:
        found = [run for run in found if runs.is_of(run, arguments["script"])]
    if not arguments["json"] and not found:
        say(f"no recorded runs in {runs.store_path()}")
        return 0
    for run in found:
        print(json.dumps({**run.info, "status": run.status}) if arguments["json"] else runs.line(run))
    sys.stdout.flush()
    return 0


_COMMANDS = {"record": _record, "replay": _replay, "verify": _verify, "runs": _runs}
