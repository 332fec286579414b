"""`florc replay`: from the arguments to the report."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ..plan.window import Window
from ..process import spawned, start
from ..project import asked
from ..project import script as launch
from ..project.asked import text_of
from ..project.script import Unusable
from ..runs import verdicts
from ..runs.journal import History
from ..runs.run import Run
from ..runs.versions import Versions
from ..support import console as messages
from ..support.console import say
from . import answered, report, sending
from . import dry_run as forecast
from .parallel import ranks, workers
from .process import Attempt, ReplayProcess, end, folder_of
from .select import request as selection
from .session.opening import AGAIN, opened, tell_where
from .session.started import STARTED
from .warm import imports
from .world import entry as world

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..answers.rows import Named
    from ..support.arguments import Replay as Arguments

    To = dict[str, Any] | None
    """The run of a tracker that `--to` names."""

_NOT_SENT = 2
"""The exit code where a tracker did not take the values."""
_MOST_LOOPS = 5
"""So many loops are named in a message."""


def replay(run: Run, path: str | None, arguments: Arguments) -> int | launch.Prepared:
    """Answer the statements added since recording. Returns the exit code, or the script, ready to run. Raises Unusable."""
    script = present_script(run, path)
    if arguments["format"]:
        _refuse_form(arguments["format"], arguments["output"])
    elif arguments["output"]:
        answered.refuse(arguments["output"], script)
    history = opened(run)
    to = None if arguments["to"] is None else sending.target(history, arguments["to"])
    versions = Versions(history, script)
    forced = _forced(arguments["step_into"], history, versions)
    task: workers.Task | ranks.RankTask | None = workers.Task.of_this_process() or ranks.RankTask.of_this_process()
    if run.ranks == 1:
        ranks.be_the_only_one(run)
    elif run.ranks and task is None:
        _refuse_parts(run, arguments)
    if arguments["emit"]:
        from .parallel import slurm as batch

        messages.answer(batch.slurm(run, STARTED.words, arguments["workers"] or 1))
        return 0
    if arguments["dry_run"]:
        told = forecast.as_json if arguments["json"] else forecast.describe
        messages.answer(told(history, versions, arguments))
        return 0
    tell_where(run, path)
    if task is None and AGAIN not in os.environ:
        _tell_unbound(versions)
    _refuse_drift(versions, arguments["allow_drift"])
    windows = [task.window if task else selection.selected(history, arguments)]
    if arguments["shard"]:
        windows = [_shard(history, versions, *arguments["shard"])]
    elif task is None and (arguments["workers"] or 1) > 1:
        windows = selection.shards(history, versions, arguments["workers"] or 1)
        if len(windows) == 1:
            say("one process replays the run: several would save no time")
    if run.ranks > 1 and task is None:
        return _with_ranks(run, script, history, versions, windows[0], arguments, to)
    several = [window for window in windows if window is not None]
    if len(several) > 1:
        try:
            code = _in_parallel(run, script, history, versions, several, arguments, to)
        except workers.Become:
            return replay(run, path, arguments)
        if imports.ahead is not None:
            end(code)
        return code

    def tell(found: report.Report, seconds: float, failure: BaseException | None, folder: str) -> int:
        form = arguments["format"] if task is None else None
        as_json, is_part = arguments["json"] and task is None, task is not None
        lines = report.tell(found, seconds, failure, as_json, form, output, folder, is_part=is_part)
        if task is not None:
            return found.code(is_strict=False)
        return _finished(found, seconds, lines, arguments, to, copied, script)

    copied = _copied(arguments, script)
    output = os.path.abspath(arguments["output"]) if arguments["output"] else None  # a replay changes the working folder
    captures = arguments["json"] or arguments["format"] is not None or copied is not None
    attempt = Attempt(run, script, history, versions, forced, captures, windows[0], task)
    return ReplayProcess(attempt, tell).prepared()


def _tell_unbound(versions: Versions) -> None:
    """A typing error is told before the script imports what it imports."""
    for change in versions.changes:
        for name in change.unbound:
            say(f"{messages.place(change.file, change.line)}: {name} is bound nowhere in this file", always=True, code="F109")


def _copied(arguments: Arguments, script: launch.Script) -> tuple[str, bytes] | None:
    """Where a copy of the notebook goes, and what it holds now; None where none is asked for."""
    if not arguments["output"] or arguments["format"]:
        return None
    with open(script.path, "rb") as file:
        return os.path.abspath(arguments["output"]), file.read()


def _finished(
    found: report.Report,
    seconds: float,
    lines: Sequence[Named],
    arguments: Arguments,
    to: To,
    copied: tuple[str, bytes] | None,
    script: launch.Script,
) -> int:
    """Keep what came of the replay, write the copy of a notebook, send what goes to trackers. Returns the exit code: 2 where a
    tracker did not take it."""
    result = found.result
    differs = [result.ended] * bool(result.ended) + result.anomalies + result.disturbances
    counts = len(result.values), len(result.skipped), sum(result.entered.values())
    verdicts.note(found.history.run, found.verdict, seconds, *counts, differs)
    if copied is not None:
        answered.write(*copied, script, found)
    code = found.code(arguments["strict"])
    if result.points or result.not_sent or arguments["to"] is not None:
        return code if sending.send(found, lines, arguments["to"], to) else code or _NOT_SENT
    return code


def _refuse_form(form: str, output: str | None) -> None:
    from ..answers import columns

    columns.refuse(form, output)


def _forced(loops: list[str], history: History, versions: Versions) -> set[str]:
    """The loops of --step-into. Raises Unusable for one that is in neither version."""
    recorded = {loop.id: loop for plan in history.plans.values() for loop in plan.loops}
    for name in loops:
        if name != "all" and name not in recorded and versions.loop(name) is None:
            there = "".join(
                f"\n  {known}  {messages.line_of(loop.file, loop.line)}  {loop.header}"
                for known, loop in recorded.items()
                if loop.memoized
            )
            raise Unusable("F103", f"--step-into {name}: there is no such loop; the loops with checkpoints are:{there}")
    return set(loops)


def _shard(history: History, versions: Versions, number: int, count: int) -> Window | None:
    found = selection.shards(history, versions, count)
    if number > len(found):
        say(f"shard {number} of {count} has nothing to do: florc divides the run into {messages.count(len(found), 'segment')}")
        end(0)
    return found[number - 1]


def _refuse_parts(run: Run, arguments: Arguments) -> None:
    """What cannot be done yet with a run of several ranks. Raises Unusable."""
    asked = [name for name in ("workers", "shard", "emit", "ray") if arguments[name]]
    if asked:
        raise Unusable("F106", f"{run.id} has {run.ranks} ranks, and florc replays them together: leave out --{asked[0]}")


def _with_ranks(
    run: Run, script: launch.Script, history: History, versions: Versions, window: Window | None, arguments: Arguments, to: To
) -> int:
    begun, copied = time.perf_counter(), _copied(arguments, script)
    shown, folder = arguments["rank"], folder_of(run)
    if shown is not None and shown >= run.ranks:
        raise Unusable("F106", f"--rank {shown}: {run.id} has {messages.count(run.ranks, 'rank')}, the first of which is 0")
    world.enter(folder, run.store, STARTED.environment)
    world.tell(frozenset().union(*versions.names()))
    try:
        result = ranks.replay(run, window, folder, shown, renew=lambda: world.renew(folder, run.store, STARTED.environment))
    except KeyboardInterrupt:
        world.leave(STARTED.environment)
        say("interrupted: florc ended the ranks", always=True)
        return messages.INTERRUPTED
    world.leave(STARTED.environment)
    os.environ.update(run.info["ranks"]["variables"])  # what is compared with the record is what the ranks had
    found = report.Report.of(history, versions, result)._replace(rank=shown)
    seconds = time.perf_counter() - begun
    lines = report.tell(found, seconds, as_json=arguments["json"], form=arguments["format"], output=arguments["output"])
    return _finished(found, seconds, lines, arguments, to, copied, script)


def _in_parallel(
    run: Run, script: launch.Script, history: History, versions: Versions, windows: list[Window], arguments: Arguments, to: To
) -> int:
    launcher: workers.Launch
    begun, earlier, copied = time.perf_counter(), imports.ahead, _copied(arguments, script)
    if arguments["ray"]:
        from .parallel import ray as on_ray

        launcher = on_ray.launcher(arguments["ray"])
    else:
        from .warm import workers as warm

        launcher = warm.Forked if warm.can_fork(run, script, history) else workers.Local
    folder = folder_of(run)
    if not arguments["ray"]:
        world.enter(folder, run.store, STARTED.environment)
        world.tell(frozenset().union(*versions.names()))
    try:
        done = workers.run(
            windows,
            folder,
            start.command(*STARTED.words),
            start.environment(run.info["hash_seed"], STARTED.environment),
            launcher,
            is_here=not arguments["ray"],
        )
    except KeyboardInterrupt:
        world.leave(STARTED.environment)
        return messages.INTERRUPTED
    world.leave(STARTED.environment)
    found = report.Report.of(history, versions, workers.merge(done))
    importing = imports.ahead.seconds if imports.ahead is not None and earlier is None else []
    seconds = time.perf_counter() - begun
    lines = report.tell(
        found, seconds, as_json=arguments["json"], form=arguments["format"], output=arguments["output"], importing=importing
    )
    return _finished(found, seconds, lines, arguments, to, copied, script)


def present_script(run: Run, path: str | None) -> launch.Script:
    """The recorded script as it is now, with the recorded arguments. Raises Unusable if it cannot be read or compiled."""
    module = run.info.get("module")
    if module == launch.SPAWNED:
        return spawned.script(run.info["script"])
    words = run.info["argv"][1:] if module else [path or run.info["script"], *run.info["argv"][1:]]
    try:
        script = _loaded(words, module)
        file = run.info["script"] if module is None else script.path
        text = text_of(file, script.text)
        compile(text, script.path, "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"{os.path.relpath(error.filename or '?')}:{error.lineno}"
        raise Unusable("F302", f"{where}: {error.msg}; the script must be valid Python to be replayed") from None
    except UnicodeDecodeError as error:
        raise Unusable("F302", f"the script is not text in its declared encoding: {error}") from None
    # The recorded name: what the script sees of itself is what it saw then.
    return script._replace(argv=run.info["argv"], path=file, text=text)


def _loaded(words: list[str], module: str | None) -> launch.Script:
    """The script as it is now. A notebook that was asked something is that which was asked, whatever its cells hold now."""
    path = os.path.abspath(words[0]) if module is None else ""
    text = asked.texts.get(path) if path.endswith(launch.NOTEBOOK) and os.path.exists(path) else None
    if text is None:
        return launch.load(words, module)
    from ..project import notebooks

    notebooks.mark(path, text)
    return launch.Script(path, text, words, None)


def _named(loops: Sequence[str]) -> str:
    more = len(loops) - _MOST_LOOPS
    return ", ".join(loops[:_MOST_LOOPS]) + (f" and {more} more" if more > 0 else "")


def _refuse_drift(versions: Versions, allowed: bool) -> None:
    for change in versions.outside:
        where = messages.place(change.file, change.line)
        say(f"{where}: changed outside the memoized loops ({change.why}): {change.text}")
    if versions.drift and not allowed:
        lines = [f"{messages.place(c.file, c.line)}: {c.text}  ({c.why}; in {_named(c.loops)})" for c in versions.drift]
        raise Unusable(
            "F303",
            "code inside a memoized loop has changed, so its checkpoints are not of this code:\n  "
            + "\n  ".join(lines)
            + "\n  undo the change, or run these loops again with --allow-drift: values may then differ",
        )
