"""`florc record`: from the arguments to the end of the process."""

from __future__ import annotations

import atexit
import os
import sys
from types import CodeType

from .. import _native, session
from ..adapters import persistent
from ..plan import loops
from ..process import by_value, launcher, spawned, start, streams
from ..project import positions as instrumented
from ..project import script as launch
from ..project.script import NotRecordable, Prepared, Raised, Unusable
from ..runs.kept import tell_kept
from ..runs.run import Run, store_path
from ..support import console as messages
from ..support import mishaps
from ..support.console import say
from ..support.static import name_of
from ..trackers.watch import Watch
from .session import NO_LIMIT, Recording

_MOST_TEXT = 200
"""Characters of what an exception says."""
MOST_TOLD = 3
"""Of so many loops it is told why no checkpoint can stand for them, where there is none at all."""
_LEAST_TOLD_S = 0.1
"""Seconds before and after the script that are worth a word."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..project.territory import ProjectFinder
    from ..support.arguments import Record
    from .ranks import Together


def record(arguments: Record) -> int | Prepared | Raised:
    """Get the script ready to run recorded. Where that fails, it runs all the same, and one line says why."""
    words, module = arguments["script"], arguments["module"]
    if not words and module is None:
        raise Unusable("F101", "which script? florc record train.py")
    if not 0 < arguments["overhead"] < 1:
        raise Unusable("F102", "--overhead is a share of the run's time, between 0 and 1: 0.05 is five percent")
    if arguments["checkpoint"] == "every":
        arguments = {**arguments, "overhead": NO_LIMIT}
    try:
        if launcher.is_launcher(words, module):
            launcher.launch(
                words, module, start.own_words(sys.argv[1:]), start.flags(), start.MAIN, os.path.join(_store(), "ranks")
            )
        if start.spawned is not None:
            rank: launcher.Rank | None = launcher.Rank(start.spawned["rank"], start.spawned["of"], {})
            script = spawned.script(start.spawned["script"])
        else:
            rank = _rank()
            script = launch.load(words, module)
        hash_seed = start.with_hash_seed()
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Unusable("F302", f"{words[0] if words else module} is not text in its declared encoding: {error}") from None
    except Unusable:
        if not sys.flags.ignore_environment:
            raise
        return _plainly(words, module, "Python runs with -E or -I, so it ignores PYTHONHASHSEED")
    except NotRecordable as error:
        return _plainly(words, module, str(error))
    except Exception as error:
        return _plainly(words, module, _said(error))
    return _recorded(script, arguments, hash_seed, rank)


def _rank() -> launcher.Rank | None:
    try:
        return launcher.rank()
    except ValueError as error:
        raise NotRecordable(str(error)) from None


def _store() -> str:
    """The folder of runs, made where there is none. Raises StoreError."""
    store = store_path()
    _native.create_store(store)
    return store


def _plainly(words: list[str], module: str | None, why: str) -> NoReturn:
    """Run the script as if florc were not there: nothing of it has been read."""
    start.plainly(["-m", module, *words] if module is not None else words, why)


def _recorded(script: launch.Script, arguments: Record, hash_seed: str, rank: launcher.Rank | None) -> Prepared | Raised:
    """The script, recorded; what Python itself says of it is said here, as late as in a plain run."""
    beginning = _Beginning(script, arguments, hash_seed, rank)
    try:
        code, ending = beginning.begun()
        return Prepared(code, launch.become_main(script), ending.ended)
    except (SyntaxError, KeyboardInterrupt) as error:  # Python's own message; there is no run to speak of
        beginning.undo()
        return Raised(error)
    except Exception as error:
        beginning.undo()
        say(f"nothing is recorded: {_said(error)}", always=True, code="F401")
        code = compile(script.text, script.path, "exec", dont_inherit=True)
        return Prepared(code, launch.become_main(script), lambda _: None)


def _said(error: BaseException) -> str:
    known = (Unusable, NotRecordable, _native.StoreError, OSError)
    return str(error) if isinstance(error, known) else f"an error inside florc, {type(error).__name__}: {error}"


def _around(report: dict[str, Any]) -> str:
    """What recording took before the script's first line and after its last one, where that is worth a word."""
    seconds = report["start_seconds"] + report["drain_seconds"]
    return f", and {messages.duration(seconds)} to start and to end" if seconds >= _LEAST_TOLD_S else ""


class _Beginning:
    """What is set up before the first line of the script, and how it is taken down again when some of it fails."""

    def __init__(self, script: launch.Script, arguments: Record, hash_seed: str, rank: launcher.Rank | None):
        self._script, self._arguments, self._hash_seed, self._rank = script, arguments, hash_seed, rank
        self._options = start.own_words(sys.argv[1:])
        self._together: Together | None = None
        self._run: Run | None = None
        self._recording: Recording | None = None
        self._generators: start.Generators | None = None
        self._finder: ProjectFinder | None = None
        self._picklers: by_value.Picklers | None = None
        self._ending: _Ending | None = None

    def begun(self) -> tuple[CodeType, _Ending]:
        """Begin the run and its session: the code, and what closes the run. Raises SyntaxError for what Python does not take."""
        from ..project.territory import MAIN, ProjectFinder, Territory, analyse, instrument, package_of

        script = self._script
        territory = Territory(script)
        project = analyse(script, territory)
        if script.module == launch.SPAWNED:
            compiled = instrumented.Compiled(launch.compiled_alone(script), None, None, False)
        else:
            compiled = instrumented.compile_user_file(
                script.text, script.path, lambda: instrument(project, MAIN, package_of(script), script.path, script.text)
            )
        store = store_path()
        tell_kept(store)
        joined = None
        if self._rank is not None and self._rank.of > 1:
            from .ranks import Together

            self._together = Together(_store(), self._rank)
            joined = self._together.joined()
        launch.enter_folder(script)
        self._run = run = Run.begin(
            store,
            script.path,
            script.argv,
            script.module if script.module == launch.SPAWNED else self._arguments["module"],
            self._arguments["name"],
            self._hash_seed,
            self._rank,
            joined,
        )
        if self._together is not None:
            self._together.begin(run)
        self._recording = recording = Recording(run, self._arguments, self._together)
        self._ending = ending = _Ending(recording, script, territory.owns(os.path.realpath(script.path)))
        self._generators = start.Generators(lambda name, value: recording.note("generator", name=name, state=value))
        recording.project = project
        recording.keep_sources()
        recording.adopt(compiled, script.path)
        self._finder = ProjectFinder(territory, recording.compile, recording.compile_library, recording.charge)
        sys.meta_path.insert(0, self._finder)
        # Registered before the script's own: runs after them, so that what they print is recorded too.
        atexit.register(ending.finish)
        session.begin(recording, run.ranks)
        recording.see()
        recording.files_noted.watch()
        Watch(recording.note).install()
        _native.watch_interrupts()
        self._picklers = by_value.Picklers(project.text)
        spawned.on_payload = lambda sent: recording.note("spawned", sent=None if sent is None else sent.hex())
        start.after_import(persistent.MODULE, persistent.watch)
        streams.watch()
        spawned.watch(spawned.Recorded(run.own(spawned.FOLDER), script.path, self._options).call)
        instrumented.warn(compiled, script.text, script.path)
        recording.begins()
        return compiled.code, ending

    def undo(self) -> None:
        """As if nothing had been tried."""
        with mishaps.Swallow("taking down a run that did not begin"):
            instrumented.undo()
            if self._recording is not None:
                session.end()
                self._recording.see_no_more()
                self._recording.files_noted.end()
                if self._ending is not None:
                    atexit.unregister(self._ending.finish)
            if self._finder in sys.meta_path:
                sys.meta_path.remove(self._finder)
            if self._generators is not None:
                self._generators.leave()
            if self._picklers is not None:
                self._picklers.leave()
        with mishaps.Swallow("closing a run that did not begin"):
            if self._recording is not None:
                self._recording.recorder.close()
        if self._together is not None:
            self._together.undo()
        if self._run is not None:
            self._run.take_back()


def _raised(error: BaseException) -> str:
    """What the script raised, in a line: `ValueError: the loss is nan`. None of its code runs once more."""
    kind, given = type(error), BaseException.__dict__["args"].__get__(error)
    is_plain = kind.__str__ is BaseException.__str__ and len(given) == 1 and type(given[0]) is str
    first = given[0].partition("\n")[0][:_MOST_TEXT] if is_plain else ""
    return f"{name_of(kind)}: {first}" if first else name_of(kind)


class _Ending:
    """Closes the run when the process ends, and says what was kept."""

    def __init__(self, recording: Recording, script: launch.Script, is_users: bool):
        """`is_users`: the script is a file of the project, and not `pytest`."""
        self.status = "exception"
        self._recording, self._script, self._is_users, self._pid = recording, script, is_users, os.getpid()

    def ended(self, error: BaseException | None) -> None:
        """The script's code is over."""
        if error is None:
            self.status = "ok"
        elif isinstance(error, SystemExit):
            self.status = "ok" if error.code in (None, 0) else f"exit {error.code}"
        elif isinstance(error, KeyboardInterrupt):
            self.status = "interrupted"
        else:
            self._recording.run.info["raised"] = _raised(error)

    def finish(self) -> None:
        """Registered with `atexit`."""
        if os.getpid() != self._pid:
            return
        _native.hold_interrupts()  # for good: the script is over; who presses twice ends this, too
        try:
            self._tell(self._recording.finish(self.status))
        except KeyboardInterrupt:
            say("interrupted while the run was being closed: what was not written by then is lost", always=True, code="F403")
        except Exception as error:
            mishaps.swallowed("closing the run", error)
            say(f"the run could not be closed: {_said(error)}", always=True, code="F403")

    def _tell(self, report: dict[str, Any]) -> None:
        run = self._recording.run
        raised = run.info.get("raised", "an exception")
        ended = {"ok": "", "interrupted": ", interrupted", "exception": f", ended by {raised}"}
        state = ended.get(self.status, f", {self.status}")
        if run.rank:  # the first rank speaks for all
            trouble = self._trouble(report)
            if trouble:
                say(f"rank {run.rank}: {'; '.join(trouble)}", always=True, code="F403")
            return
        if not os.path.isdir(run.path):
            say(
                f"{messages.relative(run.path)} was removed while the script ran: nothing of it is left", always=True, code="F403"
            )
            return
        if run.ranks:
            state = f", the first of {messages.count(run.ranks, 'rank')}{state}"
        say(
            f"recorded {run.id}{state}: {messages.count(report['checkpoints'], 'checkpoint')}, {messages.size(report['bytes'])} "
            f"in {messages.relative(run.store)}, overhead {100 * report['overhead']:.1f} %{_around(report)}"
        )
        for block, why in report["not_kept"].items():
            say(f"{block} will run again on replay: {why}")
        unknown = _native.not_kept()
        if _native.taken_elsewhere():
            unknown.append("what other threads and forked processes ask for (clocks, entropy, connections)")
        if unknown:
            say(f"{' and '.join(unknown)} is not kept: a replay asks again, and an answer that depends on it is unverified")
        if _native.is_order_of_addresses_used():
            say(
                "it goes over a set of objects in the order of their addresses: without florc, and in a replay, that order "
                "may be another one; a list, or a __hash__ of the class, has the same in each run"
            )
        from ..project.territory import untried

        for library in sorted(untried):
            say(f"no loop is followed inside {library}: a call that trains there is kept as a whole, or runs again")
        trouble = self._trouble(report)
        if trouble:
            say("; ".join(trouble), always=True, code="F403")
        if not report["checkpoints"] and not trouble and not os.path.isdir(run.own(spawned.FOLDER)):
            left_alone, is_any_skipped = loops.left_alone(self._recording.idle)
            for block, why in left_alone[:MOST_TOLD]:
                say(f"{block} will run again on replay: {why}")
            why = (
                ""
                if report["not_kept"]
                else "; no loop took long enough to be worth a checkpoint (--overhead)"
                if is_any_skipped
                else ""
                if left_alone
                else "; it has no loop"
            )
            say(
                f"there is nothing to restore: a replay takes as long as the run did, {messages.duration(report['seconds'])}{why}"
            )
        name, path = os.path.basename(self._script.path), messages.relative(self._script.path)
        where, target = (f" to {name}", path) if self._is_users else ("", run.id)
        say(f"next: add a log statement{where}, then: florc replay {target}")

    @staticmethod
    def _trouble(report: dict[str, Any]) -> list[str]:
        """What went wrong; it is told in one line, however much it is."""
        found = []
        stopped = report["dead"] or report["stopped"]
        if stopped:
            found.append(f"recording stopped early: {stopped}")
        elif report["errors"]:
            more = len(report["errors"]) - 1
            first = report["errors"][0]
            what = "" if "of the journal" in first else "a checkpoint was lost: "
            found.append(f"{what}{first}" + (f" (and {more} more)" if more else ""))
        if report["records_lost"]:
            found.append(
                f"{messages.count(report['records_lost'], 'record')} of the journal could not be written: a replay will "
                "miss what they tell"
            )
        if mishaps.count:
            found.append(mishaps.told())
        return found
