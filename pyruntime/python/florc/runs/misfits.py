"""Blocks whose checkpoints turned out not to fit the objects of the script: what one replay has learned, the next one does not
try again."""

from __future__ import annotations

import json
import os
import sys

from ..support.light import dumps, suppress
from ..support.private import private_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .run import Run

_FILE = "misfits.jsonl"
"""In the folder of a run: a line for each block, `{"by": […], "block": …, "why": …}`."""


def _by() -> list[str]:
    """Whose experience it is: another version may be able to restore them."""
    from .. import __version__

    return [__version__, ".".join(map(str, sys.version_info[:2]))]


class Misfits:
    """Of one run."""

    def __init__(self, run: Run):
        self._path = os.path.join(run.path, _FILE)
        self._known: dict[str, str] | None = None

    def why(self, block: str) -> str | None:
        """Why none of a block's checkpoints is to be restored; None where nothing speaks against it."""
        if self._known is None:
            self._known = self._read()
        return self._known.get(block)

    def remember(self, blocks: Mapping[str, str]) -> None:
        """Note blocks, and why. In a store that cannot be written to, the next replay tries again. Several replays may add theirs
        at once."""
        lines = "".join(f"{dumps({'by': _by(), 'block': block, 'why': why})}\n" for block, why in blocks.items())
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            descriptor = private_file(self._path, flags)
            try:
                os.write(descriptor, lines.encode())
            finally:
                os.close(descriptor)

    def _read(self) -> dict[str, str]:
        found, by = {}, _by()
        with suppress(OSError, UnicodeDecodeError), open(self._path, encoding="utf-8") as file:
            for line in file:
                with suppress(ValueError, KeyError, TypeError):  # one that was cut off
                    entry = json.loads(line)
                    if entry["by"] == by:
                        found[str(entry["block"])] = str(entry["why"])
        return found
