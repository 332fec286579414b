"""Removing what is a replay's own."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import Any


def remove(folder: str) -> None:
    """Remove what a replay kept or made, whatever its modes are."""

    def again(_: Any, path: str, __: Any) -> None:
        with contextlib.suppress(OSError):
            if path != folder:  # what it lies in is not the replay's
                os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)

    if os.path.isdir(folder):
        shutil.rmtree(folder, onerror=again)
    else:
        os.remove(folder)
