"""How much memory a recorded run held, iteration by iteration of its outermost loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .. import _native


class Held(NamedTuple):
    """Bytes."""

    resident: int
    """Memory of the process."""
    peak: int
    """The most of it so far."""
    device: int | None = None
    """Tensors on the CUDA device; None where it was not used."""
    device_peak: int | None = None


class Measured:
    """What was measured, as the journal tells it."""

    def __init__(self) -> None:
        self.after: dict[str, dict[int, Held]] = {}
        """Outermost loop at its place -> iteration -> what was held as it ended. Of fast iterations, only some are known, and the
        last."""
        self.last: Held | None = None
        """What was measured last: where the run is over, at its end."""
        self._path = ""
        """The iteration that began last."""

    def begins(self, path: str, found: Sequence[int]) -> None:
        """An iteration begins, and `found` was measured, if anything."""
        if found:
            self._note(path, found)
        self._path = path

    def ends(self, path: str, found: Sequence[int]) -> None:
        """There is no such iteration, so the one before it was the last; or, with no path, the run is over."""
        if found:
            self._path = "" if path else self._path
            self._note(path, found)

    def _note(self, path: str, found: Sequence[int]) -> None:
        """What is measured as an iteration begins is what was held as the one before it ended: of the same loop, or, where that
        begins, of the loop before it, if that was left in the middle."""
        self.last = Held(*found)
        place, index = _outermost(path)
        if index <= 0:
            place, index = _outermost(self._path)
        else:
            index -= 1
        if index >= 0:
            self.after.setdefault(place, {}).setdefault(index, self.last)


def _outermost(path: str) -> tuple[str, int]:
    iterations = _native.Path(path).iterations
    return iterations[0] if iterations else ("", -1)
