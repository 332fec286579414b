"""`florc record`: from the arguments to the end of the process."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from types import CodeType
from typing import Any, Dict, Optional

from . import _native, launch, messages, session, start
from .budget import Budget
from .launch import Unusable
from .messages import say
from .project import MAIN, ProjectFinder, Territory, analyse
from .record import Recording
from .runs import Run, store_path, tell_kept


def record(arguments: Dict[str, Any]) -> int:
    """Run the script recorded. Returns only when the script ended without `sys.exit` or an exception."""
    words, module = arguments["script"], arguments["module"]
    if not words and module is None:
        raise Unusable("which script? florc record train.py")
    if not 0 < arguments["overhead"] < 1:
        raise Unusable("--overhead is a share of the run's time, between 0 and 1: 0.05 is five percent")
    script = _load(words, module)
    try:
        original = compile(script.text, script.path, "exec", dont_inherit=True)
    except SyntaxError as error:
        # Python's own message; there is no run to speak of.
        launch.reraise(error)
    hash_seed = start.with_hash_seed()
    recording = _begin(script, arguments, hash_seed)
    if recording is None:
        return _unrecorded(script, original)
    ending = _Ending(recording, script)
    # Registered before the script's own: runs after them, so that what they print is recorded too.
    atexit.register(ending.finish)
    start.Generators(lambda name, value: recording.note("generator", name=name, state=value))
    try:
        territory = Territory(script)
        recording.project = analyse(script, territory)
        recording.keep_sources()
        code = recording.compile(script.text, script.path, MAIN)
        sys.meta_path.insert(0, ProjectFinder(territory, recording.compile))
        session.begin(recording)
        recording.tap.install()
        recording.files_noted.watch()
        launch.execute(script, code)
    except SystemExit as error:
        ending.status = "ok" if error.code in (None, 0) else f"exit {error.code}"
        raise
    except KeyboardInterrupt as error:
        ending.status = "interrupted"
        launch.reraise(error)
    except BaseException as error:
        ending.status = "exception"
        launch.reraise(error)
    ending.status = "ok"
    return 0


def _begin(script: launch.Script, arguments: Dict[str, Any], hash_seed: str) -> Optional[Recording]:
    """The session; None when the store cannot be written (a full disk): then the script runs without."""
    run = None
    try:
        tell_kept(store_path())
        run = Run.begin(store_path(), script.path, script.argv, arguments["module"], arguments["name"], hash_seed)
        staging = arguments["max_staging"]
        return Recording(run, arguments["overhead"], arguments["engine"], staging and staging << 20,
                         Budget(arguments["max_disk"]))
    except (Unusable, _native.StoreError, OSError) as error:
        say(f"nothing is recorded: {error}", always=True)
        if run is not None:
            shutil.rmtree(run.path, ignore_errors=True)
        return None


def _unrecorded(script: launch.Script, code: CodeType) -> int:
    try:
        launch.execute(script, code)
    except SystemExit:
        raise
    except BaseException as error:
        launch.reraise(error)
    return 0


def _load(words: Any, module: Any) -> launch.Script:
    try:
        return launch.load(words, module)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Unusable(f"{words[0] if words else module} is not text in its declared encoding: {error}") from None


class _Ending:
    """Closes the run when the process ends, and says what was kept."""

    def __init__(self, recording: Recording, script: launch.Script):
        self.status = "exception"
        self._recording, self._script, self._pid = recording, script, os.getpid()

    def finish(self) -> None:
        if os.getpid() != self._pid:
            return
        report = self._recording.finish(self.status)
        run = self._recording.run
        ended = {"ok": "", "interrupted": ", interrupted", "exception": ", ended by an exception"}
        state = ended.get(self.status, f", {self.status}")
        say(f"recorded {run.id}{state}: {messages.count(report['checkpoints'], 'checkpoint')}, {messages.size(report['bytes'])} in "
            f"{os.path.relpath(run.store)}, overhead {100 * report['overhead']:.1f} %")
        for block, why in report["not_kept"].items():
            say(f"{block} will run again on replay: {why}")
        if report["dead"]:
            say(f"recording stopped early: {report['dead']}", always=True)
        elif report["errors"]:
            self._say_lost(report)
        say(f"next: add a log statement to {os.path.basename(self._script.path)}, then: "
            f"florc replay {os.path.relpath(self._script.path)}")

    def _say_lost(self, report: Dict[str, Any]) -> None:
        """One line, however much went wrong."""
        if report["stopped"]:
            say(f"recording stopped early: {report['stopped']}", always=True)
        else:
            more = len(report["errors"]) - 1
            also = f" (and {more} more)" if more else ""
            say(f"a checkpoint was lost: {report['errors'][0]}{also}", always=True)
