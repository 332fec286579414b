"""`florc.background`: an object that behaves as a writer does, and leaves the work to somebody else."""

from __future__ import annotations

import functools
from typing import Any, TypeVar, cast

from .memory import limit_of
from .work import Logging

W = TypeVar("W")


def background(writer: W, *, memory: int | None = None) -> W:
    """Log as `writer` does, in the background: `writer = florc.background(SummaryWriter("runs/a"))`.

    Every `add_…` method returns as soon as what it was given is copied: tensors and arrays (of any shape and dtype, in host
    memory at the speed of memory, of CUDA devices without a wait) and everything else; what changes afterwards is not seen.
    Another process computes histograms, encodes images and writes the same event file, with the same events in the same order,
    each with the time of its call. It gets processor time that the script leaves. Writers other than `SummaryWriter` of torch and
    tensorboardX are called by a thread.

    `memory`: bytes that may wait, by default 512 MiB, or a quarter of the free memory where that is less. When they are used up,
    a call waits. `flush()` waits until everything is in the file; `close()`, the end of a `with` block and the end of the script
    do, too.

    A method's error is raised by that call or a later one, which is done all the same, or by `flush()` or `close()`. Raises
    TypeError for an object without `add_…` methods, RuntimeError from a call after the other process was killed: the next call
    starts another.

    In a replay the writer's own methods run at once: florc keeps their events from the recorded run (docs/trackers.md).
    """
    if isinstance(getattr(writer, "_florc_logging", None), Logging):
        return writer
    if not any(name.startswith("add_") and callable(getattr(type(writer), name, None)) for name in dir(type(writer))):
        raise TypeError(f"florc.background takes a writer with methods such as add_scalar, not {type(writer).__qualname__!r}")
    return cast("W", Background(Logging(writer, limit_of(memory))))


class Background:
    """Stands for a writer. It has the writer's attributes and methods, and passes for one (`isinstance`)."""

    __slots__ = ("_florc_logging",)
    _florc_logging: Logging

    def __init__(self, logging: Logging):
        object.__setattr__(self, "_florc_logging", logging)

    @property  # type: ignore[misc]  # `object` lets it be assigned
    def __class__(self) -> Any:
        return type(self._florc_logging.writer)

    def __getattr__(self, name: str) -> Any:
        logging = self._florc_logging
        if logging.is_beside(name):
            method = getattr(logging.writer, name)
            return functools.wraps(method)(lambda *args, **kwargs: logging.call(name, args, kwargs))
        if name == "add_figure" and logging.link is not None and logging.base.add_figure is type(logging.writer).add_figure:
            return functools.partial(logging.base.add_figure, self)  # it draws here, and calls `add_image` of this object
        found = getattr(logging.writer, name)
        if logging.thread is not None and callable(found):
            logging.flush_thread()
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self._florc_logging.set(name, value)

    def __dir__(self) -> list[str]:
        return dir(self._florc_logging.writer)

    def __repr__(self) -> str:
        return f"florc.background({self._florc_logging.writer!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a writer in the background belongs to one process and cannot be pickled")

    def flush(self) -> None:
        """Wait until everything that was logged is in the file. Raises the oldest error of a method."""
        self._florc_logging.flush()

    def close(self) -> None:
        """Wait as `flush` does, and end. A later call begins a new file, as the writer's own does."""
        self._florc_logging.close()

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
