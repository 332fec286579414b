"""Hears which runs a script begins in experiment trackers. A library is looked at when the script imports it, never before."""

from __future__ import annotations

import os
import sys
from _thread import get_ident

from .. import _native
from ..process.start import AfterImport
from ..support import mishaps
from ..support.console import say
from ..support.light import OWN
from .known import HEARD, SWITCHES, TRACKERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


writing: set[int] = set()
"""Threads, by their number, in which a tracker writes to its store: what it reads there is for its own next step."""


class Watch:
    """What a recording does with the calls of trackers: it notes each run that begins, and changes nothing."""

    replays = False

    def __init__(self, note: _native._Note):
        self._note = note

    def install(self) -> None:
        """From now on, for what is imported already, too."""
        heard = {**{tracker: known.modules for tracker, known in TRACKERS.items()}, **HEARD}
        modules = {module: tracker for tracker, known in heard.items() for module in known}
        for module, tracker in modules.items():
            if module in sys.modules:
                self._adapt(tracker, module)
        sys.meta_path.insert(
            0, _Awaited({module: own for module, own in modules.items() if module not in sys.modules}, self._adapt)
        )

    def _adapt(self, tracker: str, module: str) -> None:
        with mishaps.Swallow(f"hearing {tracker}"):  # another version of the library: the script's import goes on
            from . import hooks

            hooks.adapt(tracker, sys.modules[module], self)

    def began(self, tracker: str, **found: Any) -> None:
        """The script began a run, which is found again by this."""
        with mishaps.Swallow("noting a run of a tracker"):
            self._note("tracked", tracker=tracker, found={**found, "path": _native.loop_path()})

    def expected(self, tracker: str, of: str = "run") -> dict[str, Any]:
        """What the recorded run began at this place of the loop nest: the next of its runs there whose entry has `of`. Nothing
        while recording."""
        return {}

    def noted(self, tracker: str, of: str) -> list[dict[str, Any]]:
        """All that the recorded run noted of a tracker with the entry `of`. Nothing while recording."""
        return []

    def folder(self, name: str) -> str:
        """A folder for files of other programs, which goes with the replay."""
        raise NotImplementedError

    def is_added(self) -> bool:
        """Whether an added statement calls."""
        return False

    def statement(self) -> Any:
        """The added statement that runs in this thread, for `send_for`."""
        return None

    def send_for(self, statement: Any, call: Callable[[], None]) -> None:
        """Call something that sends what an added statement gave that ran before."""

    def take(self, tracker: str, run: dict[str, Any], name: str, value: Any, step: Any, data: str = "") -> None:
        """An added statement sends a value."""

    def unsent(self, what: str) -> None:
        """An added statement calls something that florc does not send."""


class _Awaited:
    """Modules that are not imported yet, in one finder: every import asks each."""

    def __init__(self, modules: dict[str, str], adapt: Callable[[str, str], None]):
        self._modules, self._adapt = modules, adapt

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """The module's own spec, if it is one of these."""
        tracker = self._modules.pop(fullname, None)
        if tracker is None:
            return None
        after = AfterImport(fullname, lambda: self._adapt(tracker, fullname))
        sys.meta_path.insert(0, after)  # which takes itself away
        return after.find_spec(fullname, path, target)


class SwitchedOff:
    """Switches trackers off whose calls are not heard, when a replay is about to import them."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Finds nothing."""
        switch = SWITCHES.get(fullname)
        if switch is None or fullname in self._told:
            return
        self._told.add(fullname)
        os.environ[switch.variable] = switch.value
        say(f"{switch.said} is switched off in the replay ({switch.variable}={switch.value}): nothing is sent to it")


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


def writes(holder: Any, name: str) -> None:
    """What a function, or a method of a class, reads is for its own next step (`writing`)."""

    def around(original: Any, *args: Any, **kwargs: Any) -> Any:
        thread = get_ident()
        is_outer = thread not in writing
        writing.add(thread)
        try:
            return original(*args, **kwargs)
        finally:
            if is_outer:
                writing.discard(thread)

    put(holder, name, around)
