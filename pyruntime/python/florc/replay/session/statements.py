"""What happened to each added statement: how often it ran in this replay, how often it was answered, how often it ran in a
child process."""

from __future__ import annotations

import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ... import _native
from ...process import output
from ...runs.versions import Versions
from ...support.console import count
from ...support.high import raised
from .others import Others


class Ran(NamedTuple):
    """How often one added statement ran."""

    reached: int = 0
    answered: int = 0
    in_children: int = 0
    carried: int = 0
    """How many of those in children were answered."""


class Answer(NamedTuple):
    """What one run of an added statement printed in a child that the script forked."""

    name: str
    child: str
    """Its number, in the order in which the script started them; that of a child's child after a dot: `2.1`."""
    text: bytes
    path: str
    """Where in the loop nest the child was forked."""
    errors: bytes = b""
    """What it wrote to standard error."""


class _Noted(NamedTuple):
    """One run of an added statement in a child: where its answer is in the child's file, and in that of standard error."""

    name: str
    label: str
    begun: int
    ended: int
    path: str
    begun_errors: int
    ended_errors: int


class Statements:
    """The added statements of one replay. `folder`: where forked children leave what the statements print there.
    `carries`: whether that is answered; else it is only counted."""

    def __init__(self, folder: str, carries: bool = True):
        self.others = Others()
        self.reached: dict[str, int] = {}
        self.answered: dict[str, int] = {}
        self.carries = carries
        self.folder, self._notes = folder, os.path.join(folder, "notes")
        self._label, self._children = "", 0
        self._elsewhere: set[str] = set()
        """The numbers of processes that the script started anew."""
        self._way: tuple[int, int] | None = None
        shutil.rmtree(folder, ignore_errors=True)  # of a replay that started again
        if folder:
            os.mkdir(folder, 0o700)
            os.register_at_fork(before=self._before_fork, after_in_child=self._in_child)

    def _before_fork(self) -> None:
        self._children += 1
        if self._way is None and not self._label:
            with suppress(OSError):
                self._way = _pipe()

    def _in_child(self) -> None:
        """Keep what added statements print in this forked child."""
        self._label += f"{'.' * bool(self._label)}{self._children}"
        self._children = 0
        answers = os.path.join(self.folder, self._label)
        output.child = output.Child(_native.loop_path(), self._label, self._notes, answers, self._lose)

    def elsewhere(self) -> str:
        """The number of a process that the script is about to start anew, not forked."""
        self._children += 1
        self._elsewhere.add(str(self._children))
        return str(self._children)

    def from_elsewhere(self, said: Callable[[str], str]) -> list[str]:
        """Sentences about statements that ran in such processes."""
        ran = Counter(run.name for run in self._noted() if run.label.partition(".")[0] in self._elsewhere)
        what = "processes that the script started, of which nothing is recorded"
        return [f"{said(name)}: ran {count(times, 'time')} in {what}" for name, times in ran.items()]

    def _lose(self, name: str) -> None:
        """In a child: the answer of a statement cannot be kept."""
        with suppress(OSError):
            if self._way is not None and stat.S_ISFIFO(os.fstat(self._way[1]).st_mode):  # the child may have closed it
                os.write(self._way[1], f"{name}\n".encode())

    def from_children(self, said: Callable[[str], str], is_over: bool) -> list[str]:
        """Sentences about answers that children could not hand on, and about children that go on. `is_over`: the script came to
        its end, and whoever is still there outlives it."""
        if self._way is None:
            return []
        read, write = self._way
        os.close(write)
        data, goes_on = b"", False
        try:
            while more := os.read(read, 1 << 16):
                data += more
        except BlockingIOError:
            goes_on = is_over
        os.close(read)
        self._way = None
        lost = dict.fromkeys(data.decode(errors="replace").splitlines())
        found = [f"{said(name)}: ran in a process that the script forked, and that could not hand its answer on" for name in lost]
        if goes_on:
            found.append("a process that the script forked outlives it: what added statements print there later is not answered")
        return found

    def _noted(self) -> list[_Noted]:
        """In the order of children, then in that of time."""
        found: list[_Noted] = []
        running: dict[tuple[str, str, int], int] = {}
        """By statement, child and where the answer begins: where in `found` it is. One that ends the process has no end."""
        with suppress(OSError), open(self._notes, encoding="utf-8") as file:
            for line in file.read().splitlines():
                name, label, begun, ended, path, *errors = line.split("\t")
                noted = _Noted(name, label, int(begun), int(ended), path, *map(int, errors))
                at = None if noted.ended == -1 else running.pop((name, label, noted.begun), None)
                if at is None:
                    running[name, label, noted.begun] = at = len(found)
                    found.append(noted)
                found[at] = noted
        return sorted(found, key=lambda noted: [*map(int, noted.label.split("."))])

    def of_children(self) -> list[Answer]:
        """What added statements printed in children, in the order in which the script started these."""
        found = []
        for run in self._noted() if self.carries else ():
            with suppress(OSError):
                path = os.path.join(self.folder, run.label)
                text = _stretch(path, run.begun, run.ended)
                found.append(
                    Answer(
                        run.name, run.label, text, run.path, _stretch(path + output.ERRORS, run.begun_errors, run.ended_errors)
                    )
                )
        return found

    def written(self) -> list[list[str]]:
        """Statements and files that they wrote to in children."""
        with suppress(OSError), open(self._notes + output.WRITTEN, encoding="utf-8", errors="surrogateescape") as file:
            return [line.split("\t", 1) for line in dict.fromkeys(file.read().splitlines())]
        return []

    def written_elsewhere(self) -> list[str]:
        """Files that they wrote in processes that the script started anew."""
        with (
            suppress(OSError),
            open(os.path.join(self.folder, output.WRITTEN_ELSEWHERE), encoding="utf-8", errors="surrogateescape") as file,
        ):
            return list(dict.fromkeys(file.read().splitlines()))
        return []

    def lost_files(self, said: Callable[[str], str], kept: Container[str]) -> list[str]:
        """Sentences about those that are in the view of the replay alone."""
        what = "in a process that the script forked: that is lost"
        return [f"{said(name)}: wrote to {os.path.relpath(path)} {what}" for name, path in self.written() if path not in kept]

    def all(self) -> dict[str, Ran]:
        """How often each statement ran, by its name."""
        children: dict[str, int] = {}
        for run in self._noted():
            children[run.name] = children.get(run.name, 0) + 1
        names = [*self.reached, *children]

        def of(name: str) -> Ran:
            ran = children.get(name, 0)
            return Ran(self.reached.get(name, 0), self.answered.get(name, 0), ran, ran * self.carries)

        return {name: of(name) for name in names}


def _pipe() -> tuple[int, int]:
    """One on which nobody waits, with numbers that no program counts on. It is known to have ended when all children have."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return raised(ends[0]), raised(ends[1])


def _stretch(path: str, begun: int, ended: int) -> bytes:
    """Part of a file; up to its end, where that of the part is not known."""
    with open(path, "rb") as file:
        file.seek(begun)
        return file.read() if ended < 0 else file.read(ended - begun)


def merged(one: dict[str, Ran], other: Mapping[str, Sequence[int]]) -> dict[str, Ran]:
    """The counts of two parts of a replay together."""
    return {name: Ran(*map(sum, zip(one.get(name, Ran()), other.get(name, Ran())))) for name in [*one, *other]}


def unanswered(ran: dict[str, Ran], versions: Versions, has_started_others: bool) -> list[str]:
    """Sentences about statements that ran without an answer."""
    names = versions.marked()
    found = []
    for name, times in ran.items():
        if times.in_children > times.carried:
            found.append(
                f"{versions.said(name)}: ran {count(times.in_children, 'time')} in processes that the script forked: what it "
                "printed there is in the output of the script"
            )
    found += [
        f"{versions.said(name)}: objects that the interpreter deletes at its end come after the answer"
        for name in names
        if versions.is_in_deletion(name)
    ]
    silent = [name for name in names if name not in ran]
    if silent and has_started_others:
        found += [
            f"{versions.said(name)}: did not run in this process, and the script started others: what it printed there is in the "
            "output of the script"
            for name in silent
        ]
    elif names and not any(times.answered or times.in_children for times in ran.values()):
        found.append("no added statement ran where an answer was asked for: there is no answer")
    return found
