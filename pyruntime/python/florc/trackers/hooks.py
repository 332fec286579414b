"""From a library that the script has imported to its calls: each tracker in the file of its name."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .watch import Watch

_FILES = {"tb": "tensorboard", "csv": "csv_logger"}
"""Of trackers that are called otherwise than their file."""


def adapt(tracker: str, module: ModuleType, watch: Watch) -> None:
    """Hear the calls that a module defines."""
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


def argument(args: tuple[Any, ...], kwargs: dict[str, Any], at: int, *names: str) -> Any:
    """What a function was given at a position, or by one of these names; None where it was not."""
    given = args[at] if len(args) > at else None
    return next((kwargs[name] for name in names if kwargs.get(name) is not None), given)
