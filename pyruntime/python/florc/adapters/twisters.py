"""The state of the global generators of `random` and NumPy, read from their memory.

`getstate` and `get_state` make an object of each of 624 words: 7 and 32 us. They are asked around each execution of an added
statement, and for each checkpoint. The words are part of the objects themselves: where they are is found out once, by comparing
with what the functions say, on generators of florc's own. Where that finds anything unexpected, the functions are asked.
"""

from __future__ import annotations

import array
import random
import struct
import sys

from .. import _native
from ..support.light import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _T = TypeVar("_T")

_HEAD = object.__basicsize__
_WORDS = 624
_BYTES = 4 * _WORDS
_TRIED = 3
"""So many states are compared before a place is believed."""


class OfPython(NamedTuple):
    """What `random.getstate` says: the words with the position behind them (625 of 32 bits), and the next normal number."""

    version: int
    words: bytes
    gauss: float | None


class OfNumpy(NamedTuple):
    """What `numpy.random.get_state` says of a Mersenne Twister."""

    words: bytes
    position: int
    has_gauss: int
    gauss: float


def of_python() -> OfPython:
    """The state of Python's global generator."""
    global _python
    generator: Any = random._inst  # whose methods the functions of the module are
    if _python is None:
        _python = _found(_python_at, -1)
    if type(generator) is random.Random and _python >= 0:
        found = _native.inline_bytes(generator, _python, _BYTES + 4)
        return OfPython(generator.VERSION, found[4:] + found[:4], vars(generator)["gauss_next"])
    return _said_by_python(generator)


def of_numpy(generator: Any) -> OfNumpy | None:
    """The state of NumPy's global generator (`numpy.random.mtrand._rand`). None for one that is no Mersenne Twister, and where
    the words cannot be read."""
    global _numpy
    if _numpy is None:
        _numpy = _found(_numpy_at, _NOWHERE)
    numpy_random = sys.modules["numpy.random"]
    if _numpy is _NOWHERE or type(generator) is not numpy_random.RandomState:
        return None
    bits = generator._bit_generator
    if type(bits) is not numpy_random.MT19937:
        return None
    return _of_numpy(generator, bits, _numpy)


_python: int | None = None
"""Where the position stands in a `random.Random`, with the words behind it; -1 where that is not so."""


class _Places(NamedTuple):
    """Where the words stand in an `MT19937`, with the position behind them, and where the flag of a kept normal number stands in
    a `RandomState`, with the number 8 bytes behind it."""

    words: int
    flag: int


_NOWHERE = _Places(-1, -1)
_numpy: _Places | None = None


def _found(find: Callable[[], _T], otherwise: _T) -> _T:
    try:
        return find()
    except Exception:  # another layout, another version
        return otherwise


def _said_by_python(generator: Any) -> OfPython:
    version, numbers, gauss = generator.getstate()
    return OfPython(version, array.array("I", numbers).tobytes(), gauss)


def _python_at() -> int:
    own = random.Random(1)
    places = set()
    for _ in range(_TRIED):
        own.random()
        said = _said_by_python(own).words
        base = random.Random.__base__.__basicsize__  # type: ignore[union-attr]  # the class in C has one
        memory = _native.inline_bytes(own, _HEAD, base - _HEAD)
        places.add(_HEAD + memory.index(said[-4:] + said[:-4]))
    (place,) = places
    return place


def _of_numpy(generator: Any, bits: Any, places: _Places) -> OfNumpy:
    found = _native.inline_bytes(bits, places.words, _BYTES + 4)
    has_gauss, gauss = struct.unpack("=i4xd", _native.inline_bytes(generator, places.flag, 16))
    return OfNumpy(found[:_BYTES], int.from_bytes(found[_BYTES:], sys.byteorder), has_gauss, gauss)


def _numpy_at() -> _Places:
    numpy_random = sys.modules["numpy.random"]
    bits = numpy_random.MT19937(1)
    own = numpy_random.RandomState(bits)
    own.standard_normal()  # draws two normal numbers and keeps one
    kept = own.get_state(legacy=False)
    memory = _native.inline_bytes(own, _HEAD, type(own).__basicsize__ - _HEAD)
    flag = _HEAD + memory.index(struct.pack("=i4xd", 1, kept["gauss"]))
    words = _HEAD + _native.inline_bytes(bits, _HEAD, type(bits).__basicsize__ - _HEAD).index(kept["state"]["key"].tobytes())
    places = _Places(words, flag)
    for _ in range(_TRIED):
        said = own.get_state(legacy=False)
        expected = OfNumpy(said["state"]["key"].tobytes(), said["state"]["pos"], said["has_gauss"], said["gauss"])
        if _of_numpy(own, bits, places) != expected:
            return _NOWHERE
        own.standard_normal()
    return places
