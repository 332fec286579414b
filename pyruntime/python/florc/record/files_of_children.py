"""What processes that the script forks change on disk: lines of a file in the run's folder, which the run reads and notes as its
own. They cannot write to its journal."""

from __future__ import annotations

import os

from ..support.light import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "files-of-children"


class FilesOfChildren:
    """Of one run. `folder`: the run's."""

    def __init__(self, folder: str):
        self._path = os.path.join(folder, NAME)
        self._read_to = 0
        self._has_forked = False
        os.register_at_fork(after_in_parent=self._forked)

    def _forked(self) -> None:
        self._has_forked = True

    def tell(self, note: dict[str, Any]) -> None:
        """In a child: a record `file`. One call writes it, so that lines of several children do not mix."""
        number = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(number, (dumps(note) + "\n").encode())
        finally:
            os.close(number)

    def told(self) -> list[dict[str, Any]]:
        """In the run: what children told since."""
        if not self._has_forked:
            return []
        import json

        try:
            number = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # they changed nothing
            return []
        try:
            data = os.pread(number, 1 << 24, self._read_to)
        finally:
            os.close(number)
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to += len(whole)
        return [json.loads(line) for line in whole.splitlines()]
