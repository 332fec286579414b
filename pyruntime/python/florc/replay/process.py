"""The process of a replay: from the script, ready to run, to its exit code. It has one way in and four ways out: the script
ends, the record ends, everything that was asked for is done, or blocks must run and the replay starts again."""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple, NoReturn

from .. import _native, apart, session, state
from ..inputs import standard_input
from ..plan import loops
from ..plan.window import Window
from ..process import spawned, start
from ..process.divert import Divert, Printed
from ..project import positions as instrumented
from ..project import script as launch
from ..project import territory as project
from ..project.asked import text_of
from ..project.script import Unusable
from ..runs.found_files import FOLDER_NAME
from ..runs.journal import History
from ..runs.run import Run
from ..runs.versions import Versions
from ..support import console as messages
from ..support import files_read
from ..support.console import say
from ..support.high import raised
from ..support.private import private_folder
from . import failures as failed
from .check import check
from .files.user_files import UserFiles
from .parallel import trials
from .parallel.elsewhere import Elsewhere
from .parallel.ranks import RankTask
from .parallel.spawned import Calls, noted_files
from .parallel.workers import Task, errors_of
from .report import Report
from .session import debugger, live, progress
from .session.leave import Leave
from .session.loggers import Loggers
from .session.opening import AGAIN
from .session.session import Replay
from .session.started import STARTED
from .session.statements import Statements
from .world import entry as world


class Attempt(NamedTuple):
    """What one process replays. `task`: the task of a worker; None if this process replays everything."""

    run: Run
    script: launch.Script
    history: History
    versions: Versions
    forced: set[str]
    as_json: bool
    window: Window | None
    task: Task | RankTask | None = None
    as_recorded: bool = False
    """The recorded text of every file runs, not the present one."""


Tell = Callable[[Report, float, "BaseException | None", str], int]
"""Prints a report and returns the exit code. It gets the seconds that the replay took, what the script ended with, and the
folder of its output."""


class ReplayProcess:
    """Makes this process a replay. `tell` prints the report at its end."""

    def __init__(self, attempt: Attempt, tell: Tell):
        run = attempt.run
        self._attempt, self._tell, self._process = attempt, tell, os.getpid()
        self._folder = folder_of(run)
        self._world = world.enter(self._folder, run.store, STARTED.environment)
        if os.path.isdir(run.info["cwd"]):
            os.chdir(run.info["cwd"])
        earlier = json.loads(os.environ.pop(AGAIN, '{"blocks": {}}'))
        self._again: dict[str, str] = earlier["blocks"]
        """Blocks for which the replay started again, and why."""
        self._checks_first = bool(earlier.get("damaged"))
        """Whether it started again because a chunk is damaged."""
        self._lost_s: float = earlier.get("lost", 0.0)
        """Seconds of the attempts before this one."""
        messages.to_descriptor(2)
        _watch_progress()
        live.begin()
        out, err = (Printed(*known) for known in earlier.get("written", ((), ())))
        errors = None if attempt.task is None else errors_of(attempt.task.result)
        self._divert = Divert(os.path.join(self._folder, "output"), (out, err), attempt.as_json, errors)
        self._begun = time.perf_counter()
        self._replay = Replay(
            attempt.history,
            attempt.versions,
            self._divert,
            {*attempt.forced, *self._again},
            attempt.as_json,
            Leave(self._record_ended, self._start_again, self._window_over, self._damaged),
            attempt.window,
            Statements(os.path.join(self._folder, "children"), carries=attempt.window is None),
            self._checks_first,
            os.path.join(self._folder, FOLDER_NAME),
        )
        self._replay.again = self._again
        task = attempt.task
        self._replay.progress = progress.of_replay(
            attempt.history,
            attempt.versions,
            attempt.forced,
            attempt.window,
            task.progress if isinstance(task, Task) else None,
            task is not None,
        )
        names = frozenset().union(*attempt.versions.names())
        debugger.prepare(names, attempt.versions.files, self._divert.out.own)
        self._files = UserFiles(
            run,
            attempt.history,
            self._folder,
            self._replay.skipped,
            self._replay.probes.is_at_work,
            names,
            attempt.task.files if isinstance(attempt.task, RankTask) else None,
            noted_files(run),
        )
        if attempt.task is None and not self._again:
            world.tell(names)
        if self._world is not None:
            self._files.in_world(self._world.handed.note, self._world.real)
            self._replay.probes.handed = self._world.handed
        self._files.begun(attempt.versions.files)
        others = self._replay.statements.others
        others.finds_other_files = lambda: bool(attempt.history.files) and self._replay.looking.is_running()
        unanswered = others.unanswered
        self._loggers = Loggers(self._replay.looking.is_running, attempt.versions.recorded_line, unanswered)
        self._replay.probes.flush_files = self._flush
        self._files.start_again(self._run_those_that_wrote)
        self._replay.variables = STARTED.environment
        files_read.is_looked_below = attempt.versions.recorded_looks_below()
        files_read.is_asked_below = attempt.versions.looks_below()
        others, show = self._replay.statements.others, self._files.show
        self._spawned = Calls(run, self._folder, others, self._answering, attempt.as_json, show)
        self._replay.written = self._spawned.written

    def prepared(self) -> launch.Prepared:
        """The script, ready to run. When the script ends, florc reports the result and ends the process."""
        script = self._attempt.script
        start.Generators(lambda name, value: None, self._attempt.history.generators)
        code = self._compile(script.text, script.path, project.MAIN)
        finder = project.ProjectFinder(self._attempt.versions.territory, self._compile, self._compile_library)
        sys.meta_path.insert(0, finder)
        session.begin(self._replay, self._attempt.run.ranks)
        for tap in self._replay.taps:
            tap.install()
        self._loggers.install()
        self._replay.statements.others.listen(self._script_left)
        if not isinstance(self._attempt.task, Task):  # a worker that ends so is started again
            os._exit = self._exit  # for the script; florc's own end is `exit_at_once`
        self._files.watch()
        self._replay.tracked.install()
        standard_input.watch(self._replay.looking.is_running)
        spawned.given = self._attempt.history.sent
        if not self._attempt.as_recorded:
            spawned.watch(self._spawned.call)
            Elsewhere(self._folder, self._attempt.versions, self._replay.statements).watch()
        trials.watch(self._not_run_again)
        return launch.Prepared(code, launch.become_main(script), self._script_ended)

    def _flush(self) -> None:
        """What the script has told files and loggers reaches the files."""
        self._loggers.settle()
        self._files.flush()

    def _answering(self) -> Divert | None:
        return self._replay.divert if self._replay.answers() else None

    def _compile(self, text: str, file: str, module: str) -> CodeType:
        if module == project.MAIN and self._attempt.script.module == launch.SPAWNED:
            return launch.compiled_alone(self._attempt.script)
        recorded = self._attempt.run.source(file) if self._attempt.as_recorded else None
        return self._replay.compile(text_of(file, text) if recorded is None else recorded, file, module)

    def _compile_library(self, text: str, file: str, module: str) -> CodeType:
        """A file of a library in which loops are followed, where the recorded run did that."""
        versions = self._attempt.versions
        compiled = instrumented.compile_user_file(text, file, lambda: versions.instrument_library(text, file, module))
        if compiled.plan is not None:
            loops.register(compiled.plan)
        return compiled.code

    # -- the ways out ----------------------------------------------------------------------------------------------

    def _script_ended(self, error: BaseException | None) -> None:
        if os.getpid() != self._process:  # a child that the script forked, and that came to the end of the script
            return
        failure = None if isinstance(error, SystemExit) and error.code in (None, 0) else error
        if failure is not None and failed.is_unforeseen(self._replay, failure):
            self._run_those_that_wrote(self._files.causes)  # what it did not find may be what they wrote
            self._run_those_that_wrote(
                dict.fromkeys(self._attempt.history.one_sided, "only some ranks ran it, and another one may have waited for it")
            )
        at_exit = _end_of_process()
        if failure is None and at_exit is None:
            self._replay.script_ended()
        end(self._finish(failure or at_exit))

    def _exit(self, status: int) -> NoReturn:
        """What `os._exit` does in a replay: the script ends without a word, not the replay."""
        if os.getpid() == self._process and type(status) is int:
            self._script_left()
        messages.exit_at_once(status)

    def _script_left(self) -> NoReturn:
        """The script ended its process at once, past `finally` and what is registered for the exit."""
        end(self._finish())

    def _record_ended(self) -> NoReturn:
        replay = self._replay
        replay.is_over = True
        where = replay.ended_in = replay.history.iteration(_native.loop_path())
        before = f", before {where}" if where else ""
        how = "interrupted (Ctrl-C)" if replay.history.interrupted else self._attempt.run.status
        say(f"the recorded run was {how} here: the replay ends with its last whole iteration{before}")
        code = self._finish()
        _end_daemons()
        end(code)

    def _window_over(self) -> NoReturn:
        self._replay.is_over = True
        code = self._finish(is_cut=True)
        _end_daemons()
        end(code)

    def _not_run_again(self, why: str) -> NoReturn:
        end(self._finish(failed.NotRunAgain(why)))

    def _run_those_that_wrote(self, causes: dict[str, str]) -> None:
        """Start again where these blocks, or some of them, were restored."""
        wanting = {block: why for block, why in causes.items() if block not in self._replay.forced}
        if wanting:
            self._start_again(wanting)

    def _damaged(self, why: str) -> NoReturn:
        """Start again and check every checkpoint before it is used, so that those that are damaged are computed again."""
        if self._checks_first:
            say(f"what a restored block needs cannot be read any more: {why}", always=True, code="F205")
            end(1)
        self._checks_first = True
        self._start_again({})

    def _start_again(self, blocks: dict[str, str]) -> NoReturn:
        """Start this command again with these blocks (and why) running instead of being restored. Where it has started again for
        all of them, it ends: the same would come of it."""
        if blocks and blocks.keys() <= self._again.keys():
            why = ", ".join(dict.fromkeys(blocks.values()))
            self._not_run_again(f"it started again, ran {', '.join(sorted(blocks))}, and met the same: {why}")
        self._files.end(again=True)
        self._replay.statements.others.listen_no_more()
        self._divert.undo()
        _end_daemons()
        world.again(STARTED.environment)
        task, environment = self._attempt.task, STARTED.environment
        if isinstance(task, RankTask):
            task.start_again({**self._again, **blocks}, self._checks_first)
        environment.update(task.to_environment(os.getppid()) if task else {})
        known = {"blocks": {**self._again, **blocks}, "written": self._divert.printed(), "damaged": self._checks_first}
        environment[AGAIN] = json.dumps({**known, "lost": self._lost_s + time.perf_counter() - self._begun})
        live.asks_again(environment)
        os.chdir(STARTED.folder)
        os.execve(sys.executable, start.command(*STARTED.words), start.environment(given=environment))

    def _finish(self, failure: BaseException | None = None, is_cut: bool = False) -> int:
        """Take the replay apart and report what it found; the exit code."""
        replay = self._replay
        session.end()
        state.watch_lapsed(None)
        for tap in replay.taps:
            tap.remove(is_cut)
        launch.take_apart(is_cut)
        is_whole = not (is_cut or failure or replay.is_over) and self._attempt.window is None and replay.versions.marked()
        written = [path for _, path in replay.statements.written()] if is_whole else []
        kept = self._files.end(by_children=written, sources=replay.versions.texts() if is_whole else None)
        apart.put_back()
        if self._world is not None:
            for path in replay.statements.written_elsewhere():
                self._world.handed.note(path, is_own=False)
        world.leave(STARTED.environment)
        seconds = time.perf_counter() - self._begun + self._lost_s
        self._divert.undo()
        if isinstance(failure, KeyboardInterrupt):
            say(f"interrupted{failed.where_interrupted(failure)}", always=True)
            return messages.INTERRUPTED
        replay.values += replay.probes.printed()
        replay.probes.answer_for_children()
        replay.statements.others.unanswered.extend(replay.statements.lost_files(replay.versions.said, kept))
        if replay.versions.marked():
            is_over = not (replay.is_over or is_cut or failure)
            replay.statements.others.unanswered.extend(replay.statements.from_children(replay.versions.said, is_over))
            replay.statements.others.unanswered.extend(replay.statements.from_elsewhere(replay.versions.said))
        replay.started_again_for(self._again)
        unsure = self._files.unsure
        if self._divert.is_otherwise:
            options = " ".join(f"--step-into {block}" for block in sorted(self._again))
            replay.comparer.differences.append(
                "the replay started again and computed lines that differ from those that it had printed; it prints no line "
                f"twice ({options} prints all lines as they are)"
            )
        replay.note_read_back(self._files.read_back, unsure)
        if self._attempt.window is None and failure is None and not replay.is_over and not self._attempt.as_recorded:
            replay.comparer.differences.extend(self._spawned.missing())
            replay.statements.others.unanswered.extend(self._spawned.unanswered())
        result = check(replay, failure)._replace(lost_seconds=self._lost_s).followed_by(self._spawned.found)
        code = self._tell(Report.of(replay.history, replay.versions, result), seconds, failure, self._folder)
        if isinstance(self._attempt.task, RankTask):
            result.save(self._attempt.task.result)
        elif self._attempt.task is not None:
            held = [key for key in result.skipped if self._attempt.task.window.holds(key, replay.begun)]
            result._replace(skipped=held, jumps={}).save(self._attempt.task.result)
        return code


_LEAST_ROOM = 1 << 20
"""Bytes without which a disk counts as full."""
STILL_S = 60
"""A replay in which no iteration begins for so long says where it is; FLORC_STILL_S is another number of seconds, 0 none."""


def _watch_progress() -> None:
    import faulthandler

    given = os.environ.get("FLORC_STILL_S", "")
    seconds = int(given) if given.isdecimal() else STILL_S
    with contextlib.suppress(OSError, RuntimeError):  # the kernel has no such thing: it is silent
        if seconds:
            frames = raised(os.memfd_create("florc-frames"))
            faulthandler.register(_native.stall_signal(), frames, all_threads=False)
            _native.watch_progress(frames, messages.descriptor(), seconds)


def folder_of(run: Run) -> str:
    """The folder for what the script prints and writes: in the run, or, where the store cannot be written to or its disk is full,
    among what programs keep for this user. Raises Unusable if it cannot be made."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    first: OSError | None = None
    for replays in (os.path.join(run.path, "replays"), os.path.join(cache, "florc", "replays", run.id)):
        folder = os.path.join(replays, name)
        try:
            private_folder(replays)
            private_folder(folder)
            room = os.statvfs(folder)
            if room.f_bavail * room.f_frsize < _LEAST_ROOM:
                os.rmdir(folder)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            first = first or error
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT):
                break
        else:
            return folder
    assert first is not None  # each of both did
    raise Unusable(
        "F206",
        f"cannot make {os.path.join(run.path, 'replays', name)}, where the output of the script goes: "
        f"{(first.strerror or str(first)).lower()}; make room, or make it writable, or set FLORC_DIR to a copy of the store "
        "elsewhere",
    )


def end(code: int) -> NoReturn:
    """End the process at once: the script is done, and taking torch apart would take another second."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # None, or an object of the script's own
            stream.flush()
    messages.exit_at_once(code)


def _end_daemons() -> None:
    """End the processes that Python ends itself where a script comes to its end: workers of data loaders. They would find out
    seconds later that nobody is there any more, and until then hold what the report is written to."""
    started: Any = sys.modules.get("multiprocessing.process")
    for child in list(getattr(started, "_children", ())):
        with contextlib.suppress(Exception):
            if child.daemon and child._parent_pid == os.getpid():
                child._popen.terminate()


def _end_of_process() -> BaseException | None:
    """What Python does when a script has ended: what is printed then is the script's, too. Raises nothing: returns it."""
    try:
        # It wakes the workers of `concurrent.futures`, and waits for threads.
        threading._shutdown()  # type: ignore[attr-defined]  # typeshed lists no private names
        atexit._run_exitfuncs()
    except BaseException as error:
        return error
    return None
