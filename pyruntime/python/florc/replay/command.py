"""`florc replay`: from the arguments to the report."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from .. import _native, session
from ..inputs import standard_input
from ..plan.window import Window
from ..process import start
from ..process.output import Divert
from ..project import script as launch
from ..project import territory as project
from ..project.script import Unusable
from ..runs.journal import History
from ..runs.run import Run, private_folder
from ..runs.versions import Versions
from ..support import console as messages
from ..support.console import say
from . import dry_run as forecast
from . import failures as failed
from . import report
from .files.user_files import UserFiles
from .parallel import ray as on_ray
from .parallel import slurm as batch
from .parallel import workers
from .select import request as selection
from .session.opening import AGAIN, opened, recorded_run, tell_where
from .session.session import Leave, Replay
from .session.statements import Statements

if TYPE_CHECKING:
    from ..support.arguments import Replay as Arguments

_STARTED = (list(sys.argv[1:]), os.getcwd(), dict(os.environ))


def replay(wanted: str | None, path: str | None, arguments: Arguments) -> int | launch.Prepared:
    """Answer the statements added since the run was recorded: the exit code, or the script, ready to run."""
    ranks = launch.ranks()
    if ranks > 1:
        raise launch.Unusable(
            f"this is one of {ranks} ranks: each would replay the same run; start florc replay without the launcher"
        )
    run = recorded_run(wanted, path, arguments["trust"])
    script = present_script(run, path)
    start.with_hash_seed(run.info["hash_seed"])
    history = opened(run)
    versions = Versions(history, script)
    forced = _forced(arguments["step_into"], history, versions)
    task = workers.Task.of_this_process()
    if arguments["emit"]:
        messages.answer(batch.slurm(run, _STARTED[0], arguments["workers"] or 1))
        return 0
    if arguments["dry_run"]:
        messages.answer(forecast.describe(history, versions, arguments))
        return 0
    tell_where(run, path)
    _refuse_drift(versions, arguments["allow_drift"])
    windows = [task.window if task else selection.selected(history, arguments)]
    if arguments["shard"]:
        windows = [_shard(history, versions, *arguments["shard"])]
    elif task is None and (arguments["workers"] or 1) > 1:
        windows = selection.shards(history, versions, arguments["workers"] or 1)
        if len(windows) == 1:
            say("one process replays it: sharing it out would save no time")
    several = [window for window in windows if window is not None]
    if len(several) > 1:
        return _in_parallel(run, history, versions, several, arguments)
    return prepare(
        Attempt(run, script, history, versions, forced, arguments["json"], windows[0], task, arguments["strict"] and task is None)
    )


def _forced(loops: list[str], history: History, versions: Versions) -> set[str]:
    """The loops of --step-into. Raises Unusable for one that is in neither version."""
    recorded = {loop["id"]: loop for plan in history.plans.values() for loop in plan["loops"]}
    for name in loops:
        if name != "all" and name not in recorded and versions.loop(name) is None:
            there = "".join(
                f"\n  {known}  line {loop['line']}  {loop['header']}" for known, loop in recorded.items() if loop["memoized"]
            )
            raise Unusable(f"--step-into {name}: there is no such loop; the loops with checkpoints are:{there}")
    return set(loops)


def _shard(history: History, versions: Versions, number: int, count: int) -> Window | None:
    found = selection.shards(history, versions, count)
    if number > len(found):
        say(f"shard {number} of {count} has nothing to do: the run is cut into {len(found)}")
        _exit(0)
    return found[number - 1]


def _in_parallel(run: Run, history: History, versions: Versions, windows: list[Window], arguments: Arguments) -> int:
    folder = _folder(run)
    begun = time.perf_counter()
    words, _, environment = _STARTED
    try:
        done = workers.run(
            windows,
            folder,
            start.command(*words),
            start.environment(run.info["hash_seed"], environment),
            on_ray.launcher(arguments["ray"]) if arguments["ray"] else workers.Local,
        )
    except KeyboardInterrupt:
        return messages.INTERRUPTED
    merged = workers.Merged(history, versions)
    merged.is_strict = arguments["strict"]
    workers.merge(merged, done)
    return report.finish_merged(merged, time.perf_counter() - begun, arguments["json"])


def _folder(run: Run) -> str:
    """Where a replay keeps what the script prints. Raises Unusable where it cannot be made."""
    replays = os.path.join(run.path, "replays")
    folder = os.path.join(replays, f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
    try:
        private_folder(replays)
        private_folder(folder)
    except OSError as error:
        raise Unusable(
            f"cannot make {folder}, where the output of the script goes: {(error.strerror or str(error)).lower()}; "
            "make it writable, or set FLORC_DIR to a copy of the store in a folder that is"
        ) from None
    return folder


def present_script(run: Run, path: str | None) -> launch.Script:
    """The recorded script as it is now, with the recorded arguments. Raises Unusable."""
    module = run.info.get("module")
    words = run.info["argv"][1:] if module else [path or run.info["script"], *run.info["argv"][1:]]
    try:
        script = launch.load(words, module)
        compile(script.text, script.path, "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"{os.path.relpath(error.filename or '?')}:{error.lineno}"
        raise Unusable(f"{where}: {error.msg}; the script must be valid Python to be replayed") from None
    except UnicodeDecodeError as error:
        raise Unusable(f"the script is not text in its declared encoding: {error}") from None
    # The recorded name: what the script sees of itself is what it saw then.
    return script._replace(argv=run.info["argv"], path=run.info["script"] if module is None else script.path)


def _refuse_drift(versions: Versions, allowed: bool) -> None:
    for change in versions.outside:
        say(f"{os.path.relpath(change.file)}:{change.line}: changed outside the memoized loops ({change.why}): {change.text}")
    if versions.drift and not allowed:
        lines = [f"{os.path.relpath(c.file)}:{c.line}: {c.text}  ({c.why}; in {', '.join(c.loops)})" for c in versions.drift]
        raise Unusable(
            "code inside a memoized loop has changed, so its checkpoints are not of this code:\n  "
            + "\n  ".join(lines)
            + "\n  undo the change, or run these loops again with --allow-drift: values may then differ"
        )


class Attempt(NamedTuple):
    """What one process replays. `task`: it is a worker's; None for the whole command."""

    run: Run
    script: launch.Script
    history: History
    versions: Versions
    forced: set[str]
    as_json: bool
    window: Window | None
    task: workers.Task | None = None
    is_strict: bool = False
    as_recorded: bool = False
    """The recorded text of every file runs, whatever it holds today."""


def prepare(attempt: Attempt, told: Callable[..., int] = report.finish) -> launch.Prepared:
    """The script, ready to run as a replay. When it is over, the result is reported (`told`), and the process ends."""
    run, script, task = attempt.run, attempt.script, attempt.task
    folder = _folder(run)
    if os.path.isdir(run.info["cwd"]):
        os.chdir(run.info["cwd"])
    earlier = json.loads(os.environ.pop(AGAIN, '{"blocks": {}, "written": [0, ""]}'))
    again: dict[str, str] = earlier["blocks"]
    messages.to_descriptor(2)
    divert = Divert(os.path.join(folder, "output"), *earlier["written"])
    begun = time.perf_counter()

    def finish(failure: BaseException | None = None, is_cut: bool = False) -> int:
        session.end()
        replaying.tap.remove(is_cut)
        launch.take_apart(is_cut)
        files.end()
        seconds = time.perf_counter() - begun
        divert.undo()
        if isinstance(failure, KeyboardInterrupt):
            say("interrupted", always=True)
            return messages.INTERRUPTED
        replaying.started_again_for(again)
        unsure = files.unsure
        if divert.is_otherwise:
            options = " ".join(f"--step-into {block}" for block in sorted(again))
            replaying.differences.append(
                "what was printed first is not what it is now: the replay started again, and prints no line "
                f"twice ({options} prints all lines as they are)"
            )
        replaying.note_read_back(files.read_back, unsure)
        outcome = report.check(replaying, failure)
        code = told(replaying, outcome, seconds, failure, attempt.as_json and task is None, folder)
        if task is not None:
            workers.keep(replaying, task, outcome.anomalies, outcome.compared, outcome.masked, outcome.ended)
        return code

    def at_end() -> NoReturn:
        replaying.is_over = True
        where = replaying.history.iteration(_native.loop_path())
        replaying.ended_in = where
        before = f", before {where}" if where else ""
        how = "interrupted (Ctrl-C)" if replaying.history.interrupted else run.status
        say(f"the recorded run was {how} here: the replay ends with its last whole iteration{before}")
        _exit(finish())

    def cannot_restore(blocks: dict[str, str]) -> NoReturn:
        files.end(again=True)
        _start_again(blocks, again, divert, task)

    def find_again(causes: dict[str, str]) -> None:
        wanting = {block: why for block, why in causes.items() if block not in replaying.forced}
        if wanting:
            cannot_restore(wanting)

    def window_over() -> NoReturn:
        replaying.is_over = True
        _exit(finish(is_cut=True))

    leave = Leave(at_end, cannot_restore, window_over)
    replaying = Replay(
        attempt.history,
        attempt.versions,
        divert,
        {*attempt.forced, *again},
        attempt.as_json,
        leave,
        attempt.window,
        Statements(os.path.join(folder, "in children")),
    )
    files = UserFiles(
        run,
        attempt.history,
        folder,
        replaying.skipped,
        replaying.looking.is_running,
        frozenset().union(*attempt.versions.names()),
    )
    replaying.flush_files, replaying.is_strict = files.flush, attempt.is_strict
    files.start_again(find_again)
    replaying.variables = _STARTED[2]
    start.Generators(lambda name, value: None, attempt.history.generators)

    def compile_text(text: str, file: str, module: str) -> CodeType:
        recorded = run.source(file) if attempt.as_recorded else None
        return replaying.compile(text if recorded is None else recorded, file, module)

    def ended(error: BaseException | None) -> None:
        failure = None if isinstance(error, SystemExit) and error.code in (None, 0) else error
        if failure is not None and failed.is_unforeseen(replaying, failure):
            find_again(files.causes)  # what it did not find may be what they wrote
        at_exit = _end_of_process()
        _exit(finish(failure or at_exit))

    code = compile_text(script.text, script.path, project.MAIN)
    sys.meta_path.insert(0, project.ProjectFinder(attempt.versions.territory, compile_text))
    session.begin(replaying)
    replaying.tap.install()
    files.watch()
    standard_input.watch(replaying.looking.is_running)
    return launch.Prepared(code, launch.become_main(script), ended)


def _exit(code: int) -> NoReturn:
    """Everything the script does at its end is done: taking torch apart would only take another second."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # None, or an object of the script's own
            stream.flush()
    os._exit(code)


def _end_of_process() -> BaseException | None:
    """What Python does when a script has ended: what is printed then is the script's, too. Raises nothing: returns it."""
    try:
        # It wakes the workers of `concurrent.futures`, and waits for threads.
        threading._shutdown()  # type: ignore[attr-defined]  # typeshed lists no private names
        atexit._run_exitfuncs()
    except BaseException as error:
        return error
    return None


def _start_again(blocks: dict[str, str], again: dict[str, str], divert: Divert, task: workers.Task | None) -> NoReturn:
    """Start this command again with these blocks (and why) running instead of being restored."""
    divert.undo()
    arguments, folder, environment = _STARTED
    environment.update(task.to_environment() if task else {})
    environment[AGAIN] = json.dumps({"blocks": {**again, **blocks}, "written": divert.printed()})
    os.chdir(folder)
    os.execve(sys.executable, start.command(*arguments), start.environment(given=environment))
