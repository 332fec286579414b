"""Runs a script in the view of a replay, without a replay: `python viewed.py STORE SCRIPT`. Also what tests compare trees with."""

from __future__ import annotations

import hashlib
import os
import runpy
import sys
from pathlib import Path
from typing import Any


def tree(folder: Path, besides: str = ".florc") -> dict[str, Any]:
    """Each path below a folder: its kind, mode, time of change, and what it holds."""
    found = {}
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (besides, "__pycache__")]
        for name in [*folders, *names]:
            path = Path(at, name)
            state = path.lstat()
            what = (
                os.readlink(path) if path.is_symlink() else "" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
            )
            # the store is made in the folder: that changes its time, not those of folders below
            found[str(path.relative_to(folder))] = (state.st_mode, state.st_mtime_ns, state.st_nlink, what)
    return found


def main(store: str, script: str) -> None:
    """Install the view over the present folder, and run the script."""
    from florc.process import native_writers
    from florc.replay.files.paths import Paths
    from florc.replay.files.redirection import Functions
    from florc.replay.files.view import View
    from florc.replay.select.skipped import Skipped

    os.makedirs(store, exist_ok=True)
    view = View(os.path.join(os.path.realpath(store), "files"), {}, Skipped())
    functions = Functions(view, Paths(view, store, os.getcwd()), lambda: False)
    functions.install()
    native_writers.adapt(functions.opens.native, readers=True)
    sys.path[0] = os.path.dirname(script)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
