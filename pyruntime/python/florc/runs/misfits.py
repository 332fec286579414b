"""Blocks whose checkpoints turned out not to fit the objects of the script, and names that hold something else in each process:
what one replay has learned, the next one does not try again."""

from __future__ import annotations

import json
import os
import sys

from ..support.light import dumps, suppress
from ..support.private import private_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .run import Run

_FILE = "misfits.jsonl"
"""In the folder of a run: a line for each block, `{"by": […], "block": …, "why": …}`, and each name, `{"by": […], "name": …}`."""


def _by() -> list[str]:
    """Whose experience it is: another version may be able to restore them."""
    from .. import __version__

    return [__version__, ".".join(map(str, sys.version_info[:2]))]


class Misfits:
    """Of one run."""

    def __init__(self, run: Run):
        self._path = os.path.join(run.path, _FILE)
        self._known: tuple[dict[str, str], set[str]] | None = None

    def _all(self) -> tuple[dict[str, str], set[str]]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def why(self, block: str) -> str | None:
        """Why none of a block's checkpoints is to be restored; None where nothing speaks against it."""
        return self._all()[0].get(block)

    @property
    def names(self) -> set[str]:
        """Names that held something else than in the record though the block before them had run (`survey.witness`)."""
        return self._all()[1]

    def remember(self, blocks: Mapping[str, str], names: Iterable[str] = ()) -> None:
        """Note blocks, and why, and names. In a store that cannot be written to, the next replay tries again. Several replays may
        add theirs at once."""
        found = [*({"block": block, "why": why} for block, why in blocks.items()), *({"name": name} for name in names)]
        lines = "".join(f"{dumps({'by': _by(), **one})}\n" for one in found)
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            descriptor = private_file(self._path, flags)
            try:
                os.write(descriptor, lines.encode())
            finally:
                os.close(descriptor)

    def _read(self) -> tuple[dict[str, str], set[str]]:
        found: dict[str, str] = {}
        names: set[str] = set()
        by = _by()
        with suppress(OSError, UnicodeDecodeError), open(self._path, encoding="utf-8") as file:
            for line in file:
                with suppress(ValueError, KeyError, TypeError):  # one that was cut off
                    entry = json.loads(line)
                    if entry["by"] == by and "name" in entry:
                        names.add(str(entry["name"]))
                    elif entry["by"] == by:
                        found[str(entry["block"])] = str(entry["why"])
        return found, names
