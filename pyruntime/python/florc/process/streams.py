"""The CUDA streams on which a script works beside the current one: a prefetcher's, say, which brings the next batch.

What florc reads of a device, it reads in the order of the current stream. What another stream is still writing then would be
read in the middle of that; so the current one waits for the others first. Memory of the host that a device writes on its own
(`tensor.to("cpu", non_blocking=True)`) is waited for by the host. Streams of other libraries (`ExternalStream`), those that
C++ makes for itself, and those of `torch.Stream` are not known here.
"""

from __future__ import annotations

import sys

from ..support.light import suppress
from .methods import around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_known: dict[tuple[int, int], int] = {}
"""Device and number of each stream that the script has made -> the type of its device. torch has some hundred at most, and hands
them out again and again."""
_is_own = False


def watch() -> None:
    """From now on, or when torch has been imported, notice the streams that are made."""
    around("torch.cuda.streams", "Stream", "__new__", _made, "noticing CUDA streams")


def _made(original: Any, cls: Any, *args: Any, **options: Any) -> Any:
    stream = original(cls, *args, **options)
    if not _is_own and "stream_ptr" not in options:
        _known.setdefault((stream.device_index, stream.stream_id), stream.device_type)
    return stream


def own(device: Any) -> Any:
    """A stream of florc's, for which nobody waits unless the script is given the same one."""
    global _is_own
    _is_own = True
    try:
        return sys.modules["torch"].cuda.Stream(device)
    finally:
        _is_own = False


def _others(device: Any) -> Iterable[Any]:
    """Those of a device, but for the current one."""
    cuda = sys.modules["torch"].cuda
    current, default = cuda.current_stream(device), cuda.default_stream(device)
    if default != current:
        yield default
    for (index, number), kind in list(_known.items()):
        if index == current.device_index and number != current.stream_id:
            yield _remade(cuda, index, number, kind)


def _remade(cuda: Any, index: int, number: int, kind: int) -> Any:
    """Another object of a known stream: one that is kept would be one more reference to the script's."""
    return cuda.Stream(stream_id=number, device_index=index, device_type=kind)


def order(device: Any) -> bool:
    """What the current stream does from now on, it does after all that the script has launched on others. Nobody waits. Whether
    there are any."""
    current = sys.modules["torch"].cuda.current_stream(device)
    others = list(_others(device))
    for stream in others:
        current.wait_event(stream.record_event())
    return bool(others)


def is_any_captured() -> bool:
    """Whether a graph is captured of a stream that is not the current one: by another thread, perhaps."""
    cuda = sys.modules["torch"].cuda
    with suppress(RuntimeError):  # a device that failed tells the script itself
        for (index, number), kind in list(_known.items()):
            with cuda.stream(_remade(cuda, index, number, kind)):
                if cuda.is_current_stream_capturing():
                    return True
    return False


def settle(leaves: Iterable[Any]) -> None:
    """Before memory of the host is read: wait for the device, where it may still write there.

    `leaves`: of a checkpoint, each with `address` and `nbytes` if it lies in the host's memory.
    """
    torch: Any = sys.modules["torch"]
    cuda = torch.cuda
    device = cuda.current_device()
    busy = [stream for stream in (cuda.current_stream(device), *_others(device)) if not stream.query()]
    if busy and any(_is_pinned(torch, leaf) for leaf in leaves):
        for stream in busy:
            stream.synchronize()


def _is_pinned(torch: Any, leaf: Any) -> bool:
    address, nbytes = getattr(leaf, "address", None), getattr(leaf, "nbytes", 0)
    if not address or not nbytes:
        return False
    import ctypes  # not at the start: there may be no device

    return bool(torch.frombuffer((ctypes.c_uint8 * nbytes).from_address(address), dtype=torch.uint8).is_pinned())


def synchronize() -> None:
    """Wait until all devices have done what was launched. For replays: what they compare and restore is of one instant."""
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    if hasattr(cuda, "is_initialized") and cuda.is_initialized() and not cuda.is_current_stream_capturing():
        with suppress(RuntimeError):  # a device that failed tells the script itself
            for index in range(cuda.device_count()):
                if cuda.memory_allocated(index):
                    cuda.synchronize(index)
