"""From values to a tracker's store. Event files and CSV are written here. For other trackers their own package writes, in another
process: a replay has ended what libraries need, and imports nothing into the script."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import csv_logger, event_files
from .known import TRACKERS
from .point import Sent


class NotDelivered(Exception):
    """A tracker does not take the values: why, and the way out."""


def deliver(tracker: str, run: dict[str, Any], name: str, points: Sequence[Sent], environment: Mapping[str, str]) -> int:
    """Send points to a run. `name`: of the florc run, for files; `environment`: that of the command. Returns how many the run did
    not have before. Raises NotDelivered."""
    try:
        if tracker == "tb":
            return event_files.write(run["folder"], f"florc-{name}", points)
        if tracker == "csv":
            return csv_logger.write(run.get("file") or os.path.join(run["folder"], csv_logger.FILE), points)
    except (OSError, ValueError) as error:
        raise NotDelivered((getattr(error, "strerror", None) or str(error)).lower()) from None
    return _by_its_package(tracker, run, points, environment)


def is_installed(tracker: str) -> bool:
    """Whether this Python can send to a tracker."""
    package = TRACKERS[tracker].package
    return not package or importlib.util.find_spec(package) is not None


def _by_its_package(tracker: str, run: dict[str, Any], points: Sequence[Sent], environment: Mapping[str, str]) -> int:
    given = json.dumps([tracker, run, points])
    code = f"import sys; sys.path[:1] = []; from {__name__} import send_given; send_given()"
    quiet = {"WANDB_SILENT": "true", "WANDB_MODE": "offline"}
    few = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2"}  # MLflow's own 7 take minutes where the server is gone
    known = {**few, **environment, **quiet, **({"TRACKIO_DIR": run["store"]} if run.get("store") else {})}
    folder = run.get("folder") if tracker == "mlflow" else None
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env=known,
        cwd=folder if folder and os.path.isdir(folder) else None,
    )
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if done.returncode or not last.startswith(_SENT):
        raise NotDelivered((done.stderr.strip().splitlines() or ["the process that sends was killed"])[-1])
    return int(last[len(_SENT) :])


_SENT = "florc sent "


def send_given() -> None:
    """Send what `deliver` gives this process."""
    tracker, run, given = json.load(sys.stdin)
    points = [Sent(*point) for point in given]
    send = importlib.import_module(f".{tracker}", __package__).send
    print(f"{_SENT}{send(run, points)}")
