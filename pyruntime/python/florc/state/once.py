"""What is done once and not for every checkpoint: searched, learned, imported. It says nothing of what the next one costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_depth = 0
seconds = 0.0
"""What all of it took so far."""


@contextmanager
def timed() -> Iterator[None]:
    """Around something that is done once."""
    global _depth, seconds
    began = time.perf_counter()
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0:
            seconds += time.perf_counter() - began
