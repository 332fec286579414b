"""Processes that the script forks while it is recorded. They cannot write to its journal: what they have to tell are lines of a
file in the run's folder, which the run reads and notes as its own."""

from __future__ import annotations

import os

from .. import _native
from ..support.light import dumps, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..process.output import Tap

LINES = "lines-of-children"
LARGEST = 1 << 24
"""So many bytes are read at once."""


class Told:
    """A file in which children leave lines; the run reads each once. Nothing is read before the first fork."""

    def __init__(self, path: str):
        self.path = path
        self._read_to = 0
        self._has_forked = False
        os.register_at_fork(after_in_parent=self._forked)

    def _forked(self) -> None:
        self._has_forked = True

    def tell(self, note: dict[str, Any]) -> None:
        """In a child: a line of JSON. One call writes it, so that lines of several children do not mix."""
        number = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(number, (dumps(note) + "\n").encode())
        finally:
            os.close(number)

    def new(self) -> Iterable[str]:
        """In the run: whole lines that children told since. Raises OSError where the file cannot be read."""
        if not self._has_forked:
            return
        try:
            number = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # they had nothing to tell
            return
        try:
            data = b""
            while more := os.pread(number, LARGEST, self._read_to + len(data)):
                *whole, rest = (data + more).split(b"\n")
                for line in whole:
                    self._read_to += len(line) + 1
                    yield line.decode(errors="replace")
                data = rest
        finally:
            os.close(number)

    def notes(self) -> Iterable[dict[str, Any]]:
        """What `tell` was given in children, and `new` reads."""
        for line in self.new():
            import json  # takes long to import

            yield json.loads(line)


class PrintedByChildren:
    """The lines that children print. `path`: where these leave them; `taps`: of the standard streams; `log`: takes the payload
    of a record `child lines`."""

    def __init__(self, path: str, taps: Iterable[Tap], log: Callable[[str], None]):
        self._told, self._taps, self._log = Told(path), taps, log
        self._label, self._forks, self._place = "", 0, ""
        os.register_at_fork(before=self._before_fork, after_in_child=self._in_child)

    def _before_fork(self) -> None:
        self._forks += 1
        self._place = _native.loop_path()

    def _in_child(self) -> None:
        self._label += f"{'.' * bool(self._label)}{self._forks}"
        self._forks = 0
        for tap in self._taps:
            tap.fork(self._told.path, self._label, self._place)

    def note(self) -> None:
        """In the run: note what they printed since."""
        with suppress(OSError):
            for payload in self._told.new():
                with suppress(ValueError):  # cut off: a disk was full, or a child killed
                    _native.read_record("child lines", payload)
                    self._log(payload)

    def end(self) -> None:
        """The run is over: the journal has the lines."""
        self.note()
        with suppress(OSError):
            os.unlink(self._told.path)
