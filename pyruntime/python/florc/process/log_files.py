"""The files that loggers write to: what a logger is told is seen there, as it is on the standard streams."""

from __future__ import annotations

import io

from ..support import mishaps
from .methods import around
from .output import Tap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

    Told = list[tuple[str, str | None]]
    """Lines, and in each what a logger was told."""

_OPENERS = (("logging", "FileHandler", "_open", ""), ("loguru._file_sink", "FileSink", "_create_file", "_file"))
"""Module, class and method that open such a file, and the attribute that has it then; without one it is returned."""
_WHAT = "seeing what loggers write to files"


class LogFiles:
    """All of them, in the order in which they were opened. `sink` is called with the number of a file, from 1, and what a `Tap`
    tells of it. Beside the taps of the standard streams it is one more."""

    def __init__(self, sink: Callable[..., None], project: Container[str], batched: bool = False):
        self._sink, self._project, self._batched = sink, project, batched
        self._taps: list[Tap] = []
        self._streams: list[Any] = []
        self._opened = self._paused = 0
        self._spent = 0.0
        self._is_over = False

    @property
    def spent(self) -> float:
        """Seconds that seeing took."""
        return self._spent + sum(tap.spent for tap in self._taps)

    def install(self) -> None:
        """From now on, in libraries that are imported later, too."""
        for module, owner, name, attribute in _OPENERS:
            around(module, owner, name, self._opener(attribute), _WHAT)

    def _opener(self, attribute: str) -> Callable[..., Any]:
        def opened(original: Any, handler: Any, *args: Any, **options: Any) -> Any:
            found = original(handler, *args, **options)
            if not self._is_over:
                self._see(getattr(handler, attribute, None) if attribute else found)
            return found

        return opened

    def _see(self, stream: Any) -> None:
        if type(stream) is not io.TextIOWrapper or "write" in stream.__dict__:
            return
        with mishaps.Swallow(_WHAT):
            self._forget_closed()
            self._opened += 1
            number = self._opened
            tap = Tap(lambda *told: self._sink(number, *told), self._project, self._batched, is_error=True)
            tap.see(stream)
            tap.pause(self._paused)
            self._taps.append(tap)
            self._streams.append(stream)

    def _forget_closed(self) -> None:
        """Files of loggers are closed when they have grown large, and others opened."""
        for tap, stream in [*zip(self._taps, self._streams)]:
            if stream.closed:
                tap.flush()
                self._spent += tap.spent
                self._taps.remove(tap)
                self._streams.remove(stream)

    def pause(self, change: int) -> None:
        """As that of a tap."""
        self._paused += change
        for tap in self._taps:
            tap.pause(change)

    def answers(self) -> list[Told]:
        """What was written to each while paused, since this was last asked."""
        return [tap.answers() for tap in self._taps]

    def flush(self) -> None:
        """Hand on the lines that were written so far."""
        for tap in self._taps:
            tap.flush()

    def remove(self, is_cut: bool = False) -> None:
        """Let the files be as they were."""
        self._is_over = True
        for tap in self._taps:
            tap.remove(is_cut)
