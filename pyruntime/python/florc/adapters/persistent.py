"""Data loaders of torch whose workers live on from one pass to the next (`persistent_workers=True`).

What such a worker drew, counted or kept stays with it, in another process. A block that began a pass has changed that, and no
checkpoint holds it."""

from __future__ import annotations

import gc
import sys
import time
from _weakref import ref

from ..support.static import name_of
from . import torch_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODULE = "torch.utils.data.dataloader"
_NAME = "DataLoader with persistent workers"
_passes: dict[int, tuple[ref[Any], float]] = {}
"""By the address of a loader: the loader, and when its last pass began (`time.perf_counter`)."""


def watch() -> None:
    """From now on, passes are noted. The module has been imported."""
    cls: Any = getattr(sys.modules[MODULE], "_MultiProcessingDataLoaderIter", None)
    begin = getattr(cls, "_reset", None)
    if begin is None:
        return

    def _reset(self: Any, loader: Any, *given: Any, **named: Any) -> Any:
        if getattr(loader, "persistent_workers", False):
            address = id(loader)
            _passes[address] = ref(loader, lambda _: _passes.pop(address, None) and None), time.perf_counter()
        return begin(self, loader, *given, **named)

    _reset.__module__, _reset.__qualname__, _reset.__doc__ = begin.__module__, begin.__qualname__, begin.__doc__
    cls._reset = _reset


def begun_since(when: float) -> list[str]:
    """Names (`name`) of loaders of which a pass began since then (`time.perf_counter`), and that may begin another one."""
    found = ((held(), last) for held, last in list(_passes.values()))
    return [name(loader) for loader, last in found if loader is not None and last >= when]


def is_name(text: str) -> bool:
    """Whether a text is the name of such a loader."""
    return text.startswith(_NAME)


def name(loader: Any) -> str:
    """What tells such a loader from others of a program, in all of its runs, in words."""
    return f"{_NAME} ({torch_data.looks(loader)})"


def named(known: str) -> list[Any]:
    """The loaders that have a name now. Looks at all objects that the collector knows: tens of milliseconds."""
    found = (obj for obj in gc.get_objects() if torch_data.is_loader(obj) and obj.persistent_workers)
    return [loader for loader in found if name(loader) == known]


def is_held(iterator: Any) -> bool:
    """Whether a loader keeps an iterator for its next pass."""
    return any((loader := held()) is not None and loader._iterator is iterator for held, _ in list(_passes.values()))


def is_iterator(obj: Any) -> bool:
    """Whether an object is an iterator whose workers live on."""
    cls = type(obj)
    return (
        torch_data.is_iterator_class(cls)
        and name_of(cls) == "_MultiProcessingDataLoaderIter"
        and bool(getattr(obj, "_persistent_workers", False))
    )
