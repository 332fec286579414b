"""The commands that run Python code. Arguments are read by the native half, for the wheel and the plain binary alike."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Tuple

from . import _native, messages
from .launch import Unusable
from .messages import answer, say

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
    except (_native.StoreError, KeyboardInterrupt) as error:
        if arguments["command"] == "record":  # the script's own
            raise
        return _give_up(error)


def _give_up(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        say("interrupted", always=True)
        return messages.INTERRUPTED
    say(f"{error}; record the script again, or set FLORC_DIR to the folder of another store", always=True)
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
        if _is_script(words[0]) and not _is_script(words[1]):
            raise Unusable(f"the run comes before the script: florc replay {words[1]} {words[0]}")
        return words[0], words[1]
    return (None, words[0]) if _is_script(words[0]) else (words[0], None)


def _is_script(word: str) -> bool:
    return word.endswith(".py") or os.path.exists(word) and not os.path.isdir(word)


def _runs(arguments: Dict[str, Any]) -> int:
    from . import runs

    store, script = runs.store_path(), arguments["script"]
    every = runs.all_runs(store)
    runs.tell_kept(store)
    found = [run for run in every if script is None or runs.is_of(run, script)]
    for path, why in runs.damaged(store):
        say(f"{path} is damaged: {why}; its run is passed over", always=True)
    if not arguments["json"] and not found:
        say(f"no recorded runs in {store}" if not every else f"no recorded run of {script} in {store} {runs.others(every)}")
        return 0
    for run in found:
        answer((json.dumps({**run.info, "status": run.status}) if arguments["json"] else runs.line(run)) + "\n")
    return 0


_COMMANDS = {"record": _record, "replay": _replay, "verify": _verify, "runs": _runs}
