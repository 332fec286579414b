"""What `random.SystemRandom` draws from the kernel.

All of its methods take their bytes through `random._urandom`. While one of them runs, florc puts its own function
there, which keeps the bytes or gives back those of the recorded run. The generator, what it is asked (`shuffle`,
`choice`), and what it returns stay the script's own.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from typing import Any


class _Bytes:
    """Stands in for `os.urandom`, for one thread. `known`: what it gives back, the next one last."""

    def __init__(self, known: list[bytes] | None):
        self.own: Callable[[int], bytes] = vars(random)["_urandom"]
        self.known = known
        self.drawn: list[bytes] = []
        self._thread = threading.get_ident()
        vars(random)["_urandom"] = self

    def __call__(self, size: int) -> bytes:
        if threading.get_ident() != self._thread:
            return self.own(size)
        if self.known and len(self.known[-1]) == size:
            return self.known.pop()
        drawn = self.own(size)
        self.drawn.append(drawn)
        return drawn

    def close(self) -> None:
        """The kernel is asked again."""
        vars(random)["_urandom"] = self.own


_open: list[_Bytes] = []


def begin() -> None:
    """From now on what is drawn is kept. Nothing is, where a test has put something in the place of `os.urandom`."""
    if vars(random).get("_urandom") is os.urandom:
        _open.append(_Bytes(None))


def end() -> str:
    """What was drawn since `begin`."""
    if not _open:
        return ""
    bytes_ = _open.pop()
    bytes_.close()
    return " ".join(drawn.hex() for drawn in bytes_.drawn)


def again(method: Callable[..., Any], kept: str) -> tuple[Callable[..., Any], bool, Callable[[Any], None]]:
    """How the method is to be called for what it returned then (`again.Again`)."""
    if not kept or vars(random).get("_urandom") is not os.urandom:
        return method, True, lambda value: None
    bytes_ = _Bytes([bytes.fromhex(word) for word in reversed(kept.split())])
    return method, True, lambda value: bytes_.close()
