"""A value on its way to a tracker."""

from __future__ import annotations

from typing import Any, NamedTuple


class Point(NamedTuple):
    """A value that an added statement sent, or that is sent with `--to`."""

    tracker: str
    """Of `known.TRACKERS`."""
    run: dict[str, Any]
    """By what the tracker finds the run again, as in the journal's `tracked`."""
    name: str
    value: float | None
    """None of what is no number: `data` is it."""
    step: int | None
    """None where the statement names none."""
    path: str
    """In the loop nest."""
    file: str
    line: int
    """Of the statement, 1-based, in the present version."""
    data: str = ""
    """TensorBoard: a `Summary.Value` without its tag, in base64."""


class Sent(NamedTuple):
    """A point as a tracker gets it."""

    name: str
    """With what `known.EXACT` or `known.UNVERIFIED` puts before it."""
    value: float | None
    step: int
    at: float
    """Seconds since 1970 at which the recorded run was there."""
    data: str = ""
