"""What a replay makes of the form of a tensor or an array that no checkpoint holds (`record/dead_values.py`): an answer to
`outputs.shape`."""

from __future__ import annotations

from typing import Any


def stand_in(form: tuple[str, list[int], str]) -> Any:
    """What answers for the form of a tensor or an array, and takes no memory. Raises where the library is not there."""
    library, shape, dtype = form
    if library == "torch":
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")
    import numpy

    return numpy.broadcast_to(numpy.zeros((), numpy.dtype(dtype)), shape)
