"""Copies of the user's files that a replay of an older version left."""

from __future__ import annotations

import os

from ..support.console import count, say


def tell_kept(store: str) -> None:
    """Older versions put the user's files back themselves. One whose replay was killed left copies: say where."""
    folder = os.path.join(store, "kept")
    try:
        names = set(os.listdir(folder))
    except OSError:
        return
    kept = [name for name in names if name.endswith(".path") and name[: -len(".path")] in names]
    if kept:
        say(
            f"a killed replay of an older version left copies of {count(len(kept), 'file')} of yours in {folder}: each "
            "NAME.path there holds the path of the file that NAME is a copy of",
            always=True,
            code="F509",
        )
