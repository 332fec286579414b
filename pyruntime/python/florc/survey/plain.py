"""What the script's names hold of numbers and texts, where an iteration begins and where the script is over.

What a block leaves is in its checkpoint, and what the script prints is compared. What code outside restored blocks keeps for
itself (`times.append(os.stat(path).st_ino)`) is neither: so digests of it are recorded, and compared.
"""

from __future__ import annotations

import os
import sys
import time

from .. import _native
from ..support import mishaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any, Protocol

    class Journal(Protocol):
        """The session of a recording."""

        def note(self, kind: _native._RecordKind, **payload: Any) -> None:
            """Add a record."""

        def charge(self, seconds: float) -> None:
            """Florc took so long."""


_LINE = "printed line "
"""A line was printed outside followed loops: what `main()` asks after its last loop is in no name once that is over."""
END = "end"
"""The script is over."""
OF_OBJECT = "*"
"""How a digest ends that depends on attributes of objects of the script's."""
_MOST_S, _MOST = 0.005, 0.002
"""Seconds of the processor, and part of the run, that may be spent on looking."""
_OF_OTHERS = (
    "threads or processes of the script asked for something from outside (a clock, entropy, a connection), which is not given "
    "back, before an added statement ran"
)
_MOST_DOUBTED = 1000
_UNTOLD = {"": ""}
"""Stands for further ones: no comparison finds such a name."""
_MARKS = ">^"
"""What may stand behind the digest of a whole number, as what the system may have counted it."""
_OPTIMIZED = 1
"""`CO_OPTIMIZED`: code of a function."""


def digests(frame: FrameType | None, spans: Sequence[tuple[float, float]], processes: Sequence[int]) -> dict[str, str]:
    """By name: `values`, `train() values`. Those of the script's frames from this one down, and of its main module."""
    scripts = _native.scripts_modules()
    found: dict[str, str] = {}
    main = vars(sys.modules["__main__"])
    seen = {id(main)}
    modules = [main]
    at = frame
    while at is not None:
        if at.f_globals.get("__name__") in scripts:
            if at.f_code.co_flags & _OPTIMIZED:
                for name, digest in _native.plain_digests(_native.names_of(at), spans, processes, scripts):
                    found.setdefault(f"{at.f_code.co_name}() {name}", digest)
            if id(at.f_globals) not in seen:
                seen.add(id(at.f_globals))
                modules.append(at.f_globals)
        at = at.f_back
    for names in reversed(modules):
        found.update(_native.plain_digests(names, spans, processes, scripts))
    return found


def _is_same(one: str, two: str) -> bool:
    """Whether two digests are of one value, or of whole numbers that the system may have counted: files, processes, ports."""
    a, b = one.rstrip(_MARKS), two.rstrip(_MARKS)
    return a == b or not set(one[len(a) :]).isdisjoint(two[len(b) :])


class Noted:
    """Digests as they are recorded: those that changed. `began`: the time of day then; `is_bounded`: whether looking may take
    only little of the run."""

    def __init__(self, began: float, is_bounded: bool):
        self._began, self._is_bounded = began, is_bounded
        self._known: dict[str, str] = {}
        self._spent = 0.0
        self._printed = 0

    def printed(self, journal: Journal, frame: FrameType | None) -> None:
        """A line was printed outside followed loops and blocks; `frame`: by which code, None for what C code calls at the end."""
        self._printed += 1
        self.note(journal, f"{_LINE}{self._printed}", frame)

    def note(self, journal: Journal, path: str, frame: FrameType | None) -> None:
        """The program is there: what has changed since the last time is noted, where that takes little."""
        begun, worked = time.perf_counter(), time.thread_time()
        if self._is_bounded and self._spent > _MOST_S + _MOST * (time.time() - self._began):
            return
        found = digests(frame, [(self._began, time.time())], [os.getpid()])
        changed = {name: digest for name, digest in found.items() if self._known.get(name) != digest}
        self._known.update(changed)
        journal.note("names", path=path, found=changed)
        self._spent += time.thread_time() - worked  # not what other programs take of the machine
        journal.charge(time.perf_counter() - begun)


class Compared:
    """Digests of a recorded run, and what differs from them now. `recorded`: place and changed names, in their order; `span`:
    between which seconds the time of day was; `process`: the number of its process."""

    def __init__(self, recorded: Sequence[tuple[str, dict[str, str]]], span: tuple[float, float] | None, process: int):
        self._recorded, self._span, self._process, self.began = recorded, span, process, time.time()
        self._at = {path: number for number, (path, _) in enumerate(recorded)}
        self._next = 0
        self._known: dict[str, str] = {}
        self._restored: set[str] = set()
        self._printed = 0
        self.different: dict[str, str] = {}
        """Name -> where it was found first to hold something else."""
        self._vouched = 0
        """So much had been taken in other threads and processes when the names held for the last time what they had held."""
        self._doubted: list[dict[str, str]] = []
        """What names held where added statements may have shown something of that."""

    def printed(self, frame: FrameType | None) -> None:
        """As `Noted.printed`."""
        self._printed += 1
        self.compare(f"{_LINE}{self._printed}", frame)

    def restored(self, names: set[str]) -> None:
        """These hold what a checkpoint gave them, or what nobody reads: that is proved elsewhere."""
        self._restored |= names

    def _outside(self) -> tuple[list[tuple[float, float]], list[int]]:
        return [(self.began, time.time()), *([self._span] if self._span else [])], [os.getpid(), self._process]

    def compare(self, path: str, frame: FrameType | None) -> None:
        """The program is there."""
        with mishaps.Swallow("comparing what names hold"):
            self._compare(path, frame)

    def _compare(self, path: str, frame: FrameType | None) -> None:
        number = self._at.get(path)
        if number is None:
            return
        taken, before = _native.taken_elsewhere(), len(self.different)
        for _, changed in self._recorded[self._next : number + 1]:
            self._known.update(changed)
        self._next = max(self._next, number + 1)
        found = digests(frame, *self._outside())
        for name, digest in found.items():
            known = self._known.get(name)
            if known is None or _is_same(known, digest) or name.rpartition(" ")[2] in self._restored:
                continue
            if not (self._restored and (digest + known).count(OF_OBJECT)):
                self.different.setdefault(name, path)
        if len(self.different) == before:
            self._vouched = taken
            self._doubted = [seen for seen in self._doubted if not seen.items() <= found.items()]

    def asked(self, frame: FrameType) -> None:
        """An added statement runs there: what is taken from outside in threads and processes may be part of what it shows, until
        what the names hold is compared next."""
        if _native.taken_elsewhere() == self._vouched or _UNTOLD in self._doubted[-1:]:
            return
        seen = digests(frame, *self._outside()) if len(self._doubted) < _MOST_DOUBTED else _UNTOLD
        if seen not in self._doubted:
            self._doubted.append(seen)

    @property
    def doubts(self) -> list[str]:
        """A sentence, where added statements may have shown what is not given back, and nothing vouches for it."""
        return [_OF_OTHERS] * bool(self._doubted)
