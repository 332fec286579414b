"""What was asked of a run in hindsight: the values of its replays, kept beside what it recorded."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..runs.journal import History
from ..runs.run import Run
from ..support.light import suppress
from ..support.private import private_file, private_folder
from .rows import Row

_PLACE = "place"
"""Of a row that is kept: where its statement stands, by the recorded line before it."""
_FOLDER = "asked"
"""In the folder of a run: a file for each replay."""


def keep(run: Run, rows: Iterable[Row], place_of: Callable[[Row], object]) -> None:
    """Keep the values of a replay. In a store that cannot be written to, they are only printed. `place_of`: what tells statements
    of one name apart, in each version of the script."""
    lines = [json.dumps({**row.to_json(), _PLACE: place_of(row)}) + "\n" for row in rows]
    if not lines:
        return
    folder = os.path.join(run.path, _FOLDER)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.jsonl"
    with suppress(OSError):
        private_folder(folder)
        path = os.path.join(folder, name)
        with open(f"{path}.part", "w", encoding="utf-8", opener=private_file) as file:
            file.writelines(lines)
        os.replace(f"{path}.part", path)


def replays(history: History) -> Iterator[dict[str, Any]]:
    """What each replay was asked for: `at` (seconds since 1970), `names`, how many `values`, their `verdict`."""
    folder = os.path.join(history.run.path, _FOLDER)
    for name in _files(folder):
        with suppress(OSError, ValueError, TypeError):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                rows = [_read(line)[0] for line in file]
            names = list(dict.fromkeys(row.name for row in rows))
            verdicts = sorted({row.verdict for row in rows})
            yield {"at": os.path.getmtime(path), "names": names, "values": len(rows), "verdict": ", ".join(verdicts)}


def _files(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    except OSError:
        return []


def _read(line: str) -> tuple[Row, str]:
    """A row, and the place of its statement; earlier versions did not keep that. Raises ValueError, TypeError."""
    found = json.loads(line)
    place = json.dumps(found.pop(_PLACE, None))
    return Row(**found), place


def kept(history: History) -> Iterator[Row]:
    """The values that were asked for, the newest answer to each question: a later replay of the same statement takes the place of
    an earlier one."""
    folder = os.path.join(history.run.path, _FOLDER)
    found: dict[tuple[object, ...], list[Row]] = {}
    for name in _files(folder):
        present: dict[tuple[object, ...], list[Row]] = {}
        with suppress(OSError, ValueError, TypeError), open(os.path.join(folder, name), encoding="utf-8") as file:
            for line in file:
                row, place = _read(line)
                key = (row.rank, row.child, row.file, place, tuple(row.context.items()), row.occurrence, row.name)
                present.setdefault(key, []).append(row)  # several statements may name a value so
        found = {key: rows for key, rows in found.items() if key not in present} | present
    yield from (row for rows in found.values() for row in rows)
