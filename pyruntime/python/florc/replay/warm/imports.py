"""The imports of libraries that a script begins with, done ahead in a process from which replays are forked.

Nothing of the script runs here but these statements, in their order, up to the first other one and the first import of a module
of the project. A process is forked only while it has one thread, so what was imported must have started none that outlives
a fork.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import tempfile
import time
from typing import Any, NamedTuple

from ... import _native
from ...process import start
from ...project.script import Script
from ...project.territory import Territory
from ...runs.journal import History
from ...runs.run import Run

LATE = frozenset({"torch._dynamo"})
"""Modules that a library imports where it first needs them, in a second or so, and that are imported ahead, too, if the recorded
run imported them: nothing of what they read (the environment) is the script's to change, unless its text names it."""

_CHANGES = frozenset({"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod"})
"""What a program does to files, as audit events name it (besides `open`)."""


class Ahead(NamedTuple):
    """What was imported."""

    statements: list[str]
    """The import statements that were carried out, as they are written."""
    seconds: list[tuple[str, float]]
    """What they took: the package first named in each, and seconds."""
    files: dict[str, tuple[int, int]]
    """File of each imported module -> when it was written (ns), bytes."""
    state: Any
    """Of Python's generator: it seeds itself again in a process that was forked."""
    why_not: str
    """Why no process can be forked after these imports; empty if it can."""

    def is_for(self, text: str) -> bool:
        """Whether a script with this text begins with these imports, and the files of the modules are as they were."""
        wanted = _native.leading_imports(text)
        written = [statement for statement, _ in wanted]
        at = 0
        for done in self.statements:
            if done not in written[at:]:
                return False
            found = written.index(done, at)
            if not sys.stdlib_module_names.issuperset(name for _, names in wanted[at:found] for name in names):
                return False  # a library that was not there before could have its say in what the next one does
            at = found + 1
        return all(_version(path) == version for path, version in self.files.items())

    def go_on(self) -> None:
        """What a process that was forked does first."""
        random.setstate(self.state)


ahead: Ahead | None = None
"""What this process, or the one that it was forked from, has imported."""


def import_ahead(run: Run, script: Script, history: History) -> Ahead:
    """Do the imports of the recorded script. The folder, the arguments and the search path are those that it had."""
    global ahead
    kept = os.getcwd(), list(sys.path), sys.argv, sys.orig_argv
    if os.path.isdir(run.info["cwd"]):
        os.chdir(run.info["cwd"])
    territory = Territory(script)
    if script.module is None and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(script.path))
    sys.argv = list(script.argv)
    watch = _Watch()
    present, begun, done = set(sys.modules), time.perf_counter(), []
    seconds: list[tuple[str, float]] = []
    generators = start.Generators(lambda name, value: None, history.generators)
    with tempfile.TemporaryFile() as said:
        watch.is_on = True
        descriptors = _divert(said.fileno())
        try:
            for statement, packages in _native.leading_imports(run.source(script.path) or script.text):
                try:
                    if any(map(territory.find, packages)):
                        break
                    _carry_out(statement, script.path)
                except BaseException as error:  # the replay meets it where the script does
                    watch.seen = watch.seen or f"`{statement}` raises {type(error).__name__}"
                    break
                done.append(statement)
                seconds.append((packages[0], time.perf_counter() - begun))
                begun = time.perf_counter()
            else:
                for name in _late(run):
                    __import__(name)
                    seconds.append((name, time.perf_counter() - begun))
                    begun = time.perf_counter()
        finally:
            watch.is_on = False
            generators.leave()
            _undo(descriptors)
            os.chdir(kept[0])
            _, sys.path[:], sys.argv, sys.orig_argv = kept
        printed = said.tell()
    gc.collect()
    gc.freeze()  # what a process that is forked collects is none of this: no page of it is copied
    new = [module for name, module in sys.modules.items() if name not in present]
    named = [getattr(module, "__file__", None) for module in new]
    paths = [path for path in named if isinstance(path, str) and os.path.isabs(path)]  # some of torch's are none
    why = watch.seen or _threads()
    if printed:
        why = "its imports print something"
    if any(map(territory.owns, paths)):
        why = "its libraries import modules of the project"
    ahead = Ahead(done, seconds, {path: _version(path) for path in paths}, random.getstate(), why)
    return ahead


def _late(run: Run) -> list[str]:
    """Modules to import ahead that the script does not name."""
    if any("environ" in text or "putenv" in text for *_, text in run.files()):
        return []
    return [name for name, _ in run.imports() if name in LATE]


def _carry_out(statement: str, file: str) -> None:
    names = {"__name__": "__main__", "__file__": file, "__builtins__": sys.modules["builtins"]}
    exec(compile(statement, file, "exec", dont_inherit=True), names)


def _version(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return -1, -1
    return found.st_mtime_ns, found.st_size


def _divert(descriptor: int) -> list[tuple[int, int]]:
    """Hand a file what this process prints; returns what `_undo` takes."""
    sys.stdout.flush()
    kept = [(number, os.dup(number)) for number in (1, 2)]
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    return kept


def _undo(kept: list[tuple[int, int]]) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    for number, copy in kept:
        os.dup2(copy, number)
        os.close(copy)


class _Watch:
    """Keeps imports from changing files, and notes that one wanted to: a replay would have kept what it changes from the user's.
    What Python keeps of a library that it compiled (`__pycache__`) is no file of the user."""

    def __init__(self) -> None:
        self.seen, self.is_on = "", False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.is_on or not (event == "open" or event in _CHANGES):
            return
        path = args[0]
        if event == "open":
            flags = args[2]
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        if not isinstance(path, (str, bytes)):  # a descriptor
            return
        path = os.fsdecode(path)
        if "__pycache__" in path or path.startswith(("/dev/", "/proc/")) or event == "os.mkdir" and os.path.isdir(path):
            return
        self.seen = f"its imports write {path}"
        raise PermissionError(f"florc does the imports of the script ahead, which may not write {path}")


def _threads() -> str:
    """Why this process cannot be forked, or nothing. Some libraries end their threads when a process is forked, so it is asked
    after a fork."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    number = len(os.listdir("/proc/self/task"))
    return f"its imports start {number - 1} threads" if number > 1 else ""
