"""Lightning's `CSVLogger`, which writes `metrics.csv`. What added statements log goes to `hindsight.csv` beside it."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from .hooks import argument, take_all
from .point import Sent
from .watch import Watch, put

FILE = "hindsight.csv"


def adapt(module: ModuleType, watch: Watch) -> None:
    """Hear what the writer of `metrics.csv` is given."""
    kind = vars(module).get("_ExperimentWriter")
    if not isinstance(kind, type):
        return

    def begin(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not watch.is_added():
            watch.began("csv", folder=_folder(self))

    def log(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        if not watch.is_added():
            original(self, *args, **kwargs)
            return
        metrics, step = argument(args, kwargs, 0, "metrics_dict"), argument(args, kwargs, 1, "step")
        take_all(watch, "csv", {"folder": _folder(self)}, metrics, step, "CSVLogger.log_metrics")

    put(kind, "__init__", begin)
    if watch.replays:
        put(kind, "log_metrics", log)


def _folder(writer: Any) -> str:
    return os.path.abspath(os.path.dirname(str(writer.metrics_file_path)))


def write(path: str, points: Sequence[Sent]) -> int:
    """Add points to a file: a line for each step, a column for each name. A value takes the place of the one that its name has
    at that step. Returns how many values are new or different. Raises OSError, and ValueError for a file of another kind."""
    lines: dict[tuple[int, int], dict[str, str]] = {}
    names: list[str] = []
    if os.path.exists(path):
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            names = list(reader.fieldnames or [])
            if names[:1] != ["step"]:
                raise ValueError(f"{path} is not of florc: its first column is not `step`")
            seen: dict[int, int] = {}
            for row in reader:
                step = int(row["step"])
                seen[step] = seen.get(step, -1) + 1
                lines[step, seen[step]] = {name: value for name, value in row.items() if value and name != "step"}
            names = names[1:]
    before = {key: dict(line) for key, line in lines.items()}
    asked = {(point.name, point.step) for point in points}
    for (step, _), line in lines.items():
        for name in [name for name in line if (name, step) in asked]:
            del line[name]
    new, at = 0, dict[tuple[str, int], int]()
    for point in points:
        again = at[point.name, point.step] = at.get((point.name, point.step), -1) + 1
        text = repr(point.value)
        new += before.get((point.step, again), {}).get(point.name) != text
        lines.setdefault((point.step, again), {})[point.name] = text
    for name in dict.fromkeys(point.name for point in points):
        if name not in names:
            names.append(name)
    if new:
        with open(f"{path}.part", "w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, ["step", *names], lineterminator="\n")
            writer.writeheader()
            writer.writerows({"step": step, **lines[step, again]} for step, again in sorted(lines) if lines[step, again])
        os.replace(f"{path}.part", path)
    return new
