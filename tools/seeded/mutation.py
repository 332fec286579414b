"""What a seeded bug is, and the list that the modules of this folder fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

STORE = "pyruntime/src/store/"
MATERIALIZE = "pyruntime/src/materialize/"
FLORC = "pyruntime/python/florc/"
RECORDER_FAULTS = "tests/test_recorder_faults.py::"
CHECK = "tests/test_deferred_check.py::"
FORK = "tests/test_forked_checkpoints.py::"
SMALL = "tests/replay/test_small_scripts.py::test_replay_prints_what_the_added_statements_would_have"


class Mutation(NamedTuple):
    """In `file`, `old`, which is there exactly once, becomes `new`. `tests`: of them at least one must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_rust(self) -> bool:
        """Whether the extension has to be built again."""
        return self.file.endswith(".rs")

    def applied(self, text: str, fail: Callable[[str], NoReturn]) -> str:
        """The text of the file with the bug in it."""
        count = text.count(self.old)
        if count != 1:
            fail(f"{self.name}: its text is {count} times in {self.file}")
        return text.replace(self.old, self.new)


MUTATIONS: list[Mutation] = []


def add(name: str, file: str, old: str, new: str, *tests: str) -> None:
    """Add a mutation."""
    MUTATIONS.append(Mutation(name, file, old, new, tests))
