"""`florc replay --interactive`: the imports are done once; each line that is typed is a replay of its own, forked from here."""

from __future__ import annotations

import os
import random
import select
import shlex
import signal
import sys

from ..process import start
from ..project.script import NOTEBOOK, Script, Unusable
from ..runs.journal import History
from ..runs.run import Run
from ..support import console as messages
from ..support.console import duration, say
from .command import present_script
from .parallel import served
from .process import end
from .serving import next_words
from .session import live
from .session.started import STARTED
from .warm.imports import Ahead, import_ahead

OPTION = "--interactive"
_UNUSABLE = 2
_PROMPT = "florc> "
_REPLAYS = "as it is then; options go before it, such as --last; Ctrl-D ends"
_ASKS = "each line is a question, such as --at 47 'norm.item()', with the options of florc replay; Ctrl-D ends"


def next_question(run: Run, path: str | None) -> list[str]:
    """Ask, and answer each question in a process of its own. Returns in such a process: the words of its command. Where nobody
    asks any more this process ends, with the exit code of the last answer."""
    script = present_script(run, path)
    if served.is_server():
        return next_words(lambda: importable(run, script), lambda found: is_warm(found, path or script.path))
    if run.ranks > 1:
        served.serve(run)
        found = Ahead([], [], {}, random.getstate(), "")  # this process needs nothing of it
        say(f"{messages.count(run.ranks, 'rank')} do the imports now, each for all questions")
    else:
        found = importable(run, script)
        say(_told(found))
    say(_ASKS if STARTED.words[0] == "ask" else f"Enter replays {os.path.relpath(script.path)} {_REPLAYS}")
    if live.is_asked():
        live.put(1, {"ready": sum(took for _, took in found.seconds), "warm": not found.why_not})
    words = [word for word in STARTED.words if word != OPTION]
    code = 0
    while True:
        line = _line()
        if line is None:
            end(code)
        try:
            asked = [*words, *shlex.split(line)]
        except ValueError as error:
            say(f"{error}: {line.strip()}", always=True, code="F101")
            live.mark_end(_UNUSABLE)
            continue
        child = os.fork()
        if child == 0:
            _become(asked, found, path or script.path)
            return asked
        code = _waited(child)
        live.mark_end(code)


def _told(found: Ahead) -> str:
    if found.why_not:
        return f"each question imports what it needs: {found.why_not}"
    return f"{messages.count(len(found.statements), 'import')} done in {duration(sum(took for _, took in found.seconds))}"


def importable(run: Run, script: Script) -> Ahead:
    """What this process imports ahead."""
    if sys.platform != "linux":
        return Ahead([], [], {}, None, "florc knows only on Linux whether a process can be forked")
    return import_ahead(run, script, History(run))


def _line() -> str | None:
    """The next line of standard input; None at its end. No byte after it is read: those that follow are other questions."""
    while True:
        if os.isatty(0):
            os.write(2, _PROMPT.encode())
        line = b""
        try:
            while not line.endswith(b"\n"):
                byte = os.read(0, 1)
                if not byte:
                    return line.decode(errors="replace") if line else None
                line += byte
        except KeyboardInterrupt:  # as a shell has it: another line
            os.write(2, b"\n")
            continue
        return line.decode(errors="replace")


def _become(words: list[str], found: Ahead, path: str) -> None:
    """Make this process, just forked, the one of a replay."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[1:] = STARTED.words = words
    if not is_warm(found, path):
        os.execve(sys.executable, start.command(*words), start.environment(given=STARTED.environment))
    found.go_on()


def is_warm(found: Ahead, path: str) -> bool:
    """Whether a script, as it is now, can go on from what was imported."""
    try:
        return not found.why_not and found.is_for(_text(path))
    except (OSError, UnicodeDecodeError, SyntaxError, Unusable):
        return False  # it is said where it always is


def _text(path: str) -> str:
    """What a script holds now; of a notebook, its program."""
    with open(path, "rb") as file:
        data = file.read()
    if not path.endswith(NOTEBOOK):
        return data.decode()
    from ..project import notebooks

    return notebooks.program(path, data)


def _waited(child: int) -> int:
    """The exit code of a process. Ctrl-C is for the process, which says so."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if live.is_asked():
            _watch(child)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        signal.signal(signal.SIGINT, before)
    if code < 0:
        say(f"the replay was ended by signal {-code}")
    return code


def _watch(child: int) -> None:
    """Wait for the end of a process. Whoever listens goes away with standard input: then it ends at once, with all that it
    started."""
    live.put(1, {"process": child})
    descriptor = os.pidfd_open(child)
    try:
        events = select.poll()
        events.register(descriptor, select.POLLIN)
        events.register(0, 0)  # that it was closed is always told
        while descriptor not in (ready := {found for found, _ in events.poll()}):
            if ready:
                os.killpg(0, signal.SIGKILL)
    finally:
        os.close(descriptor)
