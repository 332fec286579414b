"""What came of each replay of a run: a line in a file of its folder."""

from __future__ import annotations

import os
import time

from ..support.light import dumps, suppress
from ..support.private import private_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .run import Run

_FILE = "verdicts.jsonl"
_NUMBER = (int, float)
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "at": _NUMBER,
    "verdict": str,
    "seconds": _NUMBER,
    "values": int,
    "restored": int,
    "ran": int,
    "anomalies": list,
}
_MOST = 10
"""Differences that are kept of a replay."""


def note(run: Run, verdict: str, seconds: float, values: int, restored: int, ran: int, anomalies: list[str]) -> None:
    """Add a replay. In a store that cannot be written to, it is only told of. Several replays may add theirs at once: a line is
    one `write` at the end of the file."""
    entry = {
        "at": time.time(),
        "verdict": verdict,
        "seconds": seconds,
        "values": values,
        "restored": restored,
        "ran": ran,
        "anomalies": anomalies[:_MOST],
    }
    with suppress(OSError):
        descriptor = private_file(os.path.join(run.path, _FILE), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"{dumps(entry)}\n".encode())
        finally:
            os.close(descriptor)


def noted(run: Run) -> list[dict[str, Any]]:
    """The replays of a run, the oldest first: `at` (seconds since 1970), `verdict`, `seconds`, how many `values` were answered,
    blocks `restored`, blocks that `ran` again, and the first `anomalies`. A line that was cut off is passed over."""
    import json

    found: list[dict[str, Any]] = []
    try:
        with open(os.path.join(run.path, _FILE), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    for line in lines:
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in _FIELDS.items()):
                found.append(entry)
    return found
