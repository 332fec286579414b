"""Trials of `ray.tune` in a replay: they run in processes of a cluster, which see and change the user's files, and print at their
own time. A replay restores the call that ran them, or ends there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from ...process.start import after_import
from ...support.light import suppress

_RUNS_TRIALS = "ray.tune.tune"
"""The module whose `run` starts them, for `Tuner.fit`, too."""
_STORES = "ray.train._internal.storage"
"""The module whose `get_fs_and_path` tells where results are stored; a `Tuner` writes there when it is made."""


def watch(leave: Callable[[str], NoReturn]) -> None:
    """From now on, a script that starts trials ends there. `leave`: gets the reason."""

    def run(*args: Any, **options: Any) -> NoReturn:
        leave(
            "trials of ray.tune run in processes of a cluster, which would change your files again. A statement in them is not "
            "answered; one behind them is, where their call has a checkpoint"
        )

    def install() -> None:
        sys.modules[_RUNS_TRIALS].run = run  # type: ignore[attr-defined]  # modules have any attributes

    after_import(_RUNS_TRIALS, install)
    after_import(_STORES, _store_in_view)


def _store_in_view() -> None:
    """Arrow writes to the disk itself: here through functions of Python, which a replay redirects."""
    with suppress(ImportError, AttributeError):  # another version of Ray
        from importlib import import_module

        local: Any = import_module("fsspec.implementations.local")
        fs: Any = import_module("pyarrow.fs")

        module: Any = sys.modules[_STORES]
        original = module.get_fs_and_path

        def get_fs_and_path(*args: Any, **options: Any) -> tuple[Any, str]:
            found, path = original(*args, **options)
            if type(found) is fs.LocalFileSystem:
                found = fs.PyFileSystem(fs.FSSpecHandler(local.LocalFileSystem()))
            return found, path

        module.get_fs_and_path = get_fs_and_path
