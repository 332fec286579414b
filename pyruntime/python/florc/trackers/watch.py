"""Hears which runs a script begins in experiment trackers. A library is looked at when the script imports it, never before."""

from __future__ import annotations

import sys

from .. import _native
from ..process.start import AfterImport
from ..support import mishaps
from ..support.light import OWN
from .known import TRACKERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Watch:
    """What a recording does with the calls of trackers: it notes each run that begins, and changes nothing."""

    replays = False

    def __init__(self, note: _native._Note):
        self._note = note

    def install(self) -> None:
        """From now on, for what is imported already, too."""
        for tracker, known in TRACKERS.items():
            for module in known.modules:
                if module in sys.modules:
                    self._adapt(tracker, module)
                else:
                    sys.meta_path.insert(0, AfterImport(module, self._later(tracker, module)))

    def _later(self, tracker: str, module: str) -> Callable[[], None]:
        return lambda: self._adapt(tracker, module)

    def _adapt(self, tracker: str, module: str) -> None:
        with mishaps.Swallow(f"hearing {tracker}"):  # another version of the library: the script's import goes on
            from . import hooks

            hooks.adapt(tracker, sys.modules[module], self)

    def began(self, tracker: str, **found: Any) -> None:
        """The script began a run, which is found again by this."""
        with mishaps.Swallow("noting a run of a tracker"):
            self._note("tracked", tracker=tracker, found=found)

    def expected(self, tracker: str, of: str = "run") -> dict[str, Any]:
        """What the recorded run began here: the next of its runs whose entry has `of`. Nothing while recording."""
        return {}

    def folder(self, name: str) -> str:
        """A folder for files of other programs, which goes with the replay."""
        raise NotImplementedError

    def is_added(self) -> bool:
        """Whether an added statement calls."""
        return False

    def take(self, tracker: str, run: dict[str, Any], name: str, value: Any, step: Any, data: str = "") -> None:
        """An added statement sends a value."""

    def unsent(self, what: str) -> None:
        """An added statement calls something that florc does not send."""


def put(holder: Any, name: str, around: Callable[..., Any]) -> None:
    """Put `around(original, *args, **kwargs)` in the place of a function, or of a method of a class. Nothing happens where there
    is none: another version of the library."""
    original = vars(holder).get(name)
    if not callable(original) or type(original) is _native.Redirect:
        return

    def call(*args: Any, **kwargs: Any) -> Any:
        return around(original, *args, **kwargs)

    is_method = isinstance(holder, type)
    full = f"{holder.__qualname__}.{name}" if is_method else name
    module = holder.__module__ if is_method else holder.__name__
    made = _native.Redirect(original, call, full, module, OWN, is_method)
    setattr(holder, name, made)
    if is_method:
        return
    package = module.partition(".")[0]
    for other, there in list(sys.modules.items()):  # `from .fluent import log_metric`
        if other.partition(".")[0] == package and vars(there).get(name) is original:
            setattr(there, name, made)
