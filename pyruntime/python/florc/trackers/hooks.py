"""From a library that the script has imported to its calls: each tracker in the file of its name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from ..survey.classes import SENDING
from .known import TRACKERS
from .point import Sent
from .watch import Watch

_FILES = {"tb": "tensorboard", "csv": "csv_logger"}
"""Of trackers that are called otherwise than their file."""


def adapt(tracker: str, module: ModuleType, watch: Watch) -> None:
    """Hear the calls that a module defines."""
    if tracker in TRACKERS:
        SENDING.add(module.__name__)
    importlib.import_module(f".{_FILES.get(tracker, tracker)}", __package__).adapt(module, watch)


def number(value: Any) -> float | None:
    """A number, an array or tensor of one; None of anything else."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    if getattr(value, "size", None) == 1 or callable(getattr(value, "numel", None)) and value.numel() == 1:
        item = value.item()
        return float(item) if isinstance(item, (bool, int, float)) else None
    return None


def whole(step: Any) -> int | None:
    """A step as a whole number; None where none is given."""
    return None if step is None else int(step)


def flat(metrics: Any, between: str = ".") -> list[tuple[str, Any]]:
    """Names and values of a dict, those of dicts inside it under `outer.inner`."""
    found: list[tuple[str, Any]] = []
    for name, value in metrics.items():
        if isinstance(value, dict):
            found += [(f"{name}{between}{inner}", own) for inner, own in flat(value, between)]
        else:
            found.append((str(name), value))
    return found


STEPS = ("trainer/global_step", "global_step")
"""Names under which loggers of trainers send the step beside the values."""


def take_all(watch: Watch, tracker: str, run: dict[str, Any], metrics: Any, step: Any, what: str) -> None:
    """An added statement sends a dict. What is no number is not sent on."""
    values = flat(metrics)
    if step is None:
        step = next((value for name, value in values if name in STEPS), None)
    for name, value in values:
        if name in STEPS:
            continue
        found = number(value)
        if found is None:
            watch.unsent(f"{what} of {name}, which is no number")
        else:
            watch.take(tracker, run, name, found, step)


def not_sent(watch: Watch, what: str) -> Any:
    """For `put`: a call that florc does not send on. An added statement's is told of, and nothing else."""

    def around(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.is_added():
            return original(self, *args, **kwargs)
        watch.unsent(what)
        return None

    return around


def missing(points: Sequence[Sent], known: Callable[[str], dict[int, list[str]]]) -> list[tuple[str, Sent]]:
    """The points that a run lacks, where a tracker takes nothing back, each with the name that it gets.

    A point that the run has is left out; where it has another value at a step, the whole name gets a number (`norm.2`). `known`:
    what the run has of a name, by step, as `shown` has it."""
    by_name: dict[str, dict[int, list[Sent]]] = {}
    for point in points:
        by_name.setdefault(point.name, {}).setdefault(point.step, []).append(point)
    found = []
    for name, given in by_name.items():
        key, count, there = name, 1, known(name)
        while any(step in there and there[step] != [shown(point.value) for point in same] for step, same in given.items()):
            count += 1
            key = f"{name}.{count}"
            there = known(key)
        found += [(key, point) for step, same in sorted(given.items()) if step not in there for point in same]
    return found


def shown(value: Any) -> str:
    """A number as text, in which NaN is like NaN."""
    return repr(float("nan") if value is None else value)


def argument(args: tuple[Any, ...], kwargs: dict[str, Any], at: int, *names: str) -> Any:
    """What a function was given at a position, or by one of these names; None where it was not."""
    given = args[at] if len(args) > at else None
    return next((kwargs[name] for name in names if kwargs.get(name) is not None), given)
