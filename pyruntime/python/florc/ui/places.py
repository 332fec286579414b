"""Where the first difference of a replay is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

_AT = re.compile(r"^(?:rank \d+: )?([^\n:]+?):(\d+)[:,]")


def first_difference(sources: Mapping[str, Any] | Iterable[str], anomalies: list[str]) -> dict[str, Any] | None:
    """The first of the sentences, and the line of a recorded file that it names, if it names one."""
    if not anomalies:
        return None
    named = _AT.match(anomalies[0])
    files = [file for file in sources if named is not None and os.path.basename(file) == os.path.basename(named[1])]
    found: dict[str, Any] = {"text": anomalies[0], "more": len(anomalies) - 1, "file": None, "line": None}
    if named is not None and len(files) == 1:
        found |= {"file": files[0], "line": int(named[2])}
    return found
