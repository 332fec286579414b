"""What happened to each added statement: how often it ran in this replay, how often it was answered, how often it ran in a
child process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ...process import output
from ...runs.versions import Versions
from ...support.console import count
from .others import Others


class Ran(NamedTuple):
    """How often one added statement ran."""

    reached: int = 0
    answered: int = 0
    in_children: int = 0


class Statements:
    """The added statements of one replay. `notes`: a file in which forked children note what ran there."""

    def __init__(self, notes: str):
        self.others = Others()
        self.reached: dict[str, int] = {}
        self.answered: dict[str, int] = {}
        self._notes = notes
        with suppress(OSError):  # of a replay that started again
            os.remove(notes)

    def in_child(self) -> None:
        """From now on, note what runs in this forked child."""
        output.notes = self._notes

    def all(self) -> dict[str, Ran]:
        """How often each statement ran, by its name."""
        children: dict[str, int] = {}
        if os.path.exists(self._notes):
            with open(self._notes, encoding="utf-8") as file:
                for name in file.read().splitlines():
                    children[name] = children.get(name, 0) + 1
        names = [*self.reached, *children]
        return {name: Ran(self.reached.get(name, 0), self.answered.get(name, 0), children.get(name, 0)) for name in names}


def merged(one: dict[str, Ran], other: Mapping[str, Sequence[int]]) -> dict[str, Ran]:
    """The counts of two parts of a replay together."""
    return {name: Ran(*map(sum, zip(one.get(name, Ran()), other.get(name, Ran())))) for name in [*one, *other]}


def unanswered(ran: dict[str, Ran], versions: Versions, has_started_others: bool) -> list[str]:
    """Sentences about statements that ran without an answer."""
    names = versions.marked()
    found = []
    for name, times in ran.items():
        if times.in_children:
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
