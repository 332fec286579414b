"""`numpy.histogram` for the bins that TensorBoard's writers use: the same counts in half the time.

The bins are some 1,550 edges, each a tenth away from its neighbour; numpy sorts the values. Here the first bits of a value tell
where among the edges it lies, but for one comparison (`_native.Bins`)."""

from __future__ import annotations

import sys
from typing import Any

from .. import _native


class _Numpy:
    """In the place of numpy in the module that computes histograms."""

    def __init__(self, numpy: Any, edges: list[float]):
        self._numpy, self._edges = numpy, edges
        self._array, self._bins = numpy.asarray(edges, numpy.float64), _native.Bins(edges)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpy, name)

    def histogram(self, values: Any, bins: Any = 10, **more: Any) -> Any:
        numpy = self._numpy
        if bins is self._edges and not more and values.dtype == numpy.float64 and values.ndim == 1 and values.flags.c_contiguous:
            counts = self._bins.counts(values.ctypes.data, len(values))
            if counts is not None:
                return numpy.frombuffer(counts, numpy.int64).astype(numpy.intp), self._array
        return numpy.histogram(values, bins=bins, **more)


def install(module: Any, edges: Any) -> None:
    """Have a module with `make_histogram` count in these bins so."""
    numpy = vars(module).get("np")
    is_known = isinstance(edges, list) and len(edges) > 2 and all(a < b for a, b in zip(edges, edges[1:]))
    if numpy is sys.modules.get("numpy") and is_known and edges[0] > float("-inf") and edges[-1] < float("inf"):
        module.np = _Numpy(numpy, edges)
