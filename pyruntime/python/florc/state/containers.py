"""All builtin containers in one table each way."""

from __future__ import annotations

from . import mappings, sequences, sets

ENCODERS = {**sequences.ENCODERS, **mappings.ENCODERS, **sets.ENCODERS}
"""Exact class -> encoder(enc, object) -> node."""
KINDS = {**sequences.KINDS, **mappings.KINDS, **sets.KINDS}
"""Kind of node -> Kind."""
