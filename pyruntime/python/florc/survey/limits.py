"""What a survey compares, how deep it looks, and what it gives up.

A survey is a help, not a proof. Exactness does not rest on it: a replay also compares what the program holds after each restore
(`witness.py`), the lines that the script prints, and the state of blocks that run again. A survey finds early what these find
late. So each limit below may cost a finding, and none may cost a run its time.

What is compared
    Every object that the program reaches by its names, from the names down, nearest first: containers, instances, classes
    and functions of the project, torch's modules, optimizers, tensors and generators, numpy's arrays and generators,
    iterators, loggers, and files in memory. Two states of an object are told apart by the identity of its parts, by the
    values of numbers and texts, by torch's count of the changes of a tensor, and by a hash of an array's bytes.

    Objects of other libraries are compared by a digest of all that they hold (`classes.py`).

What is given up
    What lies beyond a limit. A change that was undone before the block ended.
    A tensor that was changed without a word to torch (by `.data`, or through memory that numpy shares with it).
"""

from __future__ import annotations

from ..support.light import NamedTuple


class Limits(NamedTuple):
    """The limits, each with its reason. `tests/test_survey_limits.py` has a case on both sides of each."""

    objects: int = 4000
    """Of the objects of a program so many are compared. A survey of as many takes some 10 ms."""
    ways: int = 4
    """So many ways to an object are kept. It is found again as long as one of them leads to it."""
    passes: int = 2
    """So often the ways are followed to find the objects again. A way may lead through an object that was met later."""
    items: int = 200
    """Of longer containers the length and both ends are compared: a list of a million numbers grows at its end."""
    array_bytes: int = 1 << 16
    """Of larger arrays a sample is compared. To hash 64 KiB takes some 30 µs."""
    array_samples: int = 4096
    """A sample has at least so many elements, evenly spread."""
    value_characters: int = 24
    """A changed value is told if its text is no longer than this."""
    statement_surveys: int = 2
    """Around each group of added statements the program is surveyed so many times at least,"""
    statement_share: float = 0.05
    """and after that as long as surveys took no more than this part of the replay's time."""

    def surveys_statements(self, times: int, spent: float, since_start: float) -> bool:
        """Whether a group of added statements is surveyed when it runs for the so many-th time (from 1).

        `spent`: seconds that such surveys took so far; `since_start`: of the replay."""
        return times <= self.statement_surveys or spent < self.statement_share * since_start


LIMITS = Limits()
"""Those that hold. How often blocks of a recording are surveyed is a matter of its overhead: `record/pacer.py`."""
