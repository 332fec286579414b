"""How far two tensors of floats are apart."""

from __future__ import annotations

import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FLOATS = {"float16": "e", "bfloat16": "e", "float32": "f", "float64": "d"}
_INTEGERS = {"e": "h", "f": "i", "d": "q"}
NEAR_ULP = 16
"""Up to so many units in the last place, values are near; beyond, they are different."""
_MOST = 1 << 20
"""Without NumPy, of longer tensors the beginning is compared."""


def grade(dtype: str, one: bytes, two: bytes) -> str:
    """`within 3 ulp`, or `different (up to 812 ulp)`: a unit in the last place (ulp) is the step to the next float.

    `in the sign of a zero` where no value is another number. Empty for dtypes that are not floats, and for data of two lengths.
    """
    kind = _FLOATS.get(dtype.removeprefix("torch."))
    if kind is None or len(one) != len(two) or not one:
        return ""
    ulp = _largest_step(kind, one, two)
    if not ulp and one != two:
        return "in the sign of a zero"
    return f"within {ulp} ulp" if ulp <= NEAR_ULP else f"different (up to {ulp} ulp)"


def _largest_step(kind: str, one: bytes, two: bytes) -> int:
    integer = _INTEGERS[kind]
    numpy = sys.modules.get("numpy")
    if numpy is not None and integer != "q":
        a, b = (_ordered_array(numpy, numpy.frombuffer(data, integer)) for data in (one, two))
        return int(numpy.abs(a - b).max())
    count = min(len(one) // struct.calcsize(integer), _MOST)
    lowest = -(1 << (8 * struct.calcsize(integer) - 1))
    pairs = zip(struct.unpack_from(f"{count}{integer}", one), struct.unpack_from(f"{count}{integer}", two))
    return max(abs(_ordered(a, lowest) - _ordered(b, lowest)) for a, b in pairs)


def _ordered(bits: int, lowest: int) -> int:
    """The bits of a float as an integer that grows with it."""
    return bits if bits >= 0 else lowest - bits


def _ordered_array(numpy: Any, bits: Any) -> Any:
    wide = bits.astype("q")
    return numpy.where(wide >= 0, wide, int(numpy.iinfo(bits.dtype).min) - wide)
