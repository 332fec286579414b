"""Did the script start other processes that run Python and know nothing of this replay? Added statements may run there unseen.

`multiprocessing` and loky announce nothing (`sys.audit`), but they load a module of their own to start such a process. For
other programs florc looks at the words of the command. It does not see Python behind a program whose words and first line do
not name it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ... import _native

_STARTERS = ("popen_spawn_posix", "popen_forkserver", "popen_loky_posix")
_EVENTS = ("subprocess.Popen", "os.posix_spawn", "os.system", "os.exec")


_OF_ADDED = "an added statement starts a program: that finds the files of the script as they are now, not as they were then"


class Others:
    """The processes that the script of one replay started."""

    def __init__(self) -> None:
        self._heard = False
        self._process = os.getpid()
        self._leave: Callable[[], None] | None = None
        self.finds_other_files: Callable[[], bool] = lambda: False
        """Whether an added statement runs, in a script that changes files."""
        self.unanswered: list[str] = []
        """What of them has no answer, in words."""

    def listen(self, leave: Callable[[], None]) -> None:
        """Start to listen. Called once in a process. `leave()` does not return: nothing of it is left after `os.execv`."""
        self._leave = leave
        _native.listen(list(_EVENTS), self._hear)

    def listen_no_more(self) -> None:
        """What is started now is florc's."""
        self._process = -1

    @contextmanager
    def florcs(self) -> Iterator[None]:
        """What is started meanwhile is florc's."""
        heard = self._heard
        try:
            yield
        finally:
            self._heard = heard

    def were_started(self) -> bool:
        """Whether the script has started such a process until now."""
        return self._heard or any(name.rpartition(".")[2] in _STARTERS for name in list(sys.modules))

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "os.exec":
            if os.getpid() == self._process and self._leave is not None:
                self.unanswered.append(
                    "the script put another program in the place of its own process (os.exec): what that does has no answer"
                )
                self._leave()
            return
        if _OF_ADDED not in self.unanswered and os.getpid() == self._process and self.finds_other_files():
            self.unanswered.append(_OF_ADDED)
        words = args[:1] if event == "os.system" else (args[0], *args[1])
        self._heard = self._heard or runs_python(
            [os.fsdecode(word) for word in words if isinstance(word, (str, bytes, os.PathLike))]
        )


def runs_python(words: list[str]) -> bool:
    """Whether one of these words of a command names Python, or a file whose first line does."""
    if any("python" in word or ".py" in word for word in words):
        return True
    with suppress(OSError), open(shutil.which(words[0]) or words[0], "rb") as file:
        return b"python" in file.read(256).split(b"\n")[0]
    return False
