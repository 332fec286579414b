"""Workers that are forked from a process which has done the imports of all of them."""

from __future__ import annotations

import os
import sys

from ...process import start
from ...project.script import Script
from ...runs.journal import History
from ...runs.run import Run
from ..parallel import workers
from ..session.started import STARTED
from ..world import entry as world
from . import imports


def can_fork(run: Run, script: Script, history: History) -> bool:
    """Do the imports, unless they are done. Whether workers can be forked after that."""
    if sys.platform != "linux":
        return False
    found = imports.ahead or imports.import_ahead(run, script, history)
    return not found.why_not and bool(found.statements) and found.is_for(script.text)


class Forked(workers.Forked):
    """A child of this process. It raises `Become` there."""

    def __init__(self, command: list[str], environment: dict[str, str], out: str, log: str):
        sys.stdout.flush()
        sys.stderr.flush()
        self._pid = os.fork()
        if self._pid == 0:
            with open(os.devnull, "rb") as nothing, open(out, "wb") as written, open(log, "ab") as said:
                for number, file in enumerate((nothing, written, said)):
                    os.dup2(file.fileno(), number)
            os.setsid()
            os.environ.clear()
            os.environ.update({name: value for name, value in environment.items() if name != start.STARTED})
            STARTED.environment = dict(os.environ)
            os.environ.pop(world.INSIDE, None)  # as this process is
            if imports.ahead is not None:
                imports.ahead.go_on()
            raise workers.Become

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        if self._code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code
