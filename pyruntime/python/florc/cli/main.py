"""The commands that run Python code. Arguments are read by the native half, for the wheel and the plain binary alike."""

from __future__ import annotations

import os

from .. import _native
from ..project.script import Prepared, Raised, Unusable
from ..support import console as messages
from ..support import mishaps
from ..support.console import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..runs.run import Run
    from ..support import arguments as given

UNUSABLE = 2


def run(argv: list[str]) -> int | Prepared | Raised:
    """Run a command line (program name first); the exit code, or the script to run."""
    code, command = _native.command_line(["florc", *map(_hidden, argv[1:])])
    if command is None:
        return int(code or 0)
    arguments = _shown(_native.from_json(command))
    messages.quiet, messages.color = bool(arguments.get("quiet")), arguments.get("color", "auto")
    try:
        return _COMMANDS[arguments["command"]](arguments)
    except Unusable as error:
        say(str(error), always=True, code=error.code)
    except _native.StoreError as error:
        say(f"{error}; record the script again, or set FLORC_DIR to the folder of another store", always=True, code="F205")
    except KeyboardInterrupt as error:
        if arguments["command"] == "record":  # the script's own
            return Raised(error)
        from ..replay.failures import where_interrupted

        say(f"interrupted{where_interrupted(error)}", always=True)
        return messages.INTERRUPTED
    except Exception as error:
        if arguments["command"] == "record":  # the script runs all the same
            raise
        mishaps.swallowed(f"florc {arguments['command']}", error)
        say(mishaps.told(), always=True, code="F402")
    return UNUSABLE


_BYTES, _PRIVATE = 0xDC00, 0x10FE00
"""Where Python puts the bytes of an argument that is not UTF-8, and where they are while the native half, which takes UTF-8
only, reads the arguments: a private range that nobody names files in."""


def _hidden(word: str) -> str:
    return "".join(chr(_PRIVATE + ord(c) - _BYTES) if _BYTES < ord(c) < _BYTES + 256 else c for c in word)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(chr(_BYTES + ord(c) - _PRIVATE) if _PRIVATE < ord(c) < _PRIVATE + 256 else c for c in value)
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return {key: _shown(item) for key, item in value.items()} if isinstance(value, dict) else value


def _record(arguments: given.Record) -> int | Prepared | Raised:
    from ..record.command import record

    return record(arguments)


def _replay(arguments: given.Replay) -> int | Prepared:
    from ..process import launcher
    from ..replay.session.opening import RANK

    if RANK not in os.environ and launcher.is_started_by_one():
        raise Unusable("F106", "a launcher started this, and each rank would replay the same run: leave out the launcher")
    run_name, script = _target(arguments["target"])
    found = _asked_about or _recorded(run_name, script, arguments["trust"])
    if arguments["interactive"]:
        return _questions(found, script)
    from ..project import asked
    from ..replay.command import replay

    asked.take()

    return replay(found, script, arguments)


def _ask(arguments: given.Ask) -> int | Prepared:
    from ..project import asked
    from ..replay.asking import is_question, put_questions, take_recorded
    from ..replay.command import present_script
    from ..replay.session import live

    if len(arguments["target"]) == 2 and not (
        is_question(arguments) or arguments["interactive"] or asked.texts or live.is_asked()
    ):
        words = [word for word in arguments["target"] if not _is_script(word)] or arguments["target"]
        raise Unusable("F101", f"where is {words[-1]} to be asked? --at LINE {words[-1]!r}; or --inside, --after-loop, --watch")
    run_name, script = _target(arguments["target"])
    found = _asked_about or _recorded(run_name, script, arguments["trust"])
    if arguments["interactive"]:
        if is_question(arguments):
            raise Unusable("F101", "with --interactive each line is a question: --at, --after-loop and --watch go there")
        return _questions(found, script)
    is_for_page = live.is_asked()
    live.begin()
    if asked.take() or is_for_page and not is_question(arguments):  # the statements that the files have now
        return _replay(arguments)
    if is_for_page:
        take_recorded(found)
    put_questions(found, present_script(found, script), arguments)
    return _replay(arguments)


_asked_about: Run | None = None
"""The run that all questions of `florc replay --interactive` are about."""


def _questions(found: Run, script: str | None) -> Prepared:
    """Comes back in a process of each question, with its script."""
    from ..replay.process import end
    from ..replay.questions import next_question

    global _asked_about
    words, _asked_about = next_question(found, script), found
    prepared = run(["florc", *words])
    if not isinstance(prepared, Prepared):
        end(prepared if isinstance(prepared, int) else UNUSABLE)
    return prepared


def _verify(arguments: given.Verify) -> int | Prepared:
    run_name, script = _target([arguments["run"]]) if arguments["run"] else (None, None)
    run = _recorded(run_name, script, arguments["trust"])
    from ..replay.verify import verify

    return verify(run, script, arguments)


def _recorded(run_name: str | None, script: str | None, is_trusted: bool) -> Run:
    """The run that is asked for. Little is imported for it: the command may start again with the hash seed of the run."""
    from ..replay.session.opening import recorded_run

    return recorded_run(run_name, script, is_trusted)


def _target(words: list[str]) -> tuple[str | None, str | None]:
    """`SCRIPT`, `RUN`, or `RUN SCRIPT`."""
    if len(words) == 2:
        if _is_script(words[0]) and not _is_script(words[1]):
            raise Unusable("F101", f"the run comes before the script: florc replay {words[1]} {words[0]}")
        return words[0], words[1]
    return (None, words[0]) if _is_script(words[0]) else (words[0], None)


def _is_script(word: str) -> bool:
    return word.endswith((".py", ".ipynb")) or os.path.exists(word) and not os.path.isdir(word)


def _logs(arguments: given.Logs) -> int:
    from ..answers import command

    return command.run_logs(arguments)


def _show(arguments: given.Show) -> int:
    from ..answers import show

    return show.run_show(arguments)


def _plot(arguments: given.Plot) -> int:
    from ..answers import plot

    return plot.run_plot(arguments)


def _query(arguments: given.Query) -> int:
    from ..answers import command

    return command.run_query(arguments)


def _ui(arguments: given.Ui) -> int:
    from ..ui.command import run_ui

    return run_ui(arguments)


def _runs(arguments: given.Runs) -> int:
    from ..answers import listing

    return listing.run_runs(arguments)


def _diff(arguments: given.Diff) -> int:
    from ..answers import diff

    return diff.run_diff(arguments)


def _check(arguments: given.Check) -> int:
    from ..runs.check import check

    return check(arguments)


def _rm(arguments: given.Rm) -> int:
    from ..runs.housekeeping import remove

    return remove(arguments)


def _gc(arguments: given.Gc) -> int:
    from ..runs.housekeeping import free

    return free(arguments)


_COMMANDS: dict[str, Callable[[Any], int | Prepared | Raised]] = {
    "record": _record,
    "replay": _replay,
    "ask": _ask,
    "verify": _verify,
    "runs": _runs,
    "logs": _logs,
    "show": _show,
    "plot": _plot,
    "query": _query,
    "diff": _diff,
    "ui": _ui,
    "check": _check,
    "rm": _rm,
    "gc": _gc,
}
