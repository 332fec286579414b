"""All builtin containers in one table each way."""

from __future__ import annotations

from . import mappings, sequences, sets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .kind import Kind
    from .kinds import Encode

ENCODERS: dict[type, Encode] = {**sequences.ENCODERS, **mappings.ENCODERS, **sets.ENCODERS}
"""Exact class -> encoder(enc, object) -> node."""
KINDS: dict[str, Kind] = {**sequences.KINDS, **mappings.KINDS, **sets.KINDS}
"""Kind of node -> Kind."""
