"""A project that lies elsewhere than when it was recorded: its folder was renamed, or copied to another machine."""

from __future__ import annotations

import os

from ..support.light import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Moved(NamedTuple):
    """What was recorded below the folder `old` is below `new` now."""

    old: str
    new: str

    def path(self, file: str) -> str:
        """Where a recorded file or folder lies now."""
        below = file == self.old or file.startswith(os.path.join(self.old, ""))
        return self.new + file[len(self.old) :] if below else file

    def sources(self, sources: dict[str, Any]) -> dict[str, Any]:
        """The recorded files by where they lie now."""
        return {self.path(file): entry for file, entry in sources.items()}

    def info(self, info: dict[str, Any]) -> dict[str, Any]:
        """What `run.json` would hold had the run been recorded here."""
        sources = self.sources(info.get("sources", {}))
        argv = info["argv"]
        return {
            **info,
            "script": self.path(info["script"]),
            "cwd": self.path(info["cwd"]),
            "sources": sources,
            "argv": [*map(self.path, argv[:1]), *argv[1:]],
        }


def since(info: dict[str, Any], store: str, script: str | None) -> Moved | None:
    """How a run's project was moved; None when it was not. `script`: the one that is asked for.

    Either the run's store was moved along, or the recorded script is gone and one of its name is asked for.
    """
    recorded = str(info.get("script", ""))
    if script is not None and _is_same(recorded, script):
        return None
    along = _between(info.get("store") or os.path.join(str(info.get("cwd", "")), ".florc"), store)
    if along is not None and os.path.isfile(along.path(recorded)) and (script is None or _is_same(along.path(recorded), script)):
        return along
    if script is None or os.path.exists(recorded):
        return None
    return _between(recorded, os.path.abspath(script))


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _between(old: str, new: str) -> Moved | None:
    """The innermost folders that hold all that two paths have in common at their ends; None when that is nothing."""
    if _is_same(old, new) or os.path.basename(old) != os.path.basename(new):
        return None
    while os.path.basename(old) == os.path.basename(new) and os.path.dirname(old) != os.path.dirname(os.path.dirname(old)):
        old, new = os.path.dirname(old), os.path.dirname(new)
    return Moved(old, new)
